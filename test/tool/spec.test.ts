import { runInNewContext } from 'node:vm'
import { LosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import {
  assertSupportedJsonSchema,
  JsonSchemaError,
  parameterSchemaSpecToJsonSchema,
  type ParameterSchemaSpec,
  validateArgs,
  type ValueSchemaSpec,
  valueSchemaSpecToJsonSchema,
} from '../../src/index.ts'
import { validateJsonArgs, validateValue } from '../../src/tool/spec.ts'

/** A list that is no plain array. */
class List extends Array<unknown> {}

const TYPE_RULE = 'type must be string/number/integer/boolean/null/array/object/json, or use oneOf'

const circularItems: Record<string, unknown> = { type: 'array' }
circularItems['items'] = circularItems
const circularBranch: { oneOf: unknown[] } = { oneOf: [{ type: 'null' }] }
circularBranch.oneOf.push({ type: 'array', items: circularBranch })
const circularProperty: Record<string, unknown> = { type: 'object', additionalProperties: true, required: true }
circularProperty['properties'] = { again: circularProperty }

const hidden = Object.defineProperty({ type: 'null' }, 'x', { value: 1 })
const throwing = new Proxy(
  { type: 'null' },
  {
    ownKeys: () => {
      throw new Error('trap')
    },
  },
)
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

/** What tests hand over is not what the types allow. */
function compileValue(spec: unknown): unknown {
  return valueSchemaSpecToJsonSchema(spec as ValueSchemaSpec)
}

function compileParameters(spec: unknown): unknown {
  return parameterSchemaSpecToJsonSchema(spec as ParameterSchemaSpec)
}

describe('a value spec', () => {
  it.each<[unknown, unknown]>([
    [{ type: 'string' }, { type: 'string' }],
    [
      { type: 'string', enum: ['a', 'b'], const: 'a' },
      { type: 'string', enum: ['a', 'b'], const: 'a' },
    ],
    [
      { type: 'number', exact: true, enum: [1.5] },
      { type: 'number', enum: [1.5] },
    ],
    [
      { type: 'integer', const: 7 },
      { type: 'integer', const: 7 },
    ],
    [
      { type: 'boolean', enum: [true] },
      { type: 'boolean', enum: [true] },
    ],
    [{ type: 'null' }, { type: 'null' }],
    [{ type: 'json' }, {}],
    [
      { type: 'json', title: 'T', description: 'D', default: [1], examples: { a: 1 } },
      { title: 'T', description: 'D', default: [1], examples: { a: 1 } },
    ],
    [{ type: 'array' }, { type: 'array' }],
    [
      { type: 'array', items: { type: 'json' } },
      { type: 'array', items: {} },
    ],
    [
      { oneOf: [{ type: 'string' }, { type: 'json', title: 'any' }], title: 'one' },
      { oneOf: [{ type: 'string' }, { title: 'any' }], title: 'one' },
    ],
    [
      { type: 'object', additionalProperties: true },
      { type: 'object', additionalProperties: true },
    ],
    [
      { type: 'object', additionalProperties: false, properties: {} },
      { type: 'object', additionalProperties: false, properties: {} },
    ],
    [
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          b: { type: 'null', required: true },
          a: { oneOf: [{ type: 'null' }, { type: 'string' }], required: true },
          c: { type: 'object', additionalProperties: true, properties: { d: { type: 'json', required: true } } },
        },
      },
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          b: { type: 'null' },
          a: { oneOf: [{ type: 'null' }, { type: 'string' }] },
          c: { type: 'object', additionalProperties: true, properties: { d: {} }, required: ['d'] },
        },
        required: ['b', 'a'],
      },
    ],
    [
      runInNewContext('({ type: "array", items: { type: "string", enum: ["a"] } })'),
      {
        type: 'array',
        items: { type: 'string', enum: ['a'] },
      },
    ],
  ])('%# compiles to a schema of the subset', (spec, schema) => {
    const compiled = compileValue(spec)
    expect(compiled).toEqual(schema)
    expect(() => assertSupportedJsonSchema(compiled)).not.toThrow()
  })

  it.each<[unknown, string]>([
    // Nodes
    [null, 'schema must be a schema object'],
    [[], 'schema must be a schema object'],
    ['string', 'schema must be a schema object'],
    [Object.create({ type: 'null' }), 'schema must be a schema object'],
    [hidden, 'schema must be a schema object'],
    [throwing, 'schema must be a schema object'],
    [{ type: 'array', items: revoked }, 'schema.items must be a schema object'],
    [{ type: 'null', [Symbol('s')]: 1 }, 'schema must be a schema object'],
    [{ type: 'array', items: 7 }, 'schema.items must be a schema object'],
    [{ type: 'array', items: undefined }, 'schema.items must be a schema object'],
    // Types
    [{}, `schema.${TYPE_RULE}`],
    [{ type: 'text' }, `schema.${TYPE_RULE}`],
    [{ type: 'toString' }, `schema.${TYPE_RULE}`],
    [{ type: ['string'] }, `schema.${TYPE_RULE}`],
    [{ type: undefined }, `schema.${TYPE_RULE}`],
    [{ type: 'string', oneOf: [] }, `schema.${TYPE_RULE}`],
    [{ type: 'array', items: { type: 'array', items: {} } }, `schema.items.items.${TYPE_RULE}`],
    // Keywords
    [{ type: 'string', minLength: 1 }, 'schema.minLength is not supported by the value schema DSL'],
    [{ type: 'string', items: { type: 'null' } }, 'schema.items is not supported by the value schema DSL'],
    [{ type: 'string', exact: true }, 'schema.exact is not supported by the value schema DSL'],
    [{ type: 'json', enum: ['a'] }, 'schema.enum is not supported by the value schema DSL'],
    [{ type: 'array', const: 1 }, 'schema.const is not supported by the value schema DSL'],
    [{ oneOf: [{ type: 'null' }, { type: 'json' }], enum: [] }, 'schema.enum is not supported by the value schema DSL'],
    [JSON.parse('{"type":"null","__proto__":1}'), 'schema.__proto__ is not supported by the value schema DSL'],
    // Where required may stand
    [{ type: 'string', required: true }, 'schema.required is not supported by the value schema DSL'],
    [
      { type: 'array', items: { type: 'null', required: true } },
      'schema.items.required is not supported by the value schema DSL',
    ],
    [
      { oneOf: [{ type: 'null' }, { type: 'string', required: true }] },
      'schema.oneOf[1].required is not supported by the value schema DSL',
    ],
    [
      { type: 'object', additionalProperties: true, properties: { a: { type: 'null', required: false } } },
      'schema.properties.a.required must be true where it is set',
    ],
    // Exact numbers
    [{ type: 'number', exact: false }, 'schema.exact must be true where it is set'],
    [{ type: 'integer', exact: undefined }, 'schema.exact must be true where it is set'],
    // Objects
    [{ type: 'object' }, 'schema.additionalProperties must be explicitly true or false'],
    [{ type: 'object', additionalProperties: {} }, 'schema.additionalProperties must be explicitly true or false'],
    [{ type: 'object', additionalProperties: true, properties: [] }, 'schema.properties must be a schema object'],
    [
      { type: 'object', additionalProperties: true, properties: undefined },
      'schema.properties must be a schema object',
    ],
    [
      { type: 'object', additionalProperties: true, properties: { a: 'string' } },
      'schema.properties.a must be a schema object',
    ],
    // Branches
    ...[
      [],
      [{ type: 'null' }],
      [{ type: 'null' }, , { type: 'json' }],
      Object.assign([{ type: 'null' }, { type: 'string' }], { x: 1 }),
      List.of({ type: 'null' }, { type: 'string' }),
      'ab',
      undefined,
      revoked,
    ].map((oneOf): [unknown, string] => [{ oneOf }, 'schema.oneOf must be an array of at least two schemas']),
    // Literals and annotations
    ...[[], [1], 'a', ['a', , 'b'], Object.assign(['a'], { x: 1 }), List.of('a'), undefined].map(
      (list): [unknown, string] => [
        { type: 'string', enum: list },
        'schema.enum must be a non-empty array of string values',
      ],
    ),
    [{ type: 'integer', const: 1.5 }, 'schema.const must be a integer value'],
    [{ type: 'string', enum: ['a'], const: 'b' }, 'schema.const must be one of schema.enum when both are declared'],
    [{ type: 'null', description: 7 }, 'schema.description must be a string'],
    [{ type: 'json', default: new Date(0) }, 'schema.default annotation must be lossless JSON data'],
    // Cycles
    [circularItems, 'schema.items is circular'],
    [circularBranch, 'schema.oneOf[1].items is circular'],
    [circularProperty, 'schema.required is not supported by the value schema DSL'],
    [
      { type: 'object', additionalProperties: true, properties: { a: circularProperty } },
      'schema.properties.a.properties.again is circular',
    ],
  ])('%# is refused at once', (spec, violation) => {
    const attempt = (): unknown => compileValue(spec)
    expect(attempt).toThrow(JsonSchemaError)
    expect(attempt).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_SCHEMA', violations: [violation] }))
  })

  it('may use one spec in several places', () => {
    const shared = { type: 'string' }
    expect(compileValue({ oneOf: [shared, { type: 'array', items: shared }] })).toEqual({
      oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    })
  })

  it('shares no lists with its schema', () => {
    const spec = { type: 'string', enum: ['a'] } as const
    const schema = valueSchemaSpecToJsonSchema(spec)
    schema.enum?.push('b')
    expect(spec).toEqual({ type: 'string', enum: ['a'] })
  })

  it('may nest 5,000 levels of branches, items and properties', () => {
    let spec: unknown = { type: 'null' }
    let value: unknown = null
    for (let level = 0; level < 5_000; level += 2) {
      spec = { oneOf: [{ type: 'object', additionalProperties: false, properties: { a: spec } }, { type: 'null' }] }
      spec = { type: 'array', items: spec }
      value = [{ a: value }]
    }
    const schema = valueSchemaSpecToJsonSchema(spec as ValueSchemaSpec)
    expect(validateValue(schema, value)).toEqual([])
    expect(validateValue(schema, [[]])).toEqual(['"value[0]" must match exactly one oneOf branch (matched 0)'])
  })
})

