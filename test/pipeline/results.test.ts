import { describe, expect, it } from 'vitest'
import {
  type ContentBlock,
  HarnessError,
  type PostToolDecision,
  type ToolDefinition,
  type ToolExecution,
  type ToolExecutionInput,
  ToolNotFoundError,
  type UserMessage,
} from '../../src/index.ts'
import { agent, failureOf, house, isDeepFrozen, labels, message, text } from './house.ts'

type House = ReturnType<typeof house>
type Arrange = (house: House, control: AbortController) => Partial<ToolExecutionInput> | undefined | void

const broken = (): never => {
  throw new HarnessError('broken', 'BROKEN')
}
const render: ToolDefinition['output']['render'] = () => []

/** Every way that a call can take: what the tool is, what is arranged around it, and what comes out. */
const PATHS: readonly (readonly [string, Partial<ToolDefinition>, Arrange, unknown])[] = [
  ['a success', {}, () => undefined, 'ok'],
  ['arguments that are not JSON', {}, () => ({ arguments: new Map() }), ['INVALID_ARGS', expect.any(String)]],
  [
    'arguments that cannot be read',
    {},
    () =>
      Object.defineProperty({ name: 'tool' }, 'arguments', {
        get: broken,
        enumerable: true,
      }) as Partial<ToolExecutionInput>,
    ['BROKEN', 'broken'],
  ],
  [
    'a caller that has cancelled',
    {},
    (_house, control) => control.abort(),
    ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch'],
  ],
  [
    'a policy that denies',
    {},
    ({ tools }) => void tools.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'no' })),
    [undefined, 'no'],
  ],
  [
    'a policy that cancels',
    {},
    ({ tools }) => void tools.on('tools/pre-execute', async () => ({ kind: 'cancel' })),
    ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch'],
  ],
  [
    'a policy that asks where nobody answers',
    {},
    ({ tools }) => void tools.on('tools/pre-execute', async () => ({ kind: 'ask', reason: 'why' })),
    ['APPROVAL_UNAVAILABLE', 'why'],
  ],
  [
    'a policy that throws',
    {},
    ({ tools }) => void tools.on('tools/pre-execute', broken),
    ['BROKEN', 'tools/pre-execute listener "broken" failed: broken'],
  ],
  [
    'a policy that decides nothing',
    {},
    ({ tools }) => void tools.on('tools/pre-execute', (async () => undefined) as never),
    [undefined, 'tools/pre-execute listener #1 failed: it must decide allow, deny, cancel or ask, undefined came'],
  ],
  ['a guard that denies', {}, ({ tools }) => void tools.guard(() => 'no'), [undefined, 'no']],
  ['a guard that throws', {}, ({ tools }) => void tools.guard(broken), ['BROKEN', 'guard "broken" failed: broken']],
  [
    'a wrapper that throws',
    {},
    ({ tools }) => void tools.on('tools/execute', broken),
    ['BROKEN', 'tools/execute listener "broken" failed: broken'],
  ],
  ['a body that throws', { execute: broken }, () => undefined, ['BROKEN', 'broken']],
  [
    'a body that returns no JSON',
    { execute: async () => () => 1 },
    () => undefined,
    ['INVALID_TOOL_OUTPUT', expect.stringContaining('value is not lossless JSON: $: a function is not JSON')],
  ],
  [
    'a renderer that throws',
    { output: { schema: {}, render: broken } },
    () => undefined,
    ['INVALID_TOOL_OUTPUT', expect.stringContaining('output.render failed: broken')],
  ],
  [
    'a projector that throws',
    { output: { schema: {}, render, presentationMeta: broken } },
    () => undefined,
    ['INVALID_TOOL_OUTPUT', expect.stringContaining('output.presentationMeta failed: broken')],
  ],
  [
    'projectContent that throws',
    { projectContent: broken },
    () => undefined,
    ['BROKEN', 'projectContent of tool "tool" failed: broken'],
  ],
  [
    'projectContent that gives no content',
    { projectContent: () => 'text' as unknown as ContentBlock[] },
    () => undefined,
    [undefined, 'projectContent of tool "tool" failed: an array of content blocks was expected'],
  ],
  [
    'projectContent that gives no JSON',
    { projectContent: () => [{ type: 'text', text: 'x', at: new Date(0) } as ContentBlock] },
    () => undefined,
    [undefined, expect.stringContaining('tool result must be losslessly JSON-serializable: $[0].at: Date is not JSON')],
  ],
  [
    'post-execute that throws',
    {},
    ({ tools }) => void tools.on('tools/post-execute', broken),
    ['BROKEN', 'tools/post-execute listener "broken" failed: broken'],
  ],
  [
    'post-execute that blocks',
    {},
    ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'block', feedback: text('no') })),
    [undefined, 'no'],
  ],
  [
    'post-execute that decides nothing',
    {},
    ({ tools }) => void tools.on('tools/post-execute', (async () => undefined) as never),
    [undefined, 'tools/post-execute listener #1 failed: it must decide accept or block, undefined came'],
  ],
  [
    'a block whose feedback is not JSON',
    {},
    ({ tools }) =>
      void tools.on('tools/post-execute', async () => ({
        kind: 'block',
        feedback: [{ type: 'text', text: 'no', n: Number.NaN } as ContentBlock],
      })),
    [undefined, expect.stringContaining('tool result must be losslessly JSON-serializable: $.content[0].n: NaN')],
  ],
  [
    'a block whose feedback is none',
    {},
    ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'block' }) as PostToolDecision),
    [undefined, 'tools/post-execute listener #1 failed: feedback: an array of content blocks was expected'],
  ],
  [
    'a context that is not JSON',
    {
      execute: async (_args, exec) => (
        exec.deferContext({ role: 'user', content: [], source: 1n ** 2n, at: new Date(0) } as UserMessage),
        1
      ),
    },
    () => undefined,
    [undefined, expect.stringContaining('losslessly JSON-serializable: $.additionalContexts[0].at: Date is not JSON')],
  ],
  [
    'a caller that cancels in the body',
    {},
    ({ tools }, control) =>
      void tools.on('tools/execute', async (_exec, next) => {
        const result = await next()
        control.abort()
        return result
      }),
    ['ABORTED', 'tool call aborted'],
  ],
  [
    'a tool unregistered after it was found',
    {},
    ({ tools, unregister }) => void tools.guard(() => unregister() as undefined),
    ['UNKNOWN_TOOL', 'unknown tool "tool"'],
  ],
]

