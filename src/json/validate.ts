/** Checks values against the enforced subset, iteratively and whatever the value throws. */
import { exactText } from './number.ts'
import { isArray, isPlainRecord, plainItems } from './plain.ts'
import type { JsonSchemaNode } from './schema.ts'
import { isJson } from './snapshot.ts'

/** Options of one validation. */
export interface ValidationOptions {
  /** Path of the root in messages, default `value`; an empty one reads `arguments`. */
  readonly path?: string
  /** Whether this number node refuses numbers that a double cannot hold; default: none does. */
  readonly isDoubleOnly?: (node: JsonSchemaNode) => boolean
  /** The value is known to be JSON, as every snapshot is: only the schema is left to check. Default: false. */
  readonly isKnownJson?: boolean
}

/**
 * Violations of a value, in the order of the walk; none when it satisfies the schema.
 * `number` and `integer` accept exact numbers. Total for any value; up to 5,000 levels and more.
 * @throws TypeError only for a schema with a type that does not exist.
 */
export function validateJsonSchemaValue(
  schema: JsonSchemaNode,
  value: unknown,
  options: string | ValidationOptions = {},
): string[] {
  const { path = 'value', ...rest } = typeof options === 'string' ? { path: options } : options
  return new Validation(rest).run(schema, value, path)
}

/** A value under a node, and where its violations go. */
interface Visit {
  readonly schema: JsonSchemaNode
  readonly value: unknown
  readonly path: string
  readonly found: string[]
}

/** Own enumerable properties of an object. */
interface Fields {
  keys(): Iterable<string>
  get(key: string): unknown
}

class Validation {
  readonly #isDoubleOnly: (node: JsonSchemaNode) => boolean
  readonly #isKnownJson: boolean
  /** A stack: what is pushed last runs first, so followers are pushed before children. */
  readonly #tasks: (() => void)[] = []

  constructor({ isDoubleOnly = () => false, isKnownJson = false }: Omit<ValidationOptions, 'path'>) {
    this.#isDoubleOnly = isDoubleOnly
    this.#isKnownJson = isKnownJson
  }

