import { runInNewContext } from 'node:vm'
import { LosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import { JsonSchemaError } from '../../src/errors.ts'
import { assertObjectJsonSchema, assertSupportedJsonSchema, type JsonSchemaNode } from '../../src/json/schema.ts'
import { validateJsonSchemaValue } from '../../src/json/validate.ts'
import type { JsonValue } from '../../src/json/value.ts'

const circular: Record<string, unknown> = { type: 'array' }
circular['items'] = circular
const circularBranch = { oneOf: [{ type: 'object', properties: {} }, {}] }
Object.assign(circularBranch.oneOf[0] ?? {}, { properties: { a: circularBranch } })

/** A list that is no plain array. */
class List extends Array<unknown> {}

const TRAPS = [
  'get',
  'getOwnPropertyDescriptor',
  'getPrototypeOf',
  'has',
  'ownKeys',
] as const satisfies readonly (keyof ProxyHandler<object>)[]

/** Proxies of an object and of an array of which one trap throws, and revoked ones. */
const hostile: [string, unknown][] = [{ a: 1 }, [1]].flatMap((target): [string, unknown][] => {
  const kind = Array.isArray(target) ? 'array' : 'object'
  const fail = (): never => {
    throw new Error('trap')
  }
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return [
    ...TRAPS.map((trap): [string, unknown] => [`${kind} whose ${trap} throws`, new Proxy(target, { [trap]: fail })]),
    [`${kind} that was revoked`, proxy],
  ]
})

const SUBSET =
  'type, oneOf, properties, required, additionalProperties, items, enum, const, description, title, default, examples'

const sparse = [{}, , {}]
const shared = { type: 'string', enum: ['a'] }
const inherited: unknown = Object.create({ type: 'string' })
const hidden = Object.defineProperty({ type: 'null' }, 'x', { value: 1 })

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
    [{ type: 'object', properties: { a: shared, b: shared }, required: [] }],
    [{ oneOf: [shared, { type: 'array', items: shared }] }],
    [{ type: 'object', properties: JSON.parse('{"__proto__":{"type":"null"}}'), required: ['__proto__'] }],
    [{ type: 'null', enum: [null], const: null }],
    [{ type: 'boolean', enum: [true, true] }],
    [{ type: 'number', enum: [1.5, 2], const: 2 }],
    [{ type: 'array' }],
    [{ title: '', description: '', default: 12345678901234567890n, examples: 'one' }],
    [Object.assign(Object.create(null), { type: 'null' })],
    [runInNewContext('({ type: "object", properties: { a: { oneOf: [{}, {}] } }, required: ["a"] })')],
  ])('%# is accepted', (schema) => {
    expect(violationsOf(schema)).toEqual([])
  })

  it.each<[unknown, readonly string[]]>([
    // Nodes
    [null, ['schema must be a schema object']],
    [undefined, ['schema must be a schema object']],
    [true, ['schema must be a schema object']],
    [[], ['schema must be a schema object']],
    [new Map(), ['schema must be a schema object']],
    [inherited, ['schema must be a schema object']],
    [hidden, ['schema must be a schema object']],
    [{ type: 'null', [Symbol('s')]: 1 }, ['schema must be a schema object']],
    [Object.create({ constructor: Object }), ['schema must be a schema object']],
    [{ type: 'object', properties: { a: 7 } }, ['schema.properties.a must be a schema object']],
    [{ type: 'array', items: [{}] }, ['schema.items must be a schema object']],
    [{ type: 'array', items: undefined }, ['schema.items must be a schema object']],
    [{ oneOf: [{}, null] }, ['schema.oneOf[1] must be a schema object']],
    [circular, ['schema.items is circular']],
    [circularBranch, ['schema.oneOf[0].properties.a is circular']],
    // Keywords
    [{ anyOf: [{}] }, [`schema.anyOf is not a supported keyword (subset: ${SUBSET})`]],
    [
      { type: 'string', pattern: 'x', maxLength: 1 },
      [
        `schema.pattern is not a supported keyword (subset: ${SUBSET})`,
        `schema.maxLength is not a supported keyword (subset: ${SUBSET})`,
      ],
    ],
    [{ type: 'array', items: { $ref: '#' } }, [`schema.items.$ref is not a supported keyword (subset: ${SUBSET})`]],
    [{ toString: 1 }, [`schema.toString is not a supported keyword (subset: ${SUBSET})`]],
    [JSON.parse('{"__proto__":{}}'), [`schema.__proto__ is not a supported keyword (subset: ${SUBSET})`]],
    // Annotations
    [{ description: 7 }, ['schema.description must be a string']],
    [{ title: undefined }, ['schema.title must be a string']],
    [{ default: new Date(0) }, ['schema.default annotation must be lossless JSON data']],
    [{ default: undefined }, ['schema.default annotation must be lossless JSON data']],
    [{ examples: [Number.NaN] }, ['schema.examples annotation must be lossless JSON data']],
    [{ examples: sparse }, ['schema.examples annotation must be lossless JSON data']],
    // Types
    [{ type: ['string', 'null'] }, ['schema.type must be a single type string (type arrays are not supported)']],
    [{ type: 'text' }, ['schema.type must be one of object/array/string/number/integer/boolean/null']],
    [{ type: 'toString' }, ['schema.type must be one of object/array/string/number/integer/boolean/null']],
    [{ type: undefined }, ['schema.type must be one of object/array/string/number/integer/boolean/null']],
    [
      { type: 'text', enum: ['a'], const: 1 },
      ['schema.type must be one of object/array/string/number/integer/boolean/null'],
    ],
    [{ type: ['string'], enum: [] }, ['schema.type must be a single type string (type arrays are not supported)']],
    [{ type: 'string', oneOf: [{}, {}] }, ['schema cannot declare both type and oneOf']],
    // Constraints without a type, beside oneOf, and on the wrong type
    ...['properties', 'required', 'additionalProperties', 'items', 'enum', 'const'].flatMap(
      (key): [unknown, string[]][] => [
        [{ [key]: undefined }, [`schema.${key} requires type or oneOf`]],
        [{ oneOf: [{}, {}], [key]: undefined }, [`schema.${key} is not supported beside oneOf`]],
      ],
    ),
    ...[
      ['string', 'items'],
      ['string', 'properties'],
      ['array', 'properties'],
      ['array', 'required'],
      ['null', 'additionalProperties'],
      ['object', 'items'],
      ['object', 'enum'],
      ['array', 'const'],
    ].map(([type = '', key = '']): [unknown, string[]] => [
      { type, [key]: undefined },
      [`schema.${key} is not supported on type "${type}"`],
    ]),
    // Branches
    ...[
      [{}],
      [],
      sparse,
      Object.assign([{}, {}], { x: 1 }),
      List.of({}, {}),
      { 0: {}, 1: {}, length: 2 },
      undefined,
    ].map((oneOf): [unknown, string[]] => [{ oneOf }, ['schema.oneOf must be an array of at least two schemas']]),
    // Objects
    ...[[], null, 'a', new Map(), Object.create({}), undefined].map((properties): [unknown, string[]] => [
      { type: 'object', properties },
      ['schema.properties must be an object of schemas'],
    ]),
    ...['a', [1], ['a', , 'a'], List.of('a'), null, undefined].map((required): [unknown, string[]] => [
      { type: 'object', properties: { a: {} }, required },
      ['schema.required must be an array of strings'],
    ]),
    [{ type: 'object', required: ['a'] }, ['schema.required names "a" which is not in properties']],
    [
      { type: 'object', properties: { b: {} }, required: ['toString', 'b', 'a "b"'] },
      [
        'schema.required names "toString" which is not in properties',
        'schema.required names "a \\"b\\"" which is not in properties',
      ],
    ],
    ...[{}, 'false', null, undefined].map((additionalProperties): [unknown, string[]] => [
      { type: 'object', additionalProperties },
      ['schema.additionalProperties must be a boolean'],
    ]),
    // Literals
    ...(
      [
        ['string', [1]],
        ['string', []],
        ['string', 'a'],
        ['string', List.of('a')],
        ['string', ['a', , 'b']],
        ['string', Object.assign(['a'], { x: 1 })],
        ['string', [new String('a')]],
        ['integer', [1, 1.5]],
        ['integer', [-0]],
        ['number', [Number.NaN]],
        ['number', [12345678901234567890n]],
        ['boolean', [0]],
        ['null', [undefined]],
      ] as const
    ).map(([type, list]): [unknown, string[]] => [
      { type, enum: list },
      [`schema.enum must be a non-empty array of ${type} values`],
    ]),
    ...(
      [
        ['string', 1],
        ['number', '1'],
        ['number', -0],
        ['number', Number.NaN],
        ['number', Infinity],
        ['integer', 0.5],
        ['boolean', 'true'],
        ['null', undefined],
        ['null', 0],
      ] as const
    ).map(([type, value]): [unknown, string[]] => [{ type, const: value }, [`schema.const must be a ${type} value`]]),
    [{ type: 'string', enum: ['a'], const: 'b' }, ['schema.const must be one of schema.enum when both are declared']],
    [
      { type: 'object', properties: { a: { type: 'integer', enum: [1], const: 2 } } },
      ['schema.properties.a.const must be one of schema.properties.a.enum when both are declared'],
    ],
  ])('%# is refused with its path', (schema, violations) => {
    expect(violationsOf(schema)).toEqual(violations)
  })

  it.each(hostile)('that is or holds an %s never makes the check throw something else', (_title, proxy) => {
    const schemas = [
      proxy,
      { type: proxy, enum: ['a'] },
      { oneOf: proxy },
      { type: 'array', items: proxy },
      { type: 'object', properties: proxy },
      { type: 'object', required: proxy },
      { type: 'string', enum: proxy },
      { type: 'string', const: proxy },
      { default: { a: proxy } },
      { title: proxy },
    ]
    for (const schema of schemas) {
      const violations = violationsOf(schema)
      expect(violations.filter((text) => !text.startsWith('schema'))).toEqual([])
    }
  })

  it('that reads well is accepted, also through a proxy', () => {
    const seen = new Proxy({ type: 'array', items: new Proxy({ type: 'null' }, {}) }, {})
    expect(violationsOf(seen)).toEqual([])
  })

  it('names every violation of a schema, in the order of the walk', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'x' }, b: { oneOf: [{ $ref: '#' }, { type: 'array', items: 1 }] } },
      minProperties: 1,
      required: ['c'],
    }
    expect(violationsOf(schema).map((text) => text.split(' ')[0])).toEqual([
      'schema.minProperties',
      'schema.required',
      'schema.properties.a.type',
      'schema.properties.b.oneOf[0].$ref',
      'schema.properties.b.oneOf[1].items',
    ])
  })

  it.each<[string, (inner: JsonSchemaNode) => JsonSchemaNode, (inner: JsonValue) => JsonValue, string]>([
    ['branches', (inner) => ({ oneOf: [inner, { type: 'string' }] }), (inner) => inner, '.oneOf[0]'],
    ['items', (inner) => ({ type: 'array', items: inner }), (inner) => [inner], '.items'],
    [
      'properties',
      (inner) => ({ type: 'object', properties: { a: inner }, required: ['a'], additionalProperties: false }),
      (inner) => ({ a: inner }),
      '.properties.a',
    ],
  ])('may nest 5,000 levels of %s', (_title, wrapSchema, wrapValue, step) => {
    let schema: JsonSchemaNode = { type: 'null' }
    let broken: JsonSchemaNode = { type: 'null', enum: [] }
    let value: JsonValue = null
    let wrong: JsonValue = 1
    for (let level = 0; level < 5_000; level++) {
      schema = wrapSchema(schema)
      broken = wrapSchema(broken)
      value = wrapValue(value)
      wrong = wrapValue(wrong)
    }
    expect(violationsOf(schema)).toEqual([])
    expect(violationsOf(broken)).toEqual([`schema${step.repeat(5_000)}.enum must be a non-empty array of null values`])
    expect(validateJsonSchemaValue(schema, value)).toEqual([])
    expect(validateJsonSchemaValue(schema, wrong)).toHaveLength(1)
  })

  it('may be as wide as it likes', () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `p${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'null' }]))
    expect(violationsOf({ type: 'object', properties, required: names })).toEqual([])
  })

  it.each<[unknown, string]>([
    [{ type: 'array' }, 'schema.type must be "object" (structured output is object-rooted)'],
    [{}, 'schema.type must be "object" (structured output is object-rooted)'],
    [{ oneOf: [{}, {}] }, 'schema.type must be "object" (structured output is object-rooted)'],
    [{ type: 'array', items: 1 }, 'schema.items must be a schema object'],
  ])('%# is refused where it must be rooted in an object', (schema, violation) => {
    expect(() => assertObjectJsonSchema(schema)).toThrow(
      expect.objectContaining({
        name: 'JsonSchemaError',
        code: 'UNSUPPORTED_SCHEMA',
        message: `unsupported JSON schema: ${violation}`,
        violations: [violation],
      }),
    )
  })

  it('rooted in an object is accepted where that is asked for', () => {
    expect(() => assertObjectJsonSchema({ type: 'object', properties: { a: {} } })).not.toThrow()
  })
})

describe('a value', () => {
  const pretended = {
    [Symbol.for('lossless-json.LosslessNumber')]: true,
    toString: (): never => {
      throw new Error('no')
    },
  }
  const row: JsonSchemaNode = {
    type: 'object',
    properties: { id: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['id'],
    additionalProperties: false,
  }

  it.each<[JsonSchemaNode, unknown, readonly string[]]>([
    [{ type: 'string' }, 1, ['"value" must be a string']],
    [{ type: 'string' }, new String('a'), ['"value" must be a string']],
    [{ type: 'number' }, Infinity, ['"value" must be a finite JSON number']],
    [{ type: 'number' }, -0, []],
    [{ type: 'number' }, null, ['"value" must be a number']],
    [{ type: 'number' }, pretended, ['"value" must be a number']],
    [{ type: 'integer' }, pretended, ['"value" must be an integer']],
    [{ type: 'integer' }, Number.NaN, ['"value" must be an integer']],
    [{ type: 'integer' }, '1', ['"value" must be an integer']],
    [{ type: 'integer' }, 1.0, []],
    [{ type: 'integer' }, new LosslessNumber('1e400'), []],
    [{ type: 'integer' }, new LosslessNumber('1e-400'), ['"value" must be an integer']],
    [{ type: 'string' }, 12345678901234567890n, ['"value" must be a string']],
    [{ type: 'object' }, new LosslessNumber('1e400'), ['"value" must be an object']],
    [{}, [12345678901234567890n, new LosslessNumber('1e400')], []],
    [{ type: 'integer', enum: [1, 2] }, 12345678901234567890n, ['"value" must be one of [1,2]']],
    [{ type: 'null' }, 0, ['"value" must be null']],
    [{ type: 'boolean' }, 0, ['"value" must be a boolean']],
    [{ type: 'string', enum: ['a', 'b'], const: 'a' }, 'c', ['"value" must be one of ["a","b"]']],
    [{ type: 'string', enum: ['a', 'b'], const: 'a' }, 'b', ['"value" must be "a"']],
    [{ type: 'null', const: null }, null, []],
    [{ type: 'array' }, [undefined], ['"value[0]" must be a lossless JSON value']],
    [
      { type: 'array' },
      [1, [new Date(0)], () => 1],
      ['"value[1]" must be a lossless JSON value', '"value[2]" must be a lossless JSON value'],
    ],
    [
      { type: 'array', items: { type: 'array', items: { type: 'null' } } },
      [[null], [0, null, 1]],
      ['"value[1][0]" must be null', '"value[1][2]" must be null'],
    ],
    [{ type: 'array' }, Object.assign([1], { x: 1 }), ['"value" must be a dense lossless JSON array']],
    [{ type: 'array' }, List.of(1), ['"value" must be a dense lossless JSON array']],
    [{ type: 'array' }, 'ab', ['"value" must be an array']],
    [{ type: 'array' }, new Uint8Array(1), ['"value" must be an array']],
    [{ type: 'object' }, null, ['"value" must be an object']],
    [{ type: 'object' }, new Date(0), ['"value" must be an object']],
    [{ type: 'object' }, { a: 1, [Symbol('s')]: 1 }, ['"value" must be a lossless JSON object']],
    [{ type: 'object' }, hidden, ['"value" must be a lossless JSON object']],
    [{ type: 'object' }, { a: new Map(), b: 1 }, ['"value.a" must be a lossless JSON value']],
    [
      { type: 'object', additionalProperties: false },
      { a: 1, b: 2 },
      [
        '"value.a" is not a declared property (additionalProperties: false)',
        '"value.b" is not a declared property (additionalProperties: false)',
      ],
    ],
    [
      { type: 'object', additionalProperties: false },
      { toString: 1 },
      ['"value.toString" is not a declared property (additionalProperties: false)'],
    ],
    [
      { type: 'object', properties: { toString: {} }, required: ['toString'] },
      {},
      ['missing required property "value.toString"'],
    ],
    [
      { type: 'object', properties: JSON.parse('{"__proto__":{"type":"null"}}'), required: ['__proto__'] },
      {},
      ['missing required property "value.__proto__"'],
    ],
    [
      { type: 'object', properties: JSON.parse('{"__proto__":{"type":"null"}}') },
      JSON.parse('{"__proto__":1}'),
      ['"value.__proto__" must be null'],
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'a', []],
    [
      { oneOf: [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'number' }] },
      true,
      ['"value" must match exactly one oneOf branch (matched 0)'],
    ],
    [
      { type: 'object', properties: { a: { oneOf: [{}, { type: 'null' }] } } },
      { a: null },
      ['"value.a" must match exactly one oneOf branch (matched 2)'],
    ],
    // What a schema inherits is no part of it.
    [Object.create({ type: 'string', oneOf: [], enum: [] }), 1, []],
    [Object.assign(Object.create({ enum: ['a'], const: 'a' }), { type: 'string' }), 'b', []],
    [Object.assign(Object.create({ required: ['a'], additionalProperties: false }), { type: 'object' }), { b: 1 }, []],
    [Object.assign(Object.create({ items: { type: 'null' } }), { type: 'array' }), [1], []],
    [{}, runInNewContext('({ a: [1] })'), []],
    [{ type: 'array', items: { type: 'object' } }, runInNewContext('[{}]'), []],
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

  it.each(hostile)('that is or holds an %s is a violation, never an exception', (_title, proxy) => {
    const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
    const schemas: JsonSchemaNode[] = [{}, ...types.map((type): JsonSchemaNode => ({ type }))]
    for (const schema of [...schemas, { oneOf: schemas }]) {
      for (const violation of validateJsonSchemaValue(schema, proxy))
        expect(violation).toMatch(/^"value(?:\.a|\[0\])?" must /)
    }
    const inside = validateJsonSchemaValue({ type: 'array' }, [proxy, 1])
    expect(inside.filter((violation) => violation !== '"value[0]" must be a lossless JSON value')).toEqual([])
  })

  it('under a schema of a type that does not exist is a mistake of the caller', () => {
    const forged = { type: 'text' } as unknown as JsonSchemaNode
    expect(() => validateJsonSchemaValue(forged, 1)).toThrow(
      new TypeError('a schema of a known type was expected, text came'),
    )
  })

  it('may be as wide as it likes', () => {
    const items = Array.from({ length: 200_000 }, () => null)
    expect(validateJsonSchemaValue({ type: 'array', items: { type: 'null' } }, items)).toEqual([])
  })
})
