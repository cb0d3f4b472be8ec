import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { assertSupportedJsonSchema, validateJsonSchemaValue } from '../../src/index.ts'
import { toSubset } from '../../src/tool/schema-subset.ts'

describe('the subset of a schema', () => {
  it.each([
    ['a plain type', { type: 'string', minLength: 1, pattern: 'a' }, { type: 'string' }],
    ['a list of types', { type: ['string', 'null'] }, { oneOf: [{ type: 'string' }, { type: 'null' }] }],
    ['types that overlap', { type: ['integer', 'number'] }, {}],
    ['an enum', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    [
      'an enum of several types',
      { enum: ['a', null] },
      {
        oneOf: [
          { type: 'string', enum: ['a'] },
          { type: 'null', enum: [null] },
        ],
      },
    ],
    ['an enum with containers', { enum: ['a', []] }, {}],
    ['a const', { const: 5 }, { type: 'number', enum: [5] }],
    [
      'branches that differ',
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
    ],
    ['branches that may overlap', { anyOf: [{ type: 'string' }, { type: 'string', format: 'date' }] }, {}],
    ['one branch', { oneOf: [{ type: 'string' }] }, { type: 'string' }],
    [
      'a list',
      { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1 },
      { type: 'array', items: { type: 'string' } },
    ],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } }, { type: 'array' }],
    ['a reference', { $ref: '#/$defs/x', $defs: { x: { type: 'string' } } }, {}],
    [
      'a closed object',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    ],
    [
      'an object with patterns',
      { type: 'object', patternProperties: { a: {} }, additionalProperties: false },
      { type: 'object', additionalProperties: true },
    ],
    [
      'a dictionary',
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', additionalProperties: true },
    ],
    [
      'required but undeclared',
      { type: 'object', required: ['a'] },
      { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: true },
    ],
    ['true', true, {}],
    [
      'annotations',
      { type: 'null', title: 'T', description: 'D', $comment: 'C' },
      { type: 'null', title: 'T', description: 'D' },
    ],
  ])('of %s is what it can say of it', (_title, schema, expected) => {
    const subset = toSubset(schema)
    expect(subset).toEqual(expected)
    expect(() => assertSupportedJsonSchema(subset)).not.toThrow()
  })

  it('keeps branches that a property tells apart', () => {
    const schema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), radius: z.number() }),
      z.object({ kind: z.literal('square'), side: z.number() }),
    ])
    const subset = toSubset(z.toJSONSchema(schema))
    expect(subset.oneOf).toHaveLength(2)
    expect(validateJsonSchemaValue(subset, { kind: 'square', side: 2 })).toEqual([])
  })

  it('accepts every value that the schema accepts', () => {
    const leaf = fc.constantFrom(
      z.string(),
      z.int(),
      z.number(),
      z.boolean(),
      z.null(),
      z.literal('a'),
      z.enum(['a', 'b']),
    )
    const { node } = fc.letrec<{ node: z.ZodType }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.tuple(tie('node'), tie('node')).map(([one, other]) => z.union([one, other])),
        tie('node').map((item) => z.array(item)),
        tie('node').map((item) => z.nullable(item)),
        fc.dictionary(fc.constantFrom('a', 'b', 'kind'), tie('node')).map((shape) => z.object(shape)),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('node')).map((shape) => z.strictObject(shape).partial()),
      ),
    }))
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>('a', 'b', 'x', 0, 1, 1.5, true, null),
        fc.array(tie('any'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'kind', 'z'), tie('any')),
      ),
    })).any
    let accepted = 0
    fc.assert(
      fc.property(node, fc.array(value, { minLength: 20, maxLength: 20 }), (schema, values) => {
        const subset = toSubset(z.toJSONSchema(schema, { io: 'input' }))
        assertSupportedJsonSchema(subset)
        for (const candidate of values.filter((one) => schema.safeParse(one).success)) {
          accepted++
          expect(validateJsonSchemaValue(subset, candidate)).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
    expect(accepted).toBeGreaterThan(300)
  })
})
