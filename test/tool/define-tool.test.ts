import { LosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/json/value.ts'
import { defineTool, type ToolDefinition, type ToolResult, type ToolRunContext } from '../../src/index.ts'

// Bodies of these tests do not look at their context.
const context = {} as ToolRunContext

describe('a defined tool', () => {
  const square: ToolDefinition = defineTool({
    name: 'square',
    description: 'Squares.',
    parameters: { n: { type: 'integer', required: true }, note: { type: 'string' } },
    output: { schema: { type: 'integer' } },
    isConcurrencySafe: ({ n }) => n > 0,
    presentCall: ({ n }) => ({ card: 'generic', title: `square ${n}` }),
    presentResult: ({ n }, { isError, meta }) => ({
      card: 'generic',
      title: `${n} failed: ${isError} ${String(meta)}`,
    }),
    execute: ({ n }) => n * n,
  })

  it('carries the schemas that its specs compile to', () => {
    expect(square).toMatchObject({
      name: 'square',
      description: 'Squares.',
      parameters: {
        type: 'object',
        properties: { n: { type: 'integer' }, note: { type: 'string' } },
        required: ['n'],
      },
      output: { schema: { type: 'integer' } },
    })
    expect(Object.keys(square)).not.toContain('timeoutMs')
    expect(defineTool({ name: 't', description: '', parameters: {}, execute: () => null }).output.schema).toEqual({})
  })

  it('hands its body arguments and context as they came', async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      name: 't',
      description: '',
      parameters: { a: { type: 'string', default: 'x' } },
      execute: (args, exec) => {
        seen.push(args, exec)
        return null
      },
    })
    const args = Object.freeze({ more: 1 })
    expect(await tool.execute(args, context)).toBe(null)
    expect([seen[0] === args, seen[1] === context]).toEqual([true, true])
  })

  it('passes on what it does not know about', () => {
    const projectContent = (): undefined => undefined
    const finalizeContent = (): undefined => undefined
    const tool = defineTool({
      name: 't',
      description: '',
      parameters: {},
      timeoutMs: 1.5,
      projectContent,
      finalizeContent,
      execute: () => null,
    })
    expect(tool).toMatchObject({ timeoutMs: 1.5, projectContent, finalizeContent })
  })

  it.each<[JsonValue, string]>([
    ['a text', 'a text'],
    ['', ''],
    [null, 'null'],
    [{ a: [1, 12345678901234567890n] }, '{\n  "a": [\n    1,\n    12345678901234567890\n  ]\n}'],
  ])('shows a value as text where it has no renderer: %#', (value, text) => {
    const tool = defineTool({ name: 't', description: '', parameters: {}, execute: () => value })
    expect(tool.output.render({}, value)).toEqual([{ type: 'text', text }])
    expect(tool.output.presentationMeta).toBe(undefined)
  })

  it('renders and presents with its own functions', () => {
    const tool = defineTool({
      name: 't',
      description: '',
      parameters: { a: { type: 'string', required: true } },
      output: {
        schema: { type: 'array', items: { type: 'integer' } },
        render: ({ a }, value) => [{ type: 'text', text: `${a}: ${value.length}` }],
        presentationMeta: ({ a }, value) => ({ a, first: value[0] ?? null }),
      },
      execute: () => [1, 2],
    })
    expect(tool.output.render({ a: 'x' }, [1, 2])).toEqual([{ type: 'text', text: 'x: 2' }])
    expect(tool.output.presentationMeta?.({ a: 'x' }, [1, 2])).toEqual({ a: 'x', first: 1 })
  })

  it('runs with arguments that fit', async () => {
    expect(await square.execute({ n: 3, extra: true }, context)).toBe(9)
    expect(square.output.render({ n: 3 }, 9)).toEqual([{ type: 'text', text: '9' }])
  })

  it.each<[unknown, readonly string[]]>([
    [{}, ['missing required property "n"']],
    [{ n: '3', note: 7 }, ['"n" must be an integer', '"note" must be a string']],
    [
      { n: 12345678901234567890n },
      ['"n" must be a number that a double holds exactly, 12345678901234567890 is not (exact: true accepts it)'],
    ],
    [null, ['"arguments" must be an object']],
    [[3], ['"arguments" must be an object']],
  ])('%# of bad arguments is INVALID_ARGS with every violation, before the body', async (args, violations) => {
    await expect(square.execute(args, context)).rejects.toMatchObject({
      name: 'ToolArgsError',
      code: 'INVALID_ARGS',
      message: `invalid arguments: ${violations.join('; ')}`,
      violations,
    })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'x'],
    ['null', null],
    ['a missing property', {}],
    ['another type', { n: '1' }],
    ['an exact number', { n: 12345678901234567890n }],
    [
      'a getter that throws',
      {
        get n(): never {
          throw new Error('no')
        },
      },
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no')
          },
        },
      ),
    ],
  ])('classifies and presents %s with no and nothing, and does not throw', (_title, args) => {
    const result: ToolResult = { content: [], isError: false }
    expect(square.isConcurrencySafe?.(args)).toBe(false)
    expect(square.presentCall?.(args)).toBe(undefined)
    expect(square.presentResult?.(args, result)).toBe(undefined)
  })

  it('classifies and presents arguments that fit', () => {
    const result: ToolResult = { content: [], isError: true, meta: 7 }
    expect([square.isConcurrencySafe?.({ n: 1 }), square.isConcurrencySafe?.({ n: -1 })]).toEqual([true, false])
    expect(square.presentCall?.({ n: 2 })).toEqual({ card: 'generic', title: 'square 2' })
    expect(square.presentResult?.({ n: 2 }, result)).toEqual({ card: 'generic', title: '2 failed: true 7' })
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
    const violation = `"value" must be a number that a double holds exactly, ${value} is not (exact: true accepts it)`
    await expect(make({ type }).execute({}, context)).rejects.toMatchObject({
      name: 'ToolOutputError',
      code: 'INVALID_TOOL_OUTPUT',
      message: `tool "t" returned invalid output: ${violation}`,
      violations: [violation],
    })
    const list = { type: 'array', items: { type } }
    await expect(make(list).execute({}, context)).rejects.toMatchObject({ violations: ['"value" must be an array'] })
    expect(await make({ type, exact: true }).execute({}, context)).toBe(value)
  })

  it.each<[string, object, string]>([
    ['no name', { name: '' }, 'defineTool: name must be a text that is not empty'],
    ['no description', { description: undefined }, 'defineTool(t): description must be a text'],
    ['no body', { execute: 7 }, 'defineTool(t): execute must be a function'],
    ['no time', { timeoutMs: 0 }, 'defineTool(t): timeoutMs must be a positive finite number'],
    ['endless time', { timeoutMs: Infinity }, 'defineTool(t): timeoutMs must be a positive finite number'],
    ['time as a text', { timeoutMs: '1' }, 'defineTool(t): timeoutMs must be a positive finite number'],
    ['time that is none', { timeoutMs: Number.NaN }, 'defineTool(t): timeoutMs must be a positive finite number'],
    ['a name that is no text', { name: 7 }, 'defineTool: name must be a text that is not empty'],
    ['a classifier that is none', { isConcurrencySafe: true }, 'defineTool(t): isConcurrencySafe must be a function'],
    ['a presenter that is none', { presentCall: {} }, 'defineTool(t): presentCall must be a function'],
    ['a result presenter that is none', { presentResult: 'x' }, 'defineTool(t): presentResult must be a function'],
    ['a projector that is none', { projectContent: 1 }, 'defineTool(t): projectContent must be a function'],
    ['a finalizer that is none', { finalizeContent: null }, 'defineTool(t): finalizeContent must be a function'],
    ['output that is none', { output: 7 }, 'defineTool(t): output must be { schema, render?, presentationMeta? }'],
    [
      'a renderer that is none',
      { output: { schema: { type: 'json' }, render: 'x' } },
      'defineTool(t): output.render must be a function',
    ],
    [
      'a presentation that is none',
      { output: { schema: { type: 'json' }, presentationMeta: {} } },
      'defineTool(t): output.presentationMeta must be a function',
    ],
    ['no parameters', { parameters: undefined }, 'unsupported JSON schema: parameters must be a schema object'],
    ['a bad parameter', { parameters: { a: { type: 'x' } } }, 'unsupported JSON schema: parameters.a.type must be'],
    ['no output schema', { output: {} }, 'unsupported JSON schema: schema must be a schema object'],
    [
      'a required output',
      { output: { schema: { type: 'string', required: true } } },
      'unsupported JSON schema: schema.required is not supported by the value schema DSL',
    ],
  ])('with %s is refused', (_title, part, message) => {
    const spec = { name: 't', description: '', parameters: {}, execute: () => null, ...part }
    expect(() => defineTool(spec as Parameters<typeof defineTool>[0])).toThrow(message)
  })
})