describe('the end of a call', () => {
  it.each(PATHS)('%s: one finalizer, one notification, one frozen result', async (_title, part, arrange, outcome) => {
    const control = new AbortController()
    const home = house(part)
    const told: unknown[] = []
    home.tools.on('tools/result', (_exec, result) => void told.push(result) as undefined)
    const input = { callId: 'c1', name: 'tool', arguments: { a: 1 }, signal: control.signal, agent }
    const more = arrange(home, control) ?? {}
    const result = await home.pipeline.execute(Object.defineProperties(input, Object.getOwnPropertyDescriptors(more)))
    expect(failureOf(result)).toEqual(outcome)
    expect([home.seen.finalized, home.seen.results]).toEqual([1, 1])
    expect(told).toEqual([result])
    expect(told[0]).toBe(result)
    expect(isDeepFrozen(result)).toBe(true)
    expect(Object.hasOwn(result, 'value')).toBe(!result.isError)
  })

  it('of an unknown tool has no finalizer, and one notification', async () => {
    const { call, seen } = house()
    expect(failureOf(await call({ name: 'other' }))).toEqual(['UNKNOWN_TOOL', 'unknown tool "other"'])
    expect(seen).toEqual({ bodies: 0, finalized: 0, results: 1 })
  })

  it('goes through the finalizer that the call began with', async () => {
    const finalized: string[] = []
    const home = house({ finalizeContent: () => (finalized.push('old'), undefined) })
    home.tools.on('tools/pre-execute', async (_exec, next) => {
      home.unregister()
      home.tools.register({
        name: 'tool',
        description: '',
        parameters: {},
        output: { schema: {}, render },
        execute: async () => 'new',
        finalizeContent: () => (finalized.push('new'), undefined),
      })
      return next()
    })
    const result = await home.call()
    expect([result.value, finalized]).toEqual(['new', ['old']])
  })

  it('lets a finalizer bound the text of a failure, beside which all else stays', async () => {
    const { call } = house({
      execute: () => Promise.reject(new HarnessError('a very long story', 'LONG', { reason: 'raw' })),
      finalizeContent: (_exec, { content }) =>
        content.map((block) => (block.type === 'text' ? { ...block, text: block.text.slice(0, 9) } : block)),
    })
    expect(await call()).toEqual({
      isError: true,
      error: { message: 'a very long story', info: { name: 'HarnessError', code: 'LONG', reason: 'raw' } },
      content: text('Error: a '),
    })
  })

  it('shows a finalizer a frozen result that it cannot change', async () => {
    const errors: unknown[] = []
    const { call } = house({
      finalizeContent: (_exec, result) => {
        try {
          result.content.push({ type: 'text', text: 'more' })
        } catch (thrown) {
          errors.push(thrown)
        }
        return undefined
      },
    })
    expect((await call()).content).toEqual(text('{"ok":true}'))
    expect(errors).toEqual([expect.any(TypeError)])
  })
})

