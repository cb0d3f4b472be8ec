/** The enforced subset of JSON Schema, and the check that a schema stays within it. */
import { JsonSchemaError } from '../errors.ts'
import { isArray, plainFields, plainItems } from './plain.ts'
import { isJson } from './snapshot.ts'
import type { JsonValue } from './value.ts'

/** Scalar values of `enum` and `const`. */
export type JsonSchemaScalar = string | number | boolean | null

/** Single types that a node may name. */
export type JsonSchemaType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** One node of the subset; {@link assertSupportedJsonSchema} refuses combinations that are not valid. */
export interface JsonSchemaNode {
  /** Absent with no constraints for any JSON value, or beside `oneOf`. */
  type?: JsonSchemaType
  /** Exactly one branch must match; at least two. */
  oneOf?: JsonSchemaNode[]
  /** For `object` only. */
  properties?: Record<string, JsonSchemaNode>
  /** Each must be a key of `properties`. */
  required?: string[]
  /** `false` refuses undeclared keys; absent or `true` accepts them. */
  additionalProperties?: boolean
  /** For `array` only; absent accepts any item. */
  items?: JsonSchemaNode
  enum?: JsonSchemaScalar[]
  const?: JsonSchemaScalar
  description?: string
  title?: string
  default?: JsonValue
  examples?: JsonValue
}

/** A schema whose root is an object. */
export type ObjectJsonSchema = JsonSchemaNode & { type: 'object' }

const TYPES: readonly string[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const SCALAR_TYPES: readonly string[] = ['string', 'number', 'integer', 'boolean', 'null']
const TEXT_ANNOTATIONS: readonly string[] = ['description', 'title']
const VALUE_ANNOTATIONS: readonly string[] = ['default', 'examples']
/** Keywords that constrain, and the types that they may stand beside. */
const CONSTRAINTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['properties', ['object']],
  ['required', ['object']],
  ['additionalProperties', ['object']],
  ['items', ['array']],
  ['enum', SCALAR_TYPES],
  ['const', SCALAR_TYPES],
])
const KEYWORDS = ['type', 'oneOf', ...CONSTRAINTS.keys(), ...TEXT_ANNOTATIONS, ...VALUE_ANNOTATIONS]

/**
 * Accepts a schema of the subset with any root.
 * @throws JsonSchemaError (`UNSUPPORTED_SCHEMA`) that lists every violation with its path.
 */
export function assertSupportedJsonSchema(schema: unknown): asserts schema is JsonSchemaNode {
  const violations = new SchemaCheck().run(schema)
  if (violations.length > 0) throw new JsonSchemaError(violations)
}

/**
 * Accepts a schema of the subset whose root is an object.
 * @throws JsonSchemaError (`UNSUPPORTED_SCHEMA`)
 */
export function assertObjectJsonSchema(schema: unknown): asserts schema is ObjectJsonSchema {
  assertSupportedJsonSchema(schema)
  if (schema.type !== 'object') {
    throw new JsonSchemaError(['schema.type must be "object" (structured output is object-rooted)'])
  }
}

type Task = () => void
type Fields = Readonly<Record<string, unknown>>

/** Walks a schema iteratively, collecting violations in the order of the walk. */
class SchemaCheck {
  readonly #violations: string[] = []
  readonly #tasks: Task[] = []
  readonly #ancestors = new Set<unknown>()