describe('a parameter spec', () => {
  it.each<[unknown, string]>([
    [undefined, 'parameters must be a schema object'],
    [[], 'parameters must be a schema object'],
    [{ [Symbol('s')]: { type: 'null' } }, 'parameters must be a schema object'],
    [throwing, 'parameters must be a schema object'],
    [{ type: 'object' }, 'parameters.type must be a schema object'],
    [{ a: null }, 'parameters.a must be a schema object'],
    [{ a: { type: 'text' } }, `parameters.a.${TYPE_RULE}`],
    [{ a: { type: 'null', required: false } }, 'parameters.a.required must be true where it is set'],
    [{ a: { type: 'null', required: undefined } }, 'parameters.a.required must be true where it is set'],
    [{ a: { type: 'object', properties: {} } }, 'parameters.a.additionalProperties must be explicitly true or false'],
    [{ a: { type: 'text' }, b: { type: 'word' } }, `parameters.a.${TYPE_RULE}`],
    [{ a: { type: 'array', items: { type: 'text' } }, b: { type: 'word' } }, `parameters.a.items.${TYPE_RULE}`],
    [{ again: circularProperty }, 'parameters.again.properties.again is circular'],
  ])('%# is refused with its first fault', (spec, violation) => {
    expect(() => compileParameters(spec)).toThrow(expect.objectContaining({ violations: [violation] }))
  })

  it('is an open object, also without any property', () => {
    expect(compileParameters({})).toEqual({ type: 'object', properties: {} })
    expect(compileParameters({ type: { type: 'string' }, required: { type: 'null', required: true } })).toEqual({
      type: 'object',
      properties: { type: { type: 'string' }, required: { type: 'null' } },
      required: ['required'],
    })
  })

  it('keeps a property named __proto__', () => {
    const schema = parameterSchemaSpecToJsonSchema(JSON.parse('{"__proto__":{"type":"string","required":true}}'))
    expect(Object.keys(schema.properties ?? {})).toEqual(['__proto__'])
    expect(validateArgs(schema, {})).toEqual(['missing required property "__proto__"'])
    expect(validateArgs(schema, JSON.parse('{"__proto__":1}'))).toEqual(['"__proto__" must be a string'])
  })
})