describe('what a body throws', () => {
  class Odd extends HarnessError {}
  const hostile = new Proxy(
    {},
    {
      get: broken,
      getPrototypeOf: broken,
      has: broken,
    },
  )

  it.each<[string, unknown, unknown]>([
    ['an error', new TypeError('plain'), { message: 'plain' }],
    ['a HarnessError', new Odd('odd', 'ODD'), { message: 'odd', info: { name: 'Odd', code: 'ODD' } }],
    [
      'a HarnessError with a reason',
      new Odd('odd', 'ODD', { reason: 'raw', cause: 1 }),
      { message: 'odd', info: { name: 'Odd', code: 'ODD', reason: 'raw' } },
    ],
    ['an object with a message', { message: 'said' }, { message: 'said' }],
    ['a text', 'said', { message: 'said' }],
    ['an object without a message', {}, { message: '[object Object]' }],
    ['nothing', undefined, { message: 'undefined' }],
    ['what cannot even be looked at', hostile, { message: '<unprintable thrown value>' }],
  ])('%s is a failed result', async (_title, thrown, error) => {
    const { tools, call } = house({ execute: () => Promise.reject(thrown) })
    const posts: unknown[] = []
    tools.on('tools/post-execute', async (_exec, result, next) => (posts.push(result.error), next()))
    const { message: said } = error as { message: string }
    expect(await call()).toEqual({ isError: true, error, content: text(`Error: ${said}`) })
    expect(posts).toEqual([error])
  })
})

describe('observers', () => {
  it('of all scopes that see the call are told the same frozen objects', async () => {
    const { tools, call } = house()
    const told: [ToolExecution, unknown][] = []
    const other = { ...agent, id: 'other' }
    tools.on('tools/result', (...seen) => void told.push(seen) as undefined)
    tools.in(agent).on('tools/result', (...seen) => void told.push(seen) as undefined)
    tools.in(other).on('tools/result', () => void told.push(expect.unreachable()) as undefined)
    const result = await call()
    expect(told.map(([, seen]) => seen === result)).toEqual([true, true])
    expect(told[0]?.[0]).toBe(told[1]?.[0])
    expect(told[0]?.[0]).toMatchObject({ callId: 'c1', rootCallId: 'c1', name: 'tool', arguments: { a: 1 }, agent })
    expect(typeof told[0]?.[0].token).toBe('symbol')
  })

  it('that are scoped are not told of calls without an agent', async () => {
    const { tools, pipeline } = house()
    let told = 0
    tools.in(agent).on('tools/result', () => void told++ as undefined)
    tools.in(agent).on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'not for you' }))
    const input = { callId: 'c', name: 'tool', arguments: {}, signal: new AbortController().signal }
    expect([failureOf(await pipeline.execute(input)), told]).toEqual(['ok', 0])
    expect([failureOf(await pipeline.execute({ ...input, agent })), told]).toEqual([[undefined, 'not for you'], 1])
    const child = { ...agent, id: 'child', parent: agent }
    expect([failureOf(await pipeline.execute({ ...input, agent: child })), told]).toEqual([
      [undefined, 'not for you'],
      2,
    ])
  })
})

