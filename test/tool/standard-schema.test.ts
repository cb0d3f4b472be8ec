import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type ToolDefinition } from '../../src/index.ts'
import { failureOf, house } from '../pipeline/house.ts'
import { withPtc } from '../helpers/ptc.ts'

const libraries: readonly (readonly [string, ToolDefinition])[] = [
  [
    'zod',
    defineTool({
      name: 'tool',
      description: 'Adds.',
      parameters: z.object({ left: z.number(), right: z.number().min(1), note: z.string().optional() }),
      output: { schema: z.object({ sum: z.number() }) },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ left: number; right: number; note?: string | undefined }>()
        return { sum: args.left + args.right }
      },
    }),
  ],
  [
    'arktype',
    defineTool({
      name: 'tool',
      description: 'Adds.',
      parameters: type({ left: 'number', right: 'number >= 1', 'note?': 'string' }),
      output: { schema: type({ sum: 'number' }) },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ left: number; right: number; note?: string }>()
        return { sum: args.left + args.right }
      },
    }),
  ],
  [
    'valibot',
    defineTool({
      name: 'tool',
      description: 'Adds.',
      parameters: toStandardJsonSchema(
        v.object({ left: v.number(), right: v.pipe(v.number(), v.minValue(1)), note: v.optional(v.string()) }),
      ),
      output: { schema: toStandardJsonSchema(v.object({ sum: v.number() })) },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ left: number; right: number; note?: string | undefined }>()
        return { sum: args.left + args.right }
      },
    }),
  ],
]

describe.each(libraries)('a tool with schemas of %s', (_library, tool) => {
  it('declares its parameters as the JSON Schema of an object', () => {
    expect(tool.parameters).toMatchObject({
      type: 'object',
      properties: { left: { type: 'number' }, right: { type: 'number' }, note: { type: 'string' } },
      required: ['left', 'right'],
    })
    expect(tool.parameters).not.toHaveProperty('$schema')
    expect(tool.output.schema).toMatchObject({ type: 'object', properties: { sum: { type: 'number' } } })
  })

  it('runs with arguments that fit', async () => {
    expect(await house(tool).call({ arguments: { left: 1, right: 2 } })).toMatchObject({ value: { sum: 3 } })
  })

  it.each([
    ['a missing key', { left: 1 }, /right/],
    ['another type', { left: 'x', right: 2 }, /left/],
    ['a constraint', { left: 1, right: 0 }, /right/],
    ['no object', 'x', /invalid arguments/],
  ])('refuses %s with INVALID_ARGS before the body', async (_title, args, problem) => {
    const result = await house(tool).call({ arguments: args })
    expect(failureOf(result)).toEqual(['INVALID_ARGS', expect.stringMatching(problem)])
  })

  it('is callable from a program', async () => {
    await withPtc({ tools: [tool] }, async (ptc) => {
      const outcome = await ptc.run(
        'return [await tools.tool({ left: 1, right: 2 }), await tools.tool({ left: 1 }).catch((error) => error.code)]',
      )
      expect(outcome.value).toEqual([{ sum: 3 }, 'INVALID_ARGS'])
    })
  })
})

