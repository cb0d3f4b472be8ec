import { LosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import {
  defineTool,
  parameterSchemaSpecToJsonSchema,
  type ToolDefinition,
  type ToolRunContext,
  valueSchemaSpecToJsonSchema,
} from '../../src/index.ts'
import { validateArgs } from '../../src/tool/spec.ts'

// Bodies of these tests do not look at their context.
const context = {} as ToolRunContext

describe('a spec', () => {
  it('of parameters compiles to an open object', () => {
    const spec = {
      city: { type: 'string', description: 'Name.', required: true },
      units: { type: 'string', enum: ['c', 'f'], default: 'c' },
      box: {
        type: 'object',
        additionalProperties: false,
        properties: { x: { type: 'number', required: true }, y: { type: 'number' } },
      },
      any: { type: 'json' },
      list: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
    } as const
    expect(parameterSchemaSpecToJsonSchema(spec)).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name.' },
        units: { type: 'string', enum: ['c', 'f'], default: 'c' },
        box: {
          type: 'object',
          additionalProperties: false,
          properties: { x: { type: 'number' }, y: { type: 'number' } },
          required: ['x'],
        },
        any: {},
        list: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
      },
      required: ['city'],
    })
  })

  const circular: Record<string, unknown> = { type: 'array' }
  circular['items'] = circular
  it.each<[unknown, string]>([
    [{ type: 'text' }, 'schema.type must be string/number/integer/boolean/null/array/object/json, or use oneOf'],
    [{}, 'schema.type must be'],
    [{ type: 'string', oneOf: [] }, 'schema.type must be'],
    [{ type: 'object' }, 'schema.additionalProperties must be explicitly true or false'],
    [{ type: 'string', minLength: 1 }, 'schema.minLength is not supported by the value schema DSL'],
    [{ type: 'string', required: true }, 'schema.required is not supported by the value schema DSL'],
    [{ type: 'number', exact: false }, 'schema.exact must be true where it is set'],
    [
      { type: 'object', additionalProperties: true, properties: { a: { type: 'null', required: false } } },
      'schema.properties.a.required must be true where it is set',
    ],
    [{ type: 'array', items: 7 }, 'schema.items must be a schema object'],
    [{ oneOf: [{ type: 'null' }] }, 'schema.oneOf must be an array of at least two schemas'],
    [{ type: 'string', enum: [1] }, 'schema.enum must be a non-empty array of string values'],
    [circular, 'is circular'],
    [{ [Symbol('s')]: 1, type: 'null' }, 'schema must be a schema object'],
  ])('%# is refused at once', (spec, message) => {
    expect(() => valueSchemaSpecToJsonSchema(spec as { type: 'json' })).toThrow(message)
  })

  it('keeps a property named __proto__', () => {
    const schema = parameterSchemaSpecToJsonSchema(JSON.parse('{"__proto__":{"type":"string","required":true}}'))
    expect(validateArgs(schema, {})).toEqual(['missing required property "__proto__"'])
  })
})

describe('a defined tool', () => {
  const square: ToolDefinition = defineTool({
    name: 'square',
    description: 'Squares.',
    parameters: { n: { type: 'integer', required: true }, note: { type: 'string' } },
    output: { schema: { type: 'integer' } },
    isConcurrencySafe: ({ n }) => n > 0,
    presentCall: ({ n }) => ({ card: 'generic', title: `square ${n}` }),
    execute: ({ n }) => n * n,
  })

  it('runs with arguments that fit', async () => {
    expect(await square.execute({ n: 3, extra: true }, context)).toBe(9)
    expect(square.output.render({ n: 3 }, 9)).toEqual([{ type: 'text', text: '9' }])
  })

  it.each([
    [{}, 'invalid arguments: missing required property "n"'],
    [{ n: '3', note: 7 }, 'invalid arguments: "n" must be an integer; "note" must be a string'],
    [{ n: 12345678901234567890n }, '"n" must be a number that a double holds exactly, 12345678901234567890 is not'],
    [null, 'invalid arguments: "arguments" must be an object'],
  ])('%# of bad arguments is INVALID_ARGS', async (args, message) => {
    await expect(square.execute(args, context)).rejects.toMatchObject({
      code: 'INVALID_ARGS',
      message: expect.stringContaining(message),
    })
  })

  it('classifies and presents without ever throwing', () => {
    expect([
      square.isConcurrencySafe?.({ n: 1 }),
      square.isConcurrencySafe?.({ n: -1 }),
      square.isConcurrencySafe?.('x'),
    ]).toEqual([true, false, false])
    expect([square.presentCall?.({ n: 2 }), square.presentCall?.({})]).toEqual([
      { card: 'generic', title: 'square 2' },
      undefined,
    ])
  })

  it.each([
    ['number', 12345678901234567890n],
    ['number', new LosslessNumber('0.1234567890123456789')],
    ['integer', 12345678901234567890n],
  ] as const)('of %s refuses an inexact number from its body, unless the node is exact', async (type, value) => {
    const make = (schema: object): ToolDefinition =>
      defineTool({
        name: 't',
        description: '',
        parameters: {},
        output: { schema: schema as { type: 'json' } },
        execute: () => value,
      })
    await expect(make({ type }).execute({}, context)).rejects.toMatchObject({ code: 'INVALID_TOOL_OUTPUT' })
    expect(await make({ type, exact: true }).execute({}, context)).toBe(value)
  })

  it.each<[string, object, string]>([
    ['no name', { name: '' }, 'defineTool: name must be a text that is not empty'],
    ['no description', { description: undefined }, 'defineTool(t): description must be a text'],
    ['no body', { execute: 7 }, 'defineTool(t): execute must be a function'],
    ['no time', { timeoutMs: 0 }, 'defineTool(t): timeoutMs must be a positive finite number'],
    ['endless time', { timeoutMs: Infinity }, 'defineTool(t): timeoutMs must be a positive finite number'],
    ['a bad parameter', { parameters: { a: { type: 'x' } } }, 'parameters.a.type must be'],
  ])('with %s is refused', (_title, part, message) => {
    const spec = { name: 't', description: '', parameters: {}, execute: () => null, ...part }
    expect(() => defineTool(spec as Parameters<typeof defineTool>[0])).toThrow(message)
  })
})