describe('an input', () => {
  it('is read once, field by field, also when its arguments are refused', async () => {
    for (const [args, outcome] of [
      [{ a: 1 }, 'ok'],
      [undefined, ['INVALID_ARGS', expect.any(String)]],
    ] as const) {
      const { pipeline } = house()
      const fields: ToolExecutionInput = {
        callId: 'c',
        rootCallId: 'r',
        name: 'tool',
        arguments: args,
        agent,
        signal: new AbortController().signal,
      }
      const reads = new Map<PropertyKey, number>()
      const input = new Proxy(fields, {
        get: (target, key) => {
          reads.set(key, (reads.get(key) ?? 0) + 1)
          return Reflect.get(target, key) as unknown
        },
      })
      expect(failureOf(await pipeline.execute(input))).toEqual(outcome)
      expect(Object.fromEntries(reads)).toEqual({
        callId: 1,
        rootCallId: 1,
        name: 1,
        arguments: 1,
        agent: 1,
        signal: 1,
        schema: 1,
        toolSet: 1,
        parent: 1,
      })
      const refused = await pipeline.execute(input, { refusal: new ToolNotFoundError('tool') })
      expect([failureOf(refused), new Set(reads.values())]).toEqual([
        outcome === 'ok' ? ['UNKNOWN_TOOL', 'unknown tool "tool"'] : outcome,
        new Set([2]),
      ])
    }
  })

  it('whose arguments change the registry when they are read still ends in the tool that was there', async () => {
    const home = house()
    const input = Object.defineProperty(
      { callId: 'c', name: 'tool', signal: new AbortController().signal },
      'arguments',
      { get: () => (home.unregister(), new Date(0)) },
    ) as ToolExecutionInput // the getter is the field that the type asks for
    expect(failureOf(await home.pipeline.execute(input))).toEqual(['INVALID_ARGS', expect.any(String)])
    expect(home.seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('has its own token, and carries root, parent and schema through every stage', async () => {
    const { tools, pipeline } = house()
    const stages: ToolExecution[] = []
    tools.on('tools/pre-execute', async (exec, next) => (stages.push(exec), next()))
    tools.on('tools/post-execute', async (exec, _result, next) => (stages.push(exec), next()))
    tools.on('tools/result', (exec) => void stages.push(exec) as undefined)
    const signal = new AbortController().signal
    const outer = pipeline.begin({ callId: 'o', name: 'tool', arguments: {}, signal }).execution
    const schema = { name: 'tool', description: 'then', parameters: {} }
    await pipeline.execute({
      callId: 'i',
      rootCallId: 'o',
      name: 'tool',
      arguments: {},
      signal,
      parent: outer.token,
      schema,
    })
    expect(new Set(stages).size).toBe(1)
    expect(stages[0]).toMatchObject({ callId: 'i', rootCallId: 'o', parent: outer.token, schema })
    expect(stages[0]?.token).not.toBe(outer.token)
  })
})

describe('contexts and the end of the turn', () => {
  const body: ToolDefinition['execute'] = async (_args, exec) => {
    exec.deferContext(message('body'))
    exec.concludeTurn()
    return 1
  }

  it.each<[string, Partial<ToolDefinition>, Arrange, unknown, boolean]>([
    ['a success', {}, () => undefined, [{ kind: 'body' }], true],
    [
      'a replaced content',
      {},
      ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'accept', content: text('new') })),
      [{ kind: 'body' }],
      true,
    ],
    [
      'a replaced value',
      {},
      ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'accept', value: 2 })),
      [{ kind: 'body' }],
      true,
    ],
    [
      'a failed body',
      { execute: async (args, exec) => (await body(args, exec), broken()) },
      () => undefined,
      [{ kind: 'body' }],
      false,
    ],
    [
      'a post-execute that throws',
      {},
      ({ tools }) => void tools.on('tools/post-execute', broken),
      [{ kind: 'body' }],
      false,
    ],
    [
      'a block',
      {},
      ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'block', feedback: [] })),
      undefined,
      false,
    ],
    [
      'a late cancellation',
      {},
      ({ tools }, control) =>
        void tools.on('tools/post-execute', async () => {
          control.abort()
          return { kind: 'accept', additionalContexts: [message('policy')] }
        }),
      [{ kind: 'body' }, { kind: 'policy' }],
      false,
    ],
    [
      'a replaced value that does not fit',
      { output: { schema: { type: 'integer' }, render } },
      ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'accept', value: 'two' })),
      [{ kind: 'body' }],
      false,
    ],
  ])('of %s', async (_title, part, arrange, contexts, concludes) => {
    const control = new AbortController()
    const home = house({ execute: body, ...part })
    arrange(home, control)
    const result = await home.call({ signal: control.signal })
    expect([labels(result), result.concludesTurn]).toEqual([contexts, concludes ? true : undefined])
  })

  it('are empty where nobody gave any', async () => {
    const { tools, call } = house()
    tools.on('tools/post-execute', async () => ({ kind: 'accept', value: { ok: 1 }, additionalContexts: [] }))
    expect(await call()).toEqual({ isError: false, value: { ok: 1 }, content: text('{"ok":1}') })
  })
})