describe('what a schema makes of arguments and values', () => {
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'tool',
    description: 'A tool.',
    parameters: z.object({ name: z.string().trim(), times: z.int().default(2) }),
    output: {
      schema: z.object({ text: z.string().toUpperCase() }),
      render: ({ times }, { text }) => [{ type: 'text', text: `${text}/${times}` }],
      presentationMeta: ({ name }) => name,
    },
    isConcurrencySafe: ({ times }) => times === 2,
    presentCall: ({ name, times }) => ({ card: 'generic', title: `${name} ${times}` }),
    execute: (args) => {
      seen.push(args)
      return { text: args.name.repeat(args.times) }
    },
  })

  it('reaches the body, the renderer and the presenters, while policies see what was sent', async () => {
    const { call, tools } = house(tool)
    tools.on('tools/pre-execute', async (exec, next) => {
      seen.push(exec.arguments)
      return next()
    })
    expect(await call({ arguments: { name: ' ab ' } })).toMatchObject({
      value: { text: 'ABAB' },
      content: [{ type: 'text', text: 'ABAB/2' }],
      meta: 'ab',
    })
    expect(seen).toEqual([{ name: ' ab ' }, { name: 'ab', times: 2 }])
    expect([tool.isConcurrencySafe?.({ name: 'x' }), tool.isConcurrencySafe?.({ name: 5 })]).toEqual([true, false])
    expect([tool.presentCall?.({ name: ' x ' }), tool.presentCall?.({})]).toEqual([
      { card: 'generic', title: 'x 2' },
      undefined,
    ])
  })

  it('is INVALID_TOOL_OUTPUT where the value does not fit', async () => {
    const wrong = defineTool({
      name: 'tool',
      description: 'A tool.',
      parameters: z.object({}),
      output: { schema: z.object({ size: z.number().max(5) }) },
      execute: () => ({ size: 6 }),
    })
    expect(failureOf(await house(wrong).call({ arguments: {} }))).toEqual([
      'INVALID_TOOL_OUTPUT',
      expect.stringContaining('"size"'),
    ])
  })

  it('may take its time, and then the call runs alone', async () => {
    const slow = defineTool({
      name: 'tool',
      description: 'A tool.',
      parameters: z.object({ id: z.string().refine(async (id) => id === 'known', 'is not known') }),
      isConcurrencySafe: () => true,
      execute: ({ id }) => id,
    })
    const { call } = house(slow)
    expect(await call({ arguments: { id: 'known' } })).toMatchObject({ value: 'known' })
    expect(failureOf(await call({ arguments: { id: 'other' } }))).toEqual([
      'INVALID_ARGS',
      'invalid arguments: "id": is not known',
    ])
    expect(slow.isConcurrencySafe?.({ id: 'known' })).toBe(false)
  })

  it('does not fit when validation throws, which fails that call only', async () => {
    const broken = defineTool({
      name: 'tool',
      description: 'A tool.',
      parameters: z.object({
        id: z.string().refine(() => {
          throw new Error('on purpose')
        }),
      }),
      execute: ({ id }) => id,
    })
    expect(failureOf(await house(broken).call({ arguments: { id: 'x' } }))).toEqual([undefined, 'on purpose'])
    expect(broken.presentCall).toBeUndefined()
  })
})

describe('a schema that cannot be taken', () => {
  const define = (parameters: unknown, output?: unknown): unknown =>
    defineTool({
      name: 'tool',
      description: 'A tool.',
      // Tools may be written without types.
      parameters: parameters as never,
      ...(output === undefined ? {} : { output: { schema: output as never } }),
      execute: async () => Promise.reject(new Error('never called')),
    })
  it.each([
    ['no object', z.string(), undefined, /parameters must be the schema of an object/],
    [
      'without JSON Schema',
      v.object({ a: v.string() }),
      undefined,
      /valibot cannot say its JSON Schema.*toStandardJsonSchema/,
    ],
    ['beyond JSON Schema', z.object({ at: z.date() }), undefined, /zod cannot write the JSON Schema/],
    ['a value beyond JSON', z.object({}), z.date(), /output\.schema: zod cannot write the JSON Schema/],
  ])('%s is refused when the tool is defined', (_title, parameters, output, problem) => {
    expect(() => define(parameters, output)).toThrow(problem)
  })

  it('is not seen in parameters of that name', () => {
    const tool = defineTool({
      name: 'tool',
      description: 'A tool.',
      parameters: { '~standard': { type: 'string', required: true } },
      execute: (args) => args['~standard'],
    })
    expect(tool.parameters).toMatchObject({ required: ['~standard'] })
  })
})
