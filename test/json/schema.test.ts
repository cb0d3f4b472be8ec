import { LosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import { JsonSchemaError } from '../../src/errors.ts'
import { assertObjectJsonSchema, assertSupportedJsonSchema, type JsonSchemaNode } from '../../src/json/schema.ts'
import { validateJsonSchemaValue } from '../../src/json/validate.ts'

const circular: Record<string, unknown> = { type: 'array' }
circular['items'] = circular

function violationsOf(schema: unknown): readonly string[] {
  try {
    assertSupportedJsonSchema(schema)
    return []
  } catch (refusal) {
    return refusal instanceof JsonSchemaError ? refusal.violations : [String(refusal)]
  }
}

describe('a schema of the subset', () => {
  it.each<[unknown]>([
    [{}],
    [{ description: 'anything', default: { a: [1] }, examples: [null] }],
    [{ type: 'string', enum: ['a', 'b'], const: 'a' }],
    [
      {
        type: 'object',
        properties: { toString: { type: 'null' } },
        required: ['toString'],
        additionalProperties: false,
      },
    ],
    [{ type: 'array', items: { oneOf: [{ type: 'integer' }, { type: 'object' }] } }],
    [{ oneOf: [{}, {}] }],
  ])('%j is accepted', (schema) => {
    expect(violationsOf(schema)).toEqual([])
  })

  it.each<[unknown, readonly string[]]>([
    [null, ['schema must be a schema object']],
    [[], ['schema must be a schema object']],
    [{ type: 'object', properties: { a: 7 } }, ['schema.properties.a must be a schema object']],
    [circular, ['schema.items is circular']],
    [{ type: ['string', 'null'] }, ['schema.type must be a single type string (type arrays are not supported)']],
    [{ type: 'text' }, ['schema.type must be one of object/array/string/number/integer/boolean/null']],
    [{ type: 'string', oneOf: [{}, {}] }, ['schema cannot declare both type and oneOf']],
    [{ enum: ['a'] }, ['schema.enum requires type or oneOf']],
    [{ oneOf: [{}] }, ['schema.oneOf must be an array of at least two schemas']],
    [{ oneOf: [{}, , {}] }, ['schema.oneOf must be an array of at least two schemas']],
    [{ oneOf: [{}, {}], required: [] }, ['schema.required is not supported beside oneOf']],
    [{ type: 'string', items: {} }, ['schema.items is not supported on type "string"']],
    [{ type: 'object', properties: [] }, ['schema.properties must be an object of schemas']],
    [{ type: 'object', required: 'a' }, ['schema.required must be an array of strings']],
    [
      { type: 'object', properties: {}, required: ['toString'] },
      ['schema.required names "toString" which is not in properties'],
    ],
    [{ type: 'object', additionalProperties: {} }, ['schema.additionalProperties must be a boolean']],
    [{ type: 'integer', enum: [1.5] }, ['schema.enum must be a non-empty array of integer values']],
    [{ type: 'string', enum: [] }, ['schema.enum must be a non-empty array of string values']],
    [{ type: 'number', const: '1' }, ['schema.const must be a number value']],
    [{ type: 'string', enum: ['a'], const: 'b' }, ['schema.const must be one of schema.enum when both are declared']],
    [{ description: 7 }, ['schema.description must be a string']],
    [{ default: new Date(0) }, ['schema.default annotation must be lossless JSON data']],
  ])('%# is refused with its path', (schema, violations) => {
    expect(violationsOf(schema)).toEqual(violations)
  })

  it('names every violation of a schema', () => {
    const schema = { type: 'object', properties: { a: { type: 'x' }, b: { $ref: '#' } }, minProperties: 1 }
    expect(violationsOf(schema).map((text) => text.split(' ')[0])).toEqual([
      'schema.minProperties',
      'schema.properties.a.type',
      'schema.properties.b.$ref',
    ])
  })

  it('may nest 5,000 levels, and must be rooted in an object where one is asked for', () => {
    let deep: JsonSchemaNode = { type: 'null' }
    for (let level = 0; level < 5_000; level++) deep = { oneOf: [deep, { type: 'string' }] }
    expect(violationsOf(deep)).toEqual([])
    expect(validateJsonSchemaValue(deep, null)).toEqual([])
    expect(() => assertObjectJsonSchema({ type: 'array' })).toThrow(
      'schema.type must be "object" (structured output is object-rooted)',
    )
  })
})

describe('a value', () => {
  const row: JsonSchemaNode = {
    type: 'object',
    properties: { id: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['id'],
    additionalProperties: false,
  }

  it.each<[JsonSchemaNode, unknown, readonly string[]]>([
    [{ type: 'string' }, 1, ['"value" must be a string']],
    [{ type: 'number' }, Number.NaN, ['"value" must be a finite JSON number']],
    [{ type: 'number' }, '1', ['"value" must be a number']],
    [{ type: 'number' }, 12345678901234567890n, []],
    [{ type: 'number' }, new LosslessNumber('0.1234567890123456789'), []],
    [{ type: 'integer' }, 12345678901234567890n, []],
    [{ type: 'integer' }, new LosslessNumber('0.1234567890123456789'), ['"value" must be an integer']],
    [{ type: 'integer' }, 1.5, ['"value" must be an integer']],
    [{ type: 'boolean' }, 'true', ['"value" must be a boolean']],
    [{ type: 'null' }, undefined, ['"value" must be null']],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', ['"value" must be one of ["a","b"]']],
    [{ type: 'integer', const: 1 }, 2, ['"value" must be 1']],
    [{ type: 'array' }, {}, ['"value" must be an array']],
    [{ type: 'array' }, [1, , 2], ['"value" must be a dense lossless JSON array']],
    [{ type: 'object' }, [], ['"value" must be an object']],
    [
      row,
      { id: 1, tags: ['a', 2], more: 1 },
      ['"value.tags[1]" must be a string', '"value.more" is not a declared property (additionalProperties: false)'],
    ],
    [row, {}, ['missing required property "value.id"']],
    [row, { id: undefined }, ['missing required property "value.id"']],
    [{ type: 'object', properties: JSON.parse('{"constructor":{"type":"string"}}') }, {}, []],
    [
      { oneOf: [{ type: 'integer' }, { type: 'number' }] },
      1,
      ['"value" must match exactly one oneOf branch (matched 2)'],
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 1, ['"value" must match exactly one oneOf branch (matched 0)']],
    [{}, () => 1, ['"value" must be a lossless JSON value']],
    [
      { type: 'object' },
      {
        get x(): never {
          throw new Error('no')
        },
      },
      ['"value" must be a lossless JSON object'],
    ],
    [
      { type: 'object' },
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no')
          },
        },
      ),
      ['"value" must be a lossless JSON object'],
    ],
  ])('%# under its schema', (schema, value, violations) => {
    expect(validateJsonSchemaValue(schema, value)).toEqual(violations)
  })

  it('of arguments reads without a root name', () => {
    expect(validateJsonSchemaValue(row, { id: 'x' }, '')).toEqual(['"id" must be an integer'])
    expect(validateJsonSchemaValue(row, 7, '')).toEqual(['"arguments" must be an object'])
  })
})