describe('a policy after the body', () => {
  it('recomputes content and meta for another value, and keeps both value and meta for another content', async () => {
    const { tools, call } = house({
      output: {
        schema: {},
        render: (_args, value) => text(`is ${String(value)}`),
        presentationMeta: (_args, value) => ({ value }),
      },
      execute: async () => 1,
    })
    const lift = tools.on('tools/post-execute', async () => ({ kind: 'accept', value: 2 }))
    expect(await call()).toEqual({ isError: false, value: 2, content: text('is 2'), meta: { value: 2 } })
    lift()
    tools.on('tools/post-execute', async () => ({ kind: 'accept', content: text('hidden') }))
    expect(await call()).toEqual({ isError: false, value: 1, content: text('hidden'), meta: { value: 1 } })
  })

  it('may replace the content of a failure, which stays a failure', async () => {
    const { tools, call } = house({ execute: broken })
    tools.on('tools/post-execute', async () => ({ kind: 'accept', content: text('sorry') }))
    expect(await call()).toEqual({
      isError: true,
      error: { message: 'broken', info: { name: 'HarnessError', code: 'BROKEN' } },
      content: text('sorry'),
    })
  })

  it('cannot replace the value of a tool that is gone', async () => {
    const { tools, call, unregister } = house()
    tools.on('tools/post-execute', async () => {
      unregister()
      return { kind: 'accept', value: 2 }
    })
    expect(failureOf(await call())).toEqual(['UNKNOWN_TOOL', 'unknown tool "tool"'])
  })

  it.each<[string, ContentBlock[], string]>([
    ['one text', text('no'), 'no'],
    ['several texts', [...text('no'), ...text('never')], 'no\nnever'],
    ['text and image', [...text('look'), { type: 'image', mimeType: 'image/png', data: '' }], 'look\n[image content]'],
    ['an empty text', text(''), 'tool result blocked by post-execute policy'],
  ])('blocks with %s', async (_title, feedback, wanted) => {
    const { tools, call } = house()
    tools.on('tools/post-execute', async () => ({ kind: 'block', feedback }))
    expect(await call()).toEqual({ isError: true, error: { message: wanted }, content: feedback })
  })

  it('sees denials, and never turns one into a success', async () => {
    const { tools, call, seen } = house()
    tools.guard(() => ({ reason: 'no', info: { name: 'G', code: 'GUARDED' } }))
    const posts: unknown[] = []
    tools.on('tools/post-execute', async (_exec, result, next) => (posts.push(failureOf(result)), next()))
    expect(failureOf(await call())).toEqual(['GUARDED', 'no'])
    expect([posts, seen.bodies]).toEqual([[['GUARDED', 'no']], 0])
  })

  it.each<[string, Arrange]>([
    ['a denial', ({ tools }) => void tools.guard(() => 'stands')],
    ['a failed body', () => undefined],
    [
      'a block',
      ({ tools }) => void tools.on('tools/post-execute', async () => ({ kind: 'block', feedback: text('stands') })),
    ],
  ])('that the caller cancels: %s stands', async (_title, arrange) => {
    const control = new AbortController()
    const home = house({ execute: () => Promise.reject(new Error('stands')) })
    home.tools.on('tools/post-execute', async (_exec, _result, next) => (control.abort(), next()))
    arrange(home, control)
    expect(failureOf(await home.call({ signal: control.signal }))).toEqual([undefined, 'stands'])
  })
})