  run(schema: JsonSchemaNode, value: unknown, path: string): string[] {
    const found: string[] = []
    this.#visit({ schema, value, path, found })
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) task()
    return found
  }

  #visit(visit: Visit): void {
    const { schema, path, found } = visit
    const branches = own(schema, 'oneOf')
    if (branches !== undefined) {
      this.#visitBranches(visit, branches)
      return
    }
    const type = own(schema, 'type')
    switch (type) {
      case undefined:
        if (!this.#isJson(visit.value)) found.push(`${shown(path)} must be a lossless JSON value`)
        return
      case 'object':
        this.#visitObject(visit)
        return
      case 'array':
        this.#visitArray(visit)
        return
      case 'string':
      case 'number':
      case 'integer':
      case 'boolean':
      case 'null':
        this.#visitScalar(visit, type)
        return
      default:
        throw new TypeError(`a schema of a known type was expected, ${String(type)} came`)
    }
  }

  #visitBranches({ value, path, found }: Visit, branches: readonly JsonSchemaNode[]): void {
    const results = branches.map((): string[] => [])
    this.#tasks.push(() => {
      const matched = results.filter((result) => result.length === 0).length
      if (matched !== 1) found.push(`${shown(path)} must match exactly one oneOf branch (matched ${matched})`)
    })
    branches.forEach((schema, index) => {
      const result = results[index] ?? []
      this.#tasks.push(() => this.#visit({ schema, value, path, found: result }))
    })
  }

  #visitScalar(
    { schema, value, path, found }: Visit,
    type: 'string' | 'number' | 'integer' | 'boolean' | 'null',
  ): void {
    const problem = scalarProblem(value, type)
    if (problem !== undefined) {
      found.push(`${shown(path)} ${problem}`)
      return
    }
    const exact = exactText(value)
    if (exact !== undefined && this.#isDoubleOnly(schema)) {
      found.push(
        `${shown(path)} must be a number that a double holds exactly, ${exact} is not (exact: true accepts it)`,
      )
      return
    }
    const literals = own(schema, 'enum')
    if (literals !== undefined && !literals.some((item) => item === value)) {
      found.push(`${shown(path)} must be one of ${JSON.stringify(literals)}`)
    } else if (Object.hasOwn(schema, 'const') && schema.const !== value) {
      found.push(`${shown(path)} must be ${JSON.stringify(schema.const)}`)
    }
  }

  #visitObject(visit: Visit): void {
    const { schema, value, path, found } = visit
    const isRecord = isPlainRecord(value) && !isExact(value)
    const fields = isRecord ? this.#fieldsOf(value) : undefined
    if (fields === undefined) {
      found.push(`${shown(path)} must be ${isRecord ? 'a lossless JSON object' : 'an object'}`)
      return
    }
    const properties = own(schema, 'properties') ?? {}
    this.#tasks.push(() => this.#visitUndeclared(visit, fields))
    for (const name of own(schema, 'required') ?? []) {
      if (fields.get(name) === undefined) found.push(`missing required property "${child(path, name)}"`)
    }
    for (const [key, node] of Object.entries(properties).toReversed()) {
      const item = fields.get(key)
      if (item !== undefined) {
        this.#tasks.push(() => this.#visit({ schema: node, value: item, path: child(path, key), found }))
      }
    }
  }

  #visitUndeclared({ schema, path, found }: Visit, fields: Fields): void {
    const isOpen = own(schema, 'additionalProperties') !== false
    // Undeclared keys of an open object need no look when they are JSON anyway.
    if (isOpen && this.#isKnownJson) return
    const declared = own(schema, 'properties') ?? {}
    for (const key of fields.keys()) {
      if (Object.hasOwn(declared, key)) continue
      const item = fields.get(key)
      if (!isOpen) found.push(`${shown(child(path, key))} is not a declared property (additionalProperties: false)`)
      else if (item !== undefined && !isJson(item))
        found.push(`${shown(child(path, key))} must be a lossless JSON value`)
    }
  }

  /** A snapshot is read in place; anything else once and for all, since a second look may differ or throw. */
  #fieldsOf(value: Readonly<Record<string, unknown>>): Fields | undefined {
    if (!this.#isKnownJson) return readFields(value)
    return { keys: () => Object.keys(value), get: (key) => (Object.hasOwn(value, key) ? value[key] : undefined) }
  }

  #isJson(value: unknown): boolean {
    return this.#isKnownJson || isJson(value)
  }

  #visitArray({ schema, value, path, found }: Visit): void {
    const items = this.#isKnownJson && Array.isArray(value) ? value : plainItems(value)
    if (items === undefined) {
      found.push(`${shown(path)} must be ${isArray(value) ? 'a dense lossless JSON array' : 'an array'}`)
      return
    }
    const itemSchema = own(schema, 'items')
    if (itemSchema === undefined && this.#isKnownJson) return
    const node = itemSchema ?? {}
    for (let index = items.length - 1; index >= 0; index--) {
      const at = `${path}[${index}]`
      this.#tasks.push(() => this.#visit({ schema: node, value: items[index], path: at, found }))
    }
  }
}

/** A keyword of the node itself: what it inherits is no part of a schema. */
function own<Key extends keyof JsonSchemaNode>(schema: JsonSchemaNode, key: Key): JsonSchemaNode[Key] | undefined {
  return Object.hasOwn(schema, key) ? schema[key] : undefined
}

function scalarProblem(value: unknown, type: string): string | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? undefined : 'must be a string'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be a boolean'
    case 'null':
      return value === null ? undefined : 'must be null'
    case 'integer':
      return isIntegral(value) ? undefined : 'must be an integer'
    default:
      if (isExact(value) || Number.isFinite(value)) return undefined
      return typeof value === 'number' ? 'must be a finite JSON number' : 'must be a number'
  }
}

function isExact(value: unknown): boolean {
  return exactText(value) !== undefined
}

function isIntegral(value: unknown): boolean {
  const text = exactText(value)
  return text === undefined ? Number.isInteger(value) : /^-?\d+(?:[eE]\+?\d+)?$/.test(text)
}

/** Own enumerable entries; undefined when reading one throws or it has symbol or hidden keys. */
function readFields(value: Readonly<Record<string, unknown>>): Fields | undefined {
  try {
    const keys = Reflect.ownKeys(value)
    if (keys.some((key) => typeof key === 'symbol' || !Object.prototype.propertyIsEnumerable.call(value, key)))
      return undefined
    return new Map(keys.map((key) => [String(key), value[String(key)]]))
  } catch {
    return undefined
  }
}

function shown(path: string): string {
  return `"${path === '' ? 'arguments' : path}"`
}

function child(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