  run(schema: unknown): readonly string[] {
    this.#tasks.push(() => this.#node(schema, 'schema'))
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) task()
    return this.#violations
  }

  #node(node: unknown, path: string): void {
    if (this.#ancestors.has(node)) {
      this.#violations.push(`${path} is circular`)
      return
    }
    const fields = plainFields(node)
    if (fields === undefined) {
      this.#violations.push(`${path} must be a schema object`)
      return
    }
    this.#ancestors.add(node)
    const children: Task[] = []
    this.#keywords(fields, path)
    this.#shape(fields, path)
    this.#constraints(fields, { path, children })
    // Children run before the node leaves the set of ancestors.
    this.#tasks.push(() => this.#ancestors.delete(node))
    for (const child of children.toReversed()) this.#tasks.push(child)
  }

  #keywords(fields: Fields, path: string): void {
    for (const [key, value] of Object.entries(fields)) {
      if (!KEYWORDS.includes(key)) {
        this.#violations.push(`${path}.${key} is not a supported keyword (subset: ${KEYWORDS.join(', ')})`)
      } else if (TEXT_ANNOTATIONS.includes(key) && typeof value !== 'string') {
        this.#violations.push(`${path}.${key} must be a string`)
      } else if (VALUE_ANNOTATIONS.includes(key) && !isJson(value)) {
        this.#violations.push(`${path}.${key} annotation must be lossless JSON data`)
      }
    }
  }

  #shape(fields: Fields, path: string): void {
    const { type } = fields
    const [hasType, hasOneOf] = [Object.hasOwn(fields, 'type'), Object.hasOwn(fields, 'oneOf')]
    if (hasType && hasOneOf) this.#violations.push(`${path} cannot declare both type and oneOf`)
    if (!hasType) return
    if (isArray(type)) {
      this.#violations.push(`${path}.type must be a single type string (type arrays are not supported)`)
    } else if (typeof type !== 'string' || !TYPES.includes(type)) {
      this.#violations.push(`${path}.type must be one of ${TYPES.join('/')}`)
    }
  }

  #constraints(fields: Fields, at: { readonly path: string; readonly children: Task[] }): void {
    const { path } = at
    const type = typeof fields['type'] === 'string' ? fields['type'] : undefined
    const hasOneOf = Object.hasOwn(fields, 'oneOf')
    if (hasOneOf) this.#branches(fields['oneOf'], at)
    for (const [key, types] of CONSTRAINTS) {
      if (!Object.hasOwn(fields, key)) continue
      if (hasOneOf) this.#violations.push(`${path}.${key} is not supported beside oneOf`)
      else if (!Object.hasOwn(fields, 'type')) this.#violations.push(`${path}.${key} requires type or oneOf`)
      else if (type !== undefined && TYPES.includes(type) && !types.includes(type)) {
        this.#violations.push(`${path}.${key} is not supported on type "${type}"`)
      } else this.#constraint(key, fields, at)
    }
  }

  #constraint(key: string, fields: Fields, { path, children }: { path: string; children: Task[] }): void {
    const { type, [key]: value } = fields
    switch (key) {
      case 'properties': {
        const properties = plainFields(value)
        if (properties === undefined) this.#violations.push(`${path}.properties must be an object of schemas`)
        for (const [name, child] of Object.entries(properties ?? {})) {
          children.push(() => this.#node(child, `${path}.properties.${name}`))
        }
        return
      }
      case 'items':
        children.push(() => this.#node(value, `${path}.items`))
        return
      case 'required':
        this.#required(value, fields['properties'], path)
        return
      case 'additionalProperties':
        if (typeof value !== 'boolean') this.#violations.push(`${path}.additionalProperties must be a boolean`)
        return
      default:
        // Of a type that does not exist there are no values to compare with.
        if (typeof type === 'string' && SCALAR_TYPES.includes(type)) this.#literals(key, fields, path)
    }
  }

  #branches(value: unknown, { path, children }: { readonly path: string; readonly children: Task[] }): void {
    const branches = plainItems(value)
    if (branches === undefined || branches.length < 2) {
      this.#violations.push(`${path}.oneOf must be an array of at least two schemas`)
      return
    }
    branches.forEach((branch, index) => children.push(() => this.#node(branch, `${path}.oneOf[${index}]`)))
  }

  #required(value: unknown, properties: unknown, path: string): void {
    const names = plainItems(value)
    if (names === undefined || names.some((name) => typeof name !== 'string')) {
      this.#violations.push(`${path}.required must be an array of strings`)
      return
    }
    const declared = plainFields(properties) ?? {}
    for (const name of names) {
      if (!Object.hasOwn(declared, String(name))) {
        this.#violations.push(`${path}.required names ${JSON.stringify(name)} which is not in properties`)
      }
    }
  }

  #literals(key: string, fields: Fields, path: string): void {
    const type = String(fields['type'])
    const listed = Object.hasOwn(fields, 'enum') ? plainItems(fields['enum']) : undefined
    if (
      key === 'enum' &&
      (listed === undefined || listed.length === 0 || !listed.every((item) => isOfType(item, type)))
    ) {
      this.#violations.push(`${path}.enum must be a non-empty array of ${type} values`)
    }
    if (key !== 'const') return
    const value = fields['const']
    if (!isOfType(value, type)) this.#violations.push(`${path}.const must be a ${type} value`)
    else if (Object.hasOwn(fields, 'enum') && !(listed ?? []).includes(value)) {
      this.#violations.push(`${path}.const must be one of ${path}.enum when both are declared`)
    }
  }
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value) && !Object.is(value, -0)
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    default:
      return typeof value === type
  }
}
