/**
 * From any JSON Schema to the enforced subset, never stricter: what the subset cannot say is left out, so that every
 * value of the original still fits. The library that the schema came from checks the rest.
 */
import type { JsonSchemaNode, JsonSchemaScalar, JsonSchemaType } from '../json/schema.ts'

/** Levels that are looked into; deeper nodes accept anything. */
const MAX_DEPTH = 64

const TYPES: readonly string[] = [
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
] satisfies readonly JsonSchemaType[]

type Fields = Readonly<Record<string, unknown>>

/** The subset's widening of a schema. Its recursion is bounded by MAX_DEPTH. */
export function toSubset(schema: unknown, depth = 0): JsonSchemaNode {
  if (!isFields(schema) || depth > MAX_DEPTH) return {}
  return { ...shapeOf(schema, depth), ...annotationsOf(schema) }
}

function shapeOf(schema: Fields, depth: number): JsonSchemaNode {
  const { type, enum: choices, const: only } = schema
  if (Object.hasOwn(schema, 'const')) return literals([only], type)
  if (Array.isArray(choices)) return literals(choices, type)
  if (isType(type)) return typed(type, schema, depth)
  if (Array.isArray(type) && type.length > 0 && type.every(isType)) {
    return union(type.map((single) => typed(single, schema, depth)))
  }
  const branches = type === undefined ? (schema['oneOf'] ?? schema['anyOf']) : undefined
  return Array.isArray(branches) ? union(branches.map((branch) => toSubset(branch, depth + 1))) : {}
}

function typed(type: JsonSchemaType, schema: Fields, depth: number): JsonSchemaNode {
  const { items, properties, required, additionalProperties } = schema
  if (type === 'array') {
    const isList = isFields(items) && !Object.hasOwn(schema, 'prefixItems')
    return isList ? { type, items: toSubset(items, depth + 1) } : { type }
  }
  if (type !== 'object') return { type }
  const nodes = Object.entries(isFields(properties) ? properties : {}).map(([name, node]): [string, JsonSchemaNode] => [
    name,
    toSubset(node, depth + 1),
  ])
  const names = (Array.isArray(required) ? required : []).filter((name) => typeof name === 'string')
  const undeclared = names.filter((name) => !nodes.some(([declared]) => declared === name))
  const declared = [...nodes, ...undeclared.map((name): [string, JsonSchemaNode] => [name, {}])]
  const isClosed = additionalProperties === false && !Object.hasOwn(schema, 'patternProperties')
  return {
    type,
    ...(declared.length === 0 ? {} : { properties: Object.fromEntries(declared) }),
    ...(names.length === 0 ? {} : { required: [...new Set(names)] }),
    additionalProperties: !isClosed,
  }
}

/** Literals of one scalar type are an enum, of several types a union of enums. */
function literals(values: readonly unknown[], type: unknown): JsonSchemaNode {
  if (!values.every(isScalar) || values.length === 0) return isType(type) ? { type } : {}
  const byType = new Map<JsonSchemaType, JsonSchemaScalar[]>()
  for (const value of new Set(values)) {
    const kind = scalarType(value)
    byType.set(kind, [...(byType.get(kind) ?? []), value])
  }
  return union([...byType].map(([kind, list]) => ({ type: kind, enum: list })))
}

/** The subset knows exact-one unions alone: where a value might fit two branches, anything goes. */
function union(branches: readonly JsonSchemaNode[]): JsonSchemaNode {
  const [first, ...others] = branches
  if (first === undefined) return {}
  if (others.length === 0) return first
  const isDisjoint = branches.every((one, index) => branches.slice(index + 1).every((other) => areDisjoint(one, other)))
  return isDisjoint ? { oneOf: [...branches] } : {}
}

/** Whether no value can fit both: other types, other literals, or a required property that tells them apart. */
function areDisjoint(one: JsonSchemaNode, other: JsonSchemaNode, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false
  if (one.oneOf !== undefined) return one.oneOf.every((branch) => areDisjoint(branch, other, depth + 1))
  if (other.oneOf !== undefined) return other.oneOf.every((branch) => areDisjoint(one, branch, depth + 1))
  if (one.type === undefined || other.type === undefined) return false
  if (generalType(one.type) !== generalType(other.type)) return true
  const { enum: left, properties: mine = {}, required = [] } = one
  const { enum: right, properties: theirs = {}, required: alsoRequired = [] } = other
  if (left !== undefined && right !== undefined) return !left.some((value) => right.includes(value))
  return required.some((name) => {
    const [ofOne, ofOther] = [mine[name], theirs[name]]
    const isShared = ofOne !== undefined && ofOther !== undefined && alsoRequired.includes(name)
    return isShared && areDisjoint(ofOne, ofOther, depth + 1)
  })
}

function annotationsOf({ description, title }: Fields): JsonSchemaNode {
  return {
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof title === 'string' ? { title } : {}),
  }
}

function generalType(type: JsonSchemaType): string {
  return type === 'integer' ? 'number' : type
}

function scalarType(value: JsonSchemaScalar): JsonSchemaType {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return 'number'
    default:
      return 'boolean'
  }
}

function isScalar(value: unknown): value is JsonSchemaScalar {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}

function isType(type: unknown): type is JsonSchemaType {
  return typeof type === 'string' && TYPES.includes(type)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
