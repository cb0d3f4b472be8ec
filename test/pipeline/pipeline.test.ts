import { describe, expect, it } from 'vitest'
import {
  type ApprovalHandler,
  type ContentBlock,
  HarnessError,
  type PostToolDecision,
  type PreToolDecision,
  type ToolDefinition,
  ToolExecutionPipeline,
  ToolsService,
} from '../../src/index.ts'
import { agent, failureOf, house, text } from './house.ts'

describe('a call', () => {
  it('passes its stages in order, each once', async () => {
    const { tools, call, seen } = house()
    const stages: string[] = []
    tools.on('tools/pre-execute', async (_exec, next) => (stages.push('pre'), next()))
    tools.guard(() => void stages.push('guard'))
    tools.on('tools/execute', async (_exec, next) => (stages.push('execute'), next()))
    tools.on('tools/post-execute', async (_exec, _result, next) => (stages.push('post'), next()))
    const result = await call()
    expect(result).toMatchObject({ isError: false, value: { ok: true }, content: text('{"ok":true}') })
    expect([stages, seen]).toEqual([['pre', 'guard', 'execute', 'post'], { bodies: 1, finalized: 1, results: 1 }])
  })

  it('gives policies and body one frozen copy of the arguments', async () => {
    const given = { list: [1] }
    const views: unknown[] = []
    const { tools, call } = house({ execute: async (args) => views.push(args) })
    tools.on('tools/pre-execute', async (exec, next) => (views.push(exec.arguments), next()))
    await call({ arguments: given })
    given.list.push(2)
    expect(views[0]).toEqual({ list: [1] })
    expect(views[0]).toBe(views[1])
    expect(() => Reflect.get(Object(views[0]), 'list').push(3)).toThrow(TypeError)
  })

  it.each<[string, unknown, string]>([
    ['a Date', { when: new Date(0) }, '$.when: Date is not JSON'],
    ['undefined', undefined, '$: undefined is not JSON'],
    [
      'a getter',
      {
        get x() {
          return 1
        },
      },
      '$.x: a getter is not JSON',
    ],
  ])('with %s for arguments fails before any policy, also when it is aborted', async (_title, args, message) => {
    const { tools, call, seen } = house()
    tools.on('tools/pre-execute', async () => expect.unreachable())
    const result = await call({ arguments: args, signal: AbortSignal.abort() })
    expect(failureOf(result)).toEqual(['INVALID_ARGS', expect.stringContaining(message)])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('of an unknown tool passes policies and fails as UNKNOWN_TOOL', async () => {
    const { tools, call } = house()
    let asked = 0
    tools.on('tools/pre-execute', async (_exec, next) => (asked++, next()))
    expect(failureOf(await call({ name: 'toString' }))).toEqual(['UNKNOWN_TOOL', 'unknown tool "toString"'])
    expect(asked).toBe(1)
  })
})

describe('before the body', () => {
  it.each<[string, PreToolDecision, ApprovalHandler | undefined, unknown]>([
    ['allow', { kind: 'allow' }, undefined, 'ok'],
    ['deny', { kind: 'deny', reason: 'no' }, undefined, [undefined, 'no']],
    [
      'deny with identity',
      { kind: 'deny', reason: 'no', info: { name: 'P', code: 'NO', reason: 'raw' } },
      undefined,
      ['NO', 'no'],
    ],
    ['cancel', { kind: 'cancel' }, undefined, ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch']],
    [
      'ask, nobody there',
      { kind: 'ask' },
      undefined,
      ['APPROVAL_UNAVAILABLE', 'tool "tool" requires approval (not yet supported)'],
    ],
    [
      'ask with a reason, nobody there',
      { kind: 'ask', reason: 'it writes' },
      undefined,
      ['APPROVAL_UNAVAILABLE', 'it writes'],
    ],
    ['ask, allowed', { kind: 'ask' }, async () => 'allowed-once', 'ok'],
    ['ask, rejected', { kind: 'ask' }, async () => 'rejected', ['APPROVAL_REJECTED', 'the user rejected tool "tool"']],
    [
      'ask, cancelled',
      { kind: 'ask' },
      async () => 'cancelled',
      ['APPROVAL_CANCELLED', 'approval for tool "tool" was cancelled'],
    ],
    [
      'ask, no channel',
      { kind: 'ask' },
      async () => 'unavailable',
      ['APPROVAL_UNAVAILABLE', 'tool "tool" requires approval, but no approval channel is available'],
    ],
    [
      'ask, an answer that is none',
      { kind: 'ask' },
      async () => 'yes' as 'rejected',
      [undefined, expect.stringContaining('yes came')],
    ],
    [
      'no decision',
      { kind: 'perhaps' } as unknown as PreToolDecision,
      undefined,
      [
        undefined,
        'tools/pre-execute listener #1 failed: it must decide allow, deny, cancel or ask, an object of kind "perhaps" came',
      ],
    ],
  ])('%s', async (_title, decision, approve, outcome) => {
    const { tools, call, seen } = house({}, approve === undefined ? {} : { approve })
    tools.on('tools/pre-execute', async () => decision)
    expect(failureOf(await call())).toEqual(outcome)
    expect(seen).toEqual({ bodies: outcome === 'ok' ? 1 : 0, finalized: 1, results: 1 })
  })

  it('an approval without an agent is not asked for', async () => {
    const { tools, pipeline } = house({}, { approve: async () => expect.unreachable() })
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    const result = await pipeline.execute({
      callId: 'c',
      name: 'tool',
      arguments: {},
      signal: new AbortController().signal,
    })
    expect(failureOf(result)).toEqual([
      'APPROVAL_UNAVAILABLE',
      'tool "tool" requires approval, but the call has no agent to route it through',
    ])
  })

  it('an approval is asked with everything that a person needs', async () => {
    const requests: unknown[] = []
    const { tools, call } = house({}, { approve: async (request) => (requests.push(request), 'allowed-once') })
    tools.on('tools/pre-execute', async () => ({ kind: 'ask', reason: 'audit', displayReason: { en: 'May it?' } }))
    await call()
    expect(requests).toEqual([
      {
        approvalId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        callId: 'c1',
        rootCallId: 'c1',
        name: 'tool',
        arguments: { a: 1 },
        reason: 'audit',
        displayReason: { en: 'May it?' },
        agent,
      },
    ])
  })

  it('guards come last, the first denial counts, nothing turns it back', async () => {
    const { tools, call } = house()
    tools.on('tools/pre-execute', async () => ({ kind: 'allow' }))
    tools.in(agent).guard(() => 'the scoped one')
    const lift = tools.guard(() => ({ reason: 'the global one', info: { name: 'G', code: 'GUARDED' } }))
    tools.guard(() => undefined)
    expect(failureOf(await call())).toEqual(['GUARDED', 'the global one'])
    lift()
    expect(failureOf(await call())).toEqual([undefined, 'the scoped one'])
  })

  it.each<[string, (tools: ToolsService) => void]>([
    [
      'a pre-execute listener',
      (tools) =>
        void tools.on('tools/pre-execute', async () => {
          throw new HarnessError('broken', 'BROKEN')
        }),
    ],
    [
      'a guard',
      (tools) =>
        void tools.guard(() => {
          throw new HarnessError('broken', 'BROKEN')
        }),
    ],
  ])('%s that throws ends the call without post-execute', async (_title, add) => {
    const { tools, call, seen } = house()
    add(tools)
    tools.on('tools/post-execute', async () => expect.unreachable())
    expect(failureOf(await call())).toEqual([
      'BROKEN',
      expect.stringMatching(/^(tools\/pre-execute listener|guard) #1 failed: broken$/),
    ])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })
})

describe('cancellation', () => {
  const cancelled = ['ABORTED', 'tool call aborted']
  const before = ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch']

  it.each<[string, (control: AbortController, tools: ToolsService) => Partial<ToolDefinition>, unknown, number]>([
    ['before everything', (control) => (control.abort(), {}), before, 0],
    [
      'in pre-execute',
      (control, tools) => {
        tools.on('tools/pre-execute', async (_e, next) => (control.abort(), next()))
        return {}
      },
      before,
      0,
    ],
    [
      'in a wrapper before it delegates',
      (control, tools) => {
        tools.on('tools/execute', async (_e, next) => (control.abort(), next()))
        return {}
      },
      before,
      0,
    ],
    ['in the body, which succeeds', (control) => ({ execute: async () => (control.abort(), 1) }), cancelled, 1],
    [
      'in the body, which throws the reason',
      (control) => ({
        execute: async (_a, { signal }) => {
          control.abort(new Error('stop now'))
          throw signal.reason
        },
      }),
      ['ABORTED', 'stop now'],
      1,
    ],
    [
      'in the body, which throws an AbortError',
      (control) => ({
        execute: async () => {
          control.abort()
          throw Object.assign(new Error('gave up'), { name: 'AbortError' })
        },
      }),
      ['ABORTED', 'gave up'],
      1,
    ],
    [
      'in the body, which fails on its own',
      (control) => ({
        execute: async () => {
          control.abort()
          throw new HarnessError('disk full', 'DISK_FULL')
        },
      }),
      ['DISK_FULL', 'disk full'],
      1,
    ],
    [
      'in a wrapper after the body',
      (control, tools) => {
        tools.on('tools/execute', async (_e, next) => {
          const r = await next()
          control.abort()
          return r
        })
        return {}
      },
      cancelled,
      1,
    ],
    [
      'in post-execute',
      (control, tools) => {
        tools.on('tools/post-execute', async (_e, _r, next) => (control.abort(), next()))
        return {}
      },
      cancelled,
      1,
    ],
    [
      'in a wrapper that answers by itself',
      (control, tools) => {
        tools.on('tools/execute', async () => (control.abort(), { isError: false, value: 1, content: [] }))
        return {}
      },
      before,
      0,
    ],
    [
      'in a wrapper that throws the reason',
      (control, tools) => {
        tools.on('tools/execute', async (exec) => {
          control.abort(new Error('enough'))
          throw exec.signal.reason
        })
        return {}
      },
      ['ABORTED_BEFORE_DISPATCH', 'enough'],
      0,
    ],
    [
      'while a denial is decided, which stands',
      (control, tools) => {
        tools.on('tools/pre-execute', async () => (control.abort(), { kind: 'deny', reason: 'no' }))
        return {}
      },
      [undefined, 'no'],
      0,
    ],
  ])('%s', async (_title, arrange, outcome, bodies) => {
    const control = new AbortController()
    const tools = new ToolsService()
    const part = arrange(control, tools)
    let count = 0
    let results = 0
    tools.register({
      name: 'tool',
      description: '',
      parameters: {},
      output: { schema: {}, render: () => [] },
      execute: async (args, exec) => (count++, part.execute === undefined ? 1 : part.execute(args, exec)),
    })
    tools.on('tools/result', () => void results++ as undefined)
    const result = await new ToolExecutionPipeline({ tools }).execute({
      callId: 'c',
      name: 'tool',
      arguments: {},
      signal: control.signal,
    })
    expect([failureOf(result), count, results]).toEqual([outcome, bodies, 1])
  })

  it('reaches a body below a wrapper that put its own signal in place', async () => {
    const control = new AbortController()
    const { tools, call } = house({
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    tools.on('tools/execute', async (exec, next) => {
      exec.signal = new AbortController().signal
      return next()
    })
    setTimeout(() => control.abort(new Error('stop')), 10)
    expect(failureOf(await call({ signal: control.signal }))).toEqual(['ABORTED', 'stop'])
  })

  it('of a body that ignores it is awaited, unless the operator set an end', async () => {
    const control = new AbortController()
    let finish: (value: number) => void = () => undefined
    const { call } = house({ execute: () => new Promise((resolve) => (finish = resolve)) }, { abandonAfterMs: 30 })
    setTimeout(() => control.abort(), 10)
    const result = await call({ signal: control.signal })
    expect(failureOf(result)).toEqual([
      'EFFECTS_UNKNOWN',
      'tool "tool" ignored its cancellation for 30 ms and was abandoned; whether its effects happened is unknown',
    ])
    finish(7)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(result.isError).toBe(true)
  })
})

describe('the value', () => {
  it.each<[string, Partial<ToolDefinition>, string]>([
    [
      'that is not JSON',
      { execute: async () => ({ when: new Date(0) }) },
      'value is not lossless JSON: $.when: Date is not JSON; use .toISOString()',
    ],
    [
      'that breaks the schema',
      { output: { schema: { type: 'string' }, render: () => [] } },
      '"value" must be a string',
    ],
    [
      'whose renderer throws',
      {
        output: {
          schema: {},
          render: () => {
            throw new Error('ink')
          },
        },
      },
      'output.render failed: ink',
    ],
    [
      'whose renderer returns no blocks',
      { output: { schema: {}, render: () => [{ type: 'sound' }] as unknown as ContentBlock[] } },
      'output.render returned non-lossless JSON: [0] is no content block',
    ],
    [
      'whose projector throws',
      {
        output: {
          schema: {},
          render: () => [],
          presentationMeta: () => {
            throw new Error('lens')
          },
        },
      },
      'output.presentationMeta failed: lens',
    ],
  ])('%s is INVALID_TOOL_OUTPUT and still reaches post-execute', async (_title, part, message) => {
    const { tools, call } = house(part)
    let posts = 0
    tools.on('tools/post-execute', async (_exec, _result, next) => (posts++, next()))
    expect(failureOf(await call())).toEqual([
      'INVALID_TOOL_OUTPUT',
      expect.stringContaining(`tool "tool" returned invalid output: ${message}`),
    ])
    expect(posts).toBe(1)
  })

  it('of a wrapper is checked like one of a body', async () => {
    const { tools, call } = house({
      output: { schema: { type: 'integer' }, render: (_a, value) => text(`it is ${String(value)}`) },
    })
    tools.on('tools/execute', async () => ({ isError: false, value: 7, content: text('forged') }))
    expect(await call()).toMatchObject({ isError: false, value: 7, content: text('it is 7') })
    tools.on('tools/execute', async () => ({ isError: false, value: 'seven', content: [] }), { prepend: true })
    expect(failureOf(await call())).toEqual(['INVALID_TOOL_OUTPUT', expect.stringContaining('must be an integer')])
  })

  it('has meta for native and nested calls', async () => {
    const { call, pipeline } = house({
      output: {
        schema: {},
        render: () => [],
        presentationMeta: (args, value) => ({ seen: [args as object, value] as never }),
      },
    })
    const outer = pipeline.begin({ callId: 'o', name: 'tool', arguments: {}, signal: new AbortController().signal })
    for (const input of [{}, { parent: outer.execution.token }]) {
      expect((await call(input)).meta).toEqual({ seen: [{ a: 1 }, { ok: true }] })
    }
  })
})

describe('after the body', () => {
  it.each<[string, PostToolDecision | 'throw', object]>([
    [
      'content is replaced, the value stays',
      { kind: 'accept', content: text('new') },
      { isError: false, value: { ok: true }, content: text('new') },
    ],
    [
      'the value is replaced and rendered again',
      { kind: 'accept', value: [1] },
      { isError: false, value: [1], content: text('[1]') },
    ],
    [
      'both cannot be replaced',
      { kind: 'accept', value: 1, content: [] } as unknown as PostToolDecision,
      { error: { message: 'tools/post-execute accept decision cannot replace both value and content' } },
    ],
    [
      'a block has no value',
      { kind: 'block', feedback: text('try again'), info: { name: 'B', code: 'BLOCKED' } },
      { isError: true, content: text('try again'), error: { message: 'try again', info: { code: 'BLOCKED' } } },
    ],
    [
      'a block of images says so',
      { kind: 'block', feedback: [{ type: 'image', mimeType: 'image/png', data: '' }] },
      { error: { message: '[image content]' } },
    ],
    [
      'an empty block says so',
      { kind: 'block', feedback: [] },
      {
        error: { message: 'tool result blocked by post-execute policy' },
        content: text('tool result blocked by post-execute policy'),
      },
    ],
    [
      'a throw is the result',
      'throw',
      { error: { message: 'tools/post-execute listener #1 failed: post is broken', info: { code: 'BROKEN' } } },
    ],
  ])('%s', async (_title, decision, outcome) => {
    const { tools, call, seen } = house()
    tools.on('tools/post-execute', async () => {
      if (decision === 'throw') throw new HarnessError('post is broken', 'BROKEN')
      return decision
    })
    expect(await call()).toMatchObject(outcome)
    expect(seen).toEqual({ bodies: 1, finalized: 1, results: 1 })
  })

  it('the value of a failed call cannot be replaced', async () => {
    const { tools, call } = house({
      execute: async () => {
        throw new Error('x')
      },
    })
    tools.on('tools/post-execute', async () => ({ kind: 'accept', value: 1 }))
    expect(failureOf(await call())).toEqual([
      undefined,
      'tools/post-execute cannot replace the value of a failed result',
    ])
  })

  it('contexts come in the order of body, wrapper, policy; a block drops the first two', async () => {
    const message = (label: string) => ({ role: 'user' as const, content: text(label), source: { kind: label } })
    const { tools, call } = house({
      execute: async (_args, exec) => (exec.deferContext(message('body')), exec.concludeTurn(), 1),
    })
    tools.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [message('wrapper')] }))
    const lift = tools.on('tools/post-execute', async () => ({
      kind: 'accept',
      additionalContexts: [message('policy')],
    }))
    const accepted = await call()
    expect(accepted.additionalContexts?.map(({ source }) => source)).toEqual([
      { kind: 'body' },
      { kind: 'wrapper' },
      { kind: 'policy' },
    ])
    expect(accepted.concludesTurn).toBe(true)
    lift()
    tools.on('tools/post-execute', async () => ({
      kind: 'block',
      feedback: text('no'),
      additionalContexts: [message('block')],
    }))
    const blocked = await call()
    expect(blocked.additionalContexts?.map(({ source }) => source)).toEqual([{ kind: 'block' }])
    expect(blocked.concludesTurn).toBeUndefined()
  })

  it('projectContent runs before policies, finalizeContent has the last word once', async () => {
    const order: string[] = []
    const { tools, call } = house({
      projectContent: () => (order.push('project'), text('projected')),
      finalizeContent: (_exec, result) => (order.push(`finalize ${JSON.stringify(result.content)}`), text('final')),
    })
    tools.on(
      'tools/post-execute',
      async (_exec, result, next) => (order.push(`post ${JSON.stringify(result.content)}`), next()),
    )
    expect((await call()).content).toEqual(text('final'))
    expect(order).toEqual([
      'project',
      `post ${JSON.stringify(text('projected'))}`,
      `finalize ${JSON.stringify(text('projected'))}`,
    ])
  })

  it.each<[string, Partial<ToolDefinition>]>([
    [
      'throws',
      {
        finalizeContent: () => {
          throw new Error('no end')
        },
      },
    ],
    ['returns what is no content', { finalizeContent: () => [7] as unknown as ContentBlock[] }],
  ])('a finalizer that %s becomes a failed result and is not called again', async (_title, part) => {
    let calls = 0
    const finalizeContent: ToolDefinition['finalizeContent'] = (...args) => (calls++, part.finalizeContent?.(...args))
    expect((await house({ finalizeContent }).call()).isError).toBe(true)
    expect(calls).toBe(1)
  })

  it('what observers throw is contained', async () => {
    const warnings: string[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', onWarning)
    const { tools, call } = house()
    tools.on('tools/result', () => {
      throw new Error('sync')
    })
    tools.on('tools/result', (async () => {
      throw new Error('async')
    }) as unknown as () => undefined)
    expect((await call()).isError).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 10))
    process.off('warning', onWarning)
    expect(warnings).toEqual(['tools/result listener #2 failed: sync', 'tools/result listener #3 failed: async'])
  })
})

describe('classification', () => {
  it.each<[string, ToolDefinition['isConcurrencySafe'], string]>([
    ['true', () => true, 'parallel'],
    ['false', () => false, 'exclusive'],
    ['something truthy', (() => 'yes') as unknown as () => boolean, 'exclusive'],
    [
      'a throw',
      () => {
        throw new Error('x')
      },
      'exclusive',
    ],
    ['nothing', undefined, 'exclusive'],
  ])('%s is %s', (_title, isConcurrencySafe, kind) => {
    const { pipeline } = house(isConcurrencySafe === undefined ? {} : { isConcurrencySafe })
    const input = { callId: 'c', name: 'tool', arguments: {}, signal: new AbortController().signal }
    expect(pipeline.mode(input)).toEqual({ kind })
    expect(pipeline.mode({ ...input, name: 'unknown' })).toEqual({ kind: 'exclusive' })
  })
})
