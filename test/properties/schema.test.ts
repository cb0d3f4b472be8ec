import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertSupportedJsonSchema,
  type JsonValue,
  type ParameterSchemaSpec,
  parameterSchemaSpecToJsonSchema,
  validateArgs,
  validateJsonSchemaValue,
  type ValueSchemaSpec,
  valueSchemaSpecToJsonSchema,
} from '../../src/index.ts'

const KEYS = ['a', 'b', 'constructor', '__proto__', 'toString'] as const
const key = fc.constantFrom(...KEYS)

/** An object by its entries, since `__proto__` is an ordinary key here. */
function ofEntries<Value>(entries: readonly (readonly [string, Value])[]): Record<string, Value> {
  const object: Record<string, Value> = {}
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
  }
  return object
}

const scalarSpec: fc.Arbitrary<ValueSchemaSpec> = fc.oneof(
  fc.constantFrom<ValueSchemaSpec>(
    { type: 'string' },
    { type: 'number' },
    { type: 'integer' },
    { type: 'boolean' },
    { type: 'null' },
  ),
  fc.constantFrom<ValueSchemaSpec>(
    { type: 'json' },
    { type: 'string', enum: ['x', 'y'] },
    { type: 'integer', const: 3 },
    { type: 'string', default: 'x' },
  ),
)
const { spec, properties } = fc.letrec<{ spec: ValueSchemaSpec; properties: ParameterSchemaSpec }>((tie) => ({
  spec: fc.oneof(
    { maxDepth: 3 },
    scalarSpec,
    tie('spec').map((items): ValueSchemaSpec => ({ type: 'array', items })),
    fc.tuple(tie('properties'), fc.boolean()).map(([inner, additionalProperties]): ValueSchemaSpec => ({
      type: 'object',
      properties: inner,
      additionalProperties,
    })),
    fc.array(tie('spec'), { minLength: 2, maxLength: 3 }).map((oneOf): ValueSchemaSpec => ({ oneOf })),
  ),
  properties: fc
    .uniqueArray(fc.tuple(key, tie('spec'), fc.boolean()), { selector: ([name]) => name, maxLength: 3 })
    .map((entries): ParameterSchemaSpec =>
      ofEntries(
        entries.map(([name, node, isRequired]) => [name, isRequired ? { ...node, required: true as const } : node]),
      ),
    ),
}))

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>('x', 'y', 'z', 3, 0.5, true, null, 9007199254740993n),
    fc.array(tie('value'), { maxLength: 2 }),
    fc
      .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 3 })
      .map((entries): JsonValue => ofEntries(entries)),
  ),
}))

/** What the DSL means, said once more and as plainly as can be. */
function fits(node: ValueSchemaSpec, given: JsonValue): boolean {
  if ('oneOf' in node) return node.oneOf.filter((branch) => fits(branch, given)).length === 1
  switch (node.type) {
    case 'json':
      return true
    case 'null':
      return given === null
    case 'string':
    case 'boolean':
      return typeof given === node.type && isLiteral(node, given)
    case 'number':
      return typeof given === 'number' && isLiteral(node, given)
    case 'integer':
      return Number.isInteger(given) && isLiteral(node, given)
    case 'array': {
      const { items } = node
      return Array.isArray(given) && (items === undefined || given.every((item) => fits(items, item)))
    }
    case 'object':
      return fitsProperties(node.properties ?? {}, given, node.additionalProperties)
  }
}

function fitsProperties(declared: ParameterSchemaSpec, given: JsonValue, isOpen: boolean): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  const own = new Map(Object.entries(given))
  const known = new Map(Object.entries(declared))
  if (!isOpen && [...own.keys()].some((name) => !known.has(name))) return false
  return [...known].every(([name, node]) => {
    const property = own.get(name)
    return property === undefined ? node.required !== true : fits(node, property)
  })
}

function isLiteral(node: { readonly enum?: readonly unknown[]; readonly const?: unknown }, given: unknown): boolean {
  return (node.enum?.includes(given) ?? true) && (node.const === undefined || node.const === given)
}

describe('a schema spec', () => {
  it('compiles into the enforced subset, and validation means what the spec says', () => {
    const tally = { fit: 0, misfit: 0 }
    fc.assert(
      fc.property(spec, fc.array(value, { minLength: 8, maxLength: 8 }), (node, values) => {
        const schema = valueSchemaSpecToJsonSchema(node)
        expect(() => assertSupportedJsonSchema(schema)).not.toThrow()
        // Doubles alone fit a number of the DSL; the raw schema takes exact numbers too.
        for (const given of values.filter((one) => !holdsBigInt(one))) {
          const isFit = validateJsonSchemaValue(schema, given).length === 0
          expect(isFit).toBe(fits(node, given))
          tally[isFit ? 'fit' : 'misfit']++
        }
      }),
      { numRuns: 1_000 },
    )
    expect(Math.min(tally.fit, tally.misfit)).toBeGreaterThan(200)
  })

  it('of parameters validates the arguments of a call, exact numbers included', () => {
    const tally = { fit: 0, misfit: 0 }
    fc.assert(
      fc.property(properties, fc.array(value, { minLength: 8, maxLength: 8 }), (declared, values) => {
        const schema = parameterSchemaSpecToJsonSchema(declared)
        for (const given of values) {
          const before = JSON.stringify(given, replaceBigInt)
          const isFit = validateArgs(schema, given).length === 0
          expect(isFit).toBe(fitsProperties(declared, given, true))
          // Nothing is filled in.
          expect(JSON.stringify(given, replaceBigInt)).toBe(before)
          tally[isFit ? 'fit' : 'misfit']++
        }
      }),
      { numRuns: 1_000 },
    )
    expect(Math.min(tally.fit, tally.misfit)).toBeGreaterThan(200)
  })
})

function replaceBigInt(_key: string, given: unknown): unknown {
  return typeof given === 'bigint' ? `${given}n` : given
}

function holdsBigInt(given: JsonValue): boolean {
  return JSON.stringify(given, replaceBigInt).includes('n"')
}