describe('arguments', () => {
  const schema = parameterSchemaSpecToJsonSchema({
    n: { type: 'integer', required: true },
    big: { type: 'integer', exact: true },
    ratio: { type: 'number', exact: true },
    box: {
      type: 'object',
      additionalProperties: false,
      properties: { x: { type: 'number', required: true }, list: { type: 'array', items: { type: 'string' } } },
    },
    units: { type: 'string', enum: ['c', 'f'], default: 'c' },
    any: { type: 'json' },
  })

  const EXACT = 12345678901234567890n
  const RATIO = new LosslessNumber('0.1234567890123456789')

  it.each<[unknown, readonly string[]]>([
    [{ n: 1 }, []],
    [{ n: 1, more: { of: ['it'] } }, []],
    [{ n: 1, big: EXACT, ratio: RATIO, any: [EXACT, RATIO] }, []],
    [{ n: 1, big: 1, ratio: EXACT }, []],
    [{}, ['missing required property "n"']],
    [{ n: undefined }, ['missing required property "n"']],
    [undefined, ['"arguments" must be an object']],
    [[1], ['"arguments" must be an object']],
    [{ n: '1' }, ['"n" must be an integer']],
    [
      { n: EXACT },
      ['"n" must be a number that a double holds exactly, 12345678901234567890 is not (exact: true accepts it)'],
    ],
    [{ n: 1, big: RATIO }, ['"big" must be an integer']],
    [
      { n: 1, box: { x: RATIO } },
      ['"box.x" must be a number that a double holds exactly, 0.1234567890123456789 is not (exact: true accepts it)'],
    ],
    [
      { n: 1.5, box: { list: ['a', 1, null], y: 1 }, units: 'k' },
      [
        '"n" must be an integer',
        'missing required property "box.x"',
        '"box.list[1]" must be a string',
        '"box.list[2]" must be a string',
        '"box.y" is not a declared property (additionalProperties: false)',
        '"units" must be one of ["c","f"]',
      ],
    ],
  ])('%# are checked, all violations in the order of the declaration', (args, violations) => {
    expect(validateArgs(schema, args)).toEqual(violations)
    expect(validateJsonArgs(schema, args)).toEqual(violations)
  })

  it('do not get defaults', () => {
    const args = { n: 1 }
    validateArgs(schema, args)
    expect(args).toEqual({ n: 1 })
  })

  it('that are not JSON are violations', () => {
    expect(validateArgs(schema, { n: 1, any: new Date(0), more: () => 1 })).toEqual([
      '"any" must be a lossless JSON value',
      '"more" must be a lossless JSON value',
    ])
    expect(validateArgs(schema, throwing)).toEqual(['"arguments" must be a lossless JSON object'])
  })

  it('under a raw schema may hold numbers that a double cannot', () => {
    expect(validateArgs({ type: 'object', properties: { n: { type: 'integer' } } }, { n: EXACT })).toEqual([])
  })
})
