/** The author's vocabulary for typed parameters and values, and its way to JSON Schema. */
import { JsonSchemaError } from '../errors.ts'
import { plainFields, plainItems } from '../json/plain.ts'
import { assertSupportedJsonSchema, type JsonSchemaNode, type ObjectJsonSchema } from '../json/schema.ts'
import { validateJsonSchemaValue } from '../json/validate.ts'
import type { JsonValue } from '../json/value.ts'

interface Annotations {
  readonly description?: string
  readonly title?: string
  readonly default?: JsonValue
  readonly examples?: JsonValue
}

interface Literals<Value> {
  readonly enum?: readonly Value[]
  readonly const?: Value
}

interface ExactNumbers {
  /** Accepts numbers that a double cannot hold, as `bigint` or `LosslessNumber`; default: they are refused. */
  readonly exact?: true
}

export type StringValueSchemaSpec = Annotations & Literals<string> & { readonly type: 'string' }
export type NumberValueSchemaSpec = Annotations & Literals<number> & ExactNumbers & { readonly type: 'number' }
export type IntegerValueSchemaSpec = Annotations & Literals<number> & ExactNumbers & { readonly type: 'integer' }
export type BooleanValueSchemaSpec = Annotations & Literals<boolean> & { readonly type: 'boolean' }
export type NullValueSchemaSpec = Annotations & Literals<null> & { readonly type: 'null' }
export type ArrayValueSchemaSpec = Annotations & { readonly type: 'array'; readonly items?: ValueSchemaSpec }
export type ObjectValueSchemaSpec = Annotations & {
  readonly type: 'object'
  /** Whether undeclared keys are accepted; always said. */
  readonly additionalProperties: boolean
  readonly properties?: ParameterSchemaSpec
}
/** Any lossless JSON value. */
export type JsonValueSchemaSpec = Annotations & { readonly type: 'json' }
/** Exactly one of at least two branches. */
export type OneOfValueSchemaSpec = Annotations & { readonly oneOf: readonly ValueSchemaSpec[] }

/** One author-facing schema for any JSON value. */
export type ValueSchemaSpec =
  | StringValueSchemaSpec
  | NumberValueSchemaSpec
  | IntegerValueSchemaSpec
  | BooleanValueSchemaSpec
  | NullValueSchemaSpec
  | ArrayValueSchemaSpec
  | ObjectValueSchemaSpec
  | JsonValueSchemaSpec
  | OneOfValueSchemaSpec

/** One property of the implicit parameter object. */
export type ParameterPropertySpec = ValueSchemaSpec & { readonly required?: true }

/** Parameters of a tool: the properties of an implicit open object. */
export type ParameterSchemaSpec = {
  readonly [key: string]: ParameterPropertySpec
  readonly [key: symbol]: never
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object', 'json']
const ANNOTATIONS = ['description', 'title', 'default', 'examples']
const KEYS_OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'const'],
  number: ['enum', 'const', 'exact'],
  integer: ['enum', 'const', 'exact'],
  boolean: ['enum', 'const'],
  null: ['enum', 'const'],
  array: ['items'],
  object: ['properties', 'additionalProperties'],
  json: [],
}

/** Compiled number nodes that did not declare `exact: true`. */
const doubleOnlyNodes = new WeakSet<object>()

/**
 * Compiles a value spec.
 * @throws JsonSchemaError (`UNSUPPORTED_SCHEMA`) on the first fault, with its path from `schema`.
 */
export function valueSchemaSpecToJsonSchema(spec: ValueSchemaSpec): JsonSchemaNode {
  const schema = new Compilation().run(spec, 'schema')
  assertSupportedJsonSchema(schema)
  return schema
}

/**
 * Compiles a parameter spec to an open object schema.
 * @throws JsonSchemaError (`UNSUPPORTED_SCHEMA`) on the first fault, with its path from `parameters`.
 */
export function parameterSchemaSpecToJsonSchema(spec: ParameterSchemaSpec): ObjectJsonSchema {
  const schema = new Compilation().runProperties(spec, 'parameters')
  assertSupportedJsonSchema(schema)
  return schema
}

/** Violations of arguments under a compiled parameter schema; defaults are never applied. */
export function validateArgs(schema: JsonSchemaNode, args: unknown): string[] {
  return validateJsonSchemaValue(schema, args, { path: '', isDoubleOnly })
}

/** Violations of arguments that are JSON already, as those that the pipeline hands on. */
export function validateJsonArgs(schema: JsonSchemaNode, args: unknown): string[] {
  return validateJsonSchemaValue(schema, args, { path: '', isDoubleOnly, isKnownJson: true })
}

/** Violations of a value under a compiled value schema. */
export function validateValue(schema: JsonSchemaNode, value: unknown): string[] {
  return validateJsonSchemaValue(schema, value, { isDoubleOnly })
}

function isDoubleOnly(node: JsonSchemaNode): boolean {
  return doubleOnlyNodes.has(node)
}

type Fields = Readonly<Record<string, unknown>>
type Task = () => void

