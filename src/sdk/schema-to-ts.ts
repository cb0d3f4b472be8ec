/** JSON Schema as a TypeScript type. What is not understood widens its own node and nothing else. */
import { isLosslessNumber } from 'lossless-json'
import { describeNode, docComment } from './doc-comment.ts'
import { propertyKey, stringLiteral } from './names.ts'
import { elementsOf, ownKeys, ownValue } from './schema-node.ts'

/** Where a type stands: what a program must give, or what it gets. */
export type SchemaSide = 'arguments' | 'output'

/** Levels of containers that are spelled out; deeper ones are any JSON value. */
const MAX_TYPE_DEPTH = 32
/** Nodes of one schema that are spelled out: a schema may name one node many times over. */
const MAX_NODES = 10_000

/** The type of one schema as text; inner lines are indented below `indent`. Never throws. */
export function jsonSchemaToTs(schema: unknown, side: SchemaSide, indent = ''): string {
  return new TypeWriter(side).type(schema, { indent, depth: 0 }).text
}

/** True when `{}` satisfies the arguments schema, so that a call may leave them out. */
export function mayOmitArguments(schema: unknown): boolean {
  return isObjectNode(schema) && (elementsOf(ownValue(schema, 'required')) ?? []).length === 0
}

interface TypeText {
  readonly text: string
  /** Needs brackets before `[]`. */
  readonly isUnion?: boolean
}

interface Place {
  readonly indent: string
  readonly depth: number
}

/** Its recursion is bounded by MAX_TYPE_DEPTH. */
class TypeWriter {
  /** A value that no schema describes. */
  readonly #anything: string
  #nodes = 0

  constructor(side: SchemaSide) {
    this.#anything = side === 'output' ? 'any' : 'JsonValue'
  }

  type(node: unknown, place: Place): TypeText {
    this.#nodes += 1
    if (place.depth > MAX_TYPE_DEPTH || this.#nodes > MAX_NODES) return { text: this.#anything }
    if (typeof node !== 'object' || node === null) return { text: node === false ? 'never' : this.#anything }
    const literal = ownValue(node, 'const')
    if (literal !== undefined) return { text: literalType(literal) ?? this.#anything }
    const choices = elementsOf(ownValue(node, 'enum'))
    if (choices !== undefined)
      return this.#union(choices.map((choice) => ({ text: literalType(choice) ?? this.#anything })))
    const branches = elementsOf(ownValue(node, 'oneOf')) ?? elementsOf(ownValue(node, 'anyOf'))
    if (branches !== undefined)
      return this.#union(branches.map((branch) => this.type(branch, deeper(place, place.indent))))
    const types = elementsOf(ownValue(node, 'type'))
    if (types !== undefined) return this.#union(types.map((type) => this.#typed(type, node, place)))
    return this.#typed(ownValue(node, 'type') ?? impliedType(node), node, place)
  }

  #typed(type: unknown, node: object, place: Place): TypeText {
    switch (type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return { text: type }
      case 'integer':
        return { text: 'number' }
      case 'array':
        return { text: this.#array(ownValue(node, 'items'), place) }
      case 'object':
        return { text: this.#object(node, place) }
      default:
        return { text: this.#anything }
    }
  }

  #array(items: unknown, place: Place): string {
    if (items === undefined || Array.isArray(items)) return `${this.#anything}[]`
    const { text, isUnion } = this.type(items, deeper(place, place.indent))
    return isUnion === true ? `(${text})[]` : `${text}[]`
  }

  #object(node: object, place: Place): string {
    const properties = ownValue(node, 'properties')
    const additional = ownValue(node, 'additionalProperties')
    const required = new Set(elementsOf(ownValue(node, 'required'))?.filter((name) => typeof name === 'string'))
    const names = new Set([...ownKeys(properties), ...required])
    if (names.size === 0) return this.#dictionary(additional, place)
    const inner = deeper(place, `${place.indent}  `)
    const lines: string[] = []
    for (const name of names) {
      const property = ownValue(properties, name)
      const { text } = this.type(property, inner)
      lines.push(...docComment(describeNode(property), inner.indent))
      lines.push(`${inner.indent}${propertyKey(name)}${required.has(name) ? '' : '?'}: ${text};`)
    }
    // Wide enough for every declared property beside it.
    const isOpen = additional === true || (typeof additional === 'object' && additional !== null)
    if (isOpen) lines.push(`${inner.indent}[key: string]: ${this.#anything === 'any' ? 'any' : 'unknown'};`)
    return `{\n${lines.join('\n')}\n${place.indent}}`
  }

  #dictionary(additional: unknown, place: Place): string {
    if (additional === false) return 'Record<string, never>'
    const isSchema = typeof additional === 'object' && additional !== null
    const value = isSchema ? this.type(additional, deeper(place, place.indent)).text : this.#anything
    return `Record<string, ${value}>`
  }

  #union(parts: readonly TypeText[]): TypeText {
    const texts = [...new Set(parts.map(({ text }) => text))]
    // One part that is everything swallows the others; saying so is shorter and the same.
    if (texts.length === 0 || texts.includes(this.#anything)) return { text: this.#anything }
    return { text: texts.join(' | '), isUnion: texts.length > 1 || parts.some(({ isUnion }) => isUnion === true) }
  }
}

function deeper({ depth }: Place, indent: string): Place {
  return { indent, depth: depth + 1 }
}

function isObjectNode(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && (ownValue(schema, 'type') ?? impliedType(schema)) === 'object'
}

/** Schemas of other origins often leave the type out where the keywords show it. */
function impliedType(node: object): string | undefined {
  if (ownValue(node, 'properties') !== undefined || ownValue(node, 'additionalProperties') !== undefined)
    return 'object'
  return ownValue(node, 'items') === undefined ? undefined : 'array'
}

/** Undefined for what has no literal type. A number that a double cannot hold is any number. */
function literalType(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return stringLiteral(value)
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : 'number'
  return typeof value === 'bigint' || isLosslessNumber(value) ? 'number' : undefined
}