/** Compiles iteratively, in the order of the spec: it may nest as deeply as a value. The last task pushed runs first. */
class Compilation {
  readonly #tasks: Task[] = []
  readonly #ancestors = new Set<unknown>()

  run(spec: unknown, path: string): JsonSchemaNode {
    const schema: JsonSchemaNode = {}
    this.#tasks.push(() => this.#node(spec, path, schema))
    this.#drain()
    return schema
  }

  runProperties(spec: unknown, path: string): ObjectJsonSchema {
    const schema: ObjectJsonSchema = { type: 'object' }
    this.#tasks.push(() => this.#properties(spec, path, schema))
    this.#drain()
    return schema
  }

  #drain(): void {
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) task()
  }

  #node(spec: unknown, path: string, schema: JsonSchemaNode): void {
    const fields = this.#enter(spec, path)
    const { type } = fields
    const hasOneOf = Object.hasOwn(fields, 'oneOf')
    if (
      hasOneOf === Object.hasOwn(fields, 'type') ||
      (!hasOneOf && !(typeof type === 'string' && TYPES.includes(type)))
    ) {
      refuse(`${path}.type must be ${TYPES.join('/')}, or use oneOf`)
    }
    const allowed = [...ANNOTATIONS, ...(hasOneOf ? ['oneOf'] : ['type', ...(KEYS_OF_TYPE[String(type)] ?? [])])]
    for (const key of Object.keys(fields)) {
      if (!allowed.includes(key)) refuse(`${path}.${key} is not supported by the value schema DSL`)
    }
    const copied = [...ANNOTATIONS, 'enum', 'const', ...(type === 'json' || hasOneOf ? [] : ['type'])]
    for (const key of copied) if (Object.hasOwn(fields, key)) setOwn(schema, key, copyList(fields[key]))
    if (Object.hasOwn(fields, 'exact') && fields['exact'] !== true) refuse(`${path}.exact must be true where it is set`)
    if ((type === 'number' || type === 'integer') && fields['exact'] !== true) doubleOnlyNodes.add(schema)
    if (hasOneOf) this.#branches(fields['oneOf'], path, schema)
    if (Object.hasOwn(fields, 'items')) {
      const items: JsonSchemaNode = {}
      schema.items = items
      this.#tasks.push(() => this.#node(fields['items'], `${path}.items`, items))
    }
    if (type === 'object') this.#object(fields, path, schema)
  }

  #object(fields: Fields, path: string, schema: JsonSchemaNode): void {
    if (typeof fields['additionalProperties'] !== 'boolean') {
      refuse(`${path}.additionalProperties must be explicitly true or false`)
    }
    schema.additionalProperties = fields['additionalProperties']
    if (Object.hasOwn(fields, 'properties')) this.#properties(fields['properties'], `${path}.properties`, schema)
  }

  #properties(spec: unknown, path: string, schema: JsonSchemaNode): void {
    const fields = this.#enter(spec, path)
    const properties: Record<string, JsonSchemaNode> = {}
    const required: string[] = []
    const tasks: Task[] = []
    for (const [name, property] of Object.entries(fields)) {
      const given = plainFields(property) ?? refuse(`${path}.${name} must be a schema object`)
      const { required: isRequired, ...node } = given
      if (isRequired === true) required.push(name)
      else if (Object.hasOwn(given, 'required')) refuse(`${path}.${name}.required must be true where it is set`)
      const child: JsonSchemaNode = {}
      setOwn(properties, name, child)
      // The property itself, not its copy without `required`, is what a cycle would come back to.
      tasks.push(() => this.#guarded(property, `${path}.${name}`, () => this.#node(node, `${path}.${name}`, child)))
    }
    for (const task of tasks.toReversed()) this.#tasks.push(task)
    schema.properties = properties
    if (required.length > 0) schema.required = required
  }

  #branches(spec: unknown, path: string, schema: JsonSchemaNode): void {
    const specs = plainItems(spec)
    if (specs === undefined || specs.length < 2) refuse(`${path}.oneOf must be an array of at least two schemas`)
    const branches: JsonSchemaNode[] = specs.map(() => ({}))
    schema.oneOf = branches
    for (const [index, branch] of [...branches.entries()].toReversed()) {
      this.#tasks.push(() => this.#node(specs[index], `${path}.oneOf[${index}]`, branch))
    }
  }

  #guarded(spec: unknown, path: string, compile: Task): void {
    if (this.#ancestors.has(spec)) refuse(`${path} is circular`)
    this.#ancestors.add(spec)
    this.#tasks.push(() => this.#ancestors.delete(spec))
    compile()
  }

  #enter(spec: unknown, path: string): Fields {
    const fields = plainFields(spec) ?? refuse(`${path} must be a schema object`)
    this.#guarded(spec, path, () => undefined)
    return fields
  }
}

/** Lists of an author are readonly; a schema's are its own. One that is not plain stays, to be refused with the schema. */
function copyList(value: unknown): unknown {
  return plainItems(value) ?? value
}

function setOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

function refuse(violation: string): never {
  throw new JsonSchemaError([violation])
}
