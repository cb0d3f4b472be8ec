import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import {
  type ContentBlock,
  HarnessError,
  type PtcDispatchLog,
  PtcUsageError,
  type ToolDefinition,
  type ToolExecutionInput,
  ToolExecutionPipeline,
  type ToolExecutionResult,
  type ToolRunContext,
  ToolsService,
} from '../../src/index.ts'
import { agent, failureOf, house, isDeepFrozen, labels, message, text } from './house.ts'

const input = (signal = new AbortController().signal) => ({ callId: 'c', name: 'tool', arguments: {}, signal, agent })

describe('a body that is given up', () => {
  /** A body that ignores its cancellation until it is told to settle. */
  function deaf() {
    let context: ToolRunContext | undefined
    let settle: { resolve: (value: unknown) => void; reject: (reason: unknown) => void } | undefined
    const execute: ToolDefinition['execute'] = (_args, exec) =>
      new Promise((resolve, reject) => {
        context = exec
        settle = { resolve, reject }
        exec.deferContext(message('in time'))
      })
    return { execute, late: () => ({ context, settle }) }
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const unknown = (waited: string): unknown => [
    'EFFECTS_UNKNOWN',
    `tool "tool" ignored its cancellation${waited} and was abandoned; whether its effects happened is unknown`,
  ]

  it.each<[string, 'resolve' | 'reject']>([
    ['succeeds', 'resolve'],
    ['fails', 'reject'],
  ])('and then %s changes nothing', async (_title, how) => {
    const control = new AbortController()
    const { execute, late } = deaf()
    const { tools, call, seen } = house({ execute }, { abandonAfterMs: 5 })
    const posts: unknown[] = []
    tools.on('tools/post-execute', async (_exec, result, next) => {
      posts.push(failureOf(result))
      const { context, settle } = late()
      context?.deferContext(message('too late'))
      context?.concludeTurn()
      settle?.[how](new Error('late'))
      await turn()
      if (how === 'reject') throw new HarnessError('post broke', 'BROKEN')
      return next()
    })
    setImmediate(() => control.abort())
    const result = await call({ signal: control.signal })
    const copy = structuredClone(result)
    await turn()
    expect(failureOf(result)).toEqual(
      how === 'resolve' ? unknown(' for 5 ms') : ['BROKEN', 'tools/post-execute listener #1 failed: post broke'],
    )
    expect([posts, labels(result), result.concludesTurn]).toEqual([
      [unknown(' for 5 ms')],
      [{ kind: 'in time' }],
      undefined,
    ])
    expect(result).toEqual(copy)
    expect(seen).toEqual({ bodies: 1, finalized: 1, results: 1 })
  })

  it.each<[string, (control: AbortController, giveUp: AbortController) => void]>([
    ['after the cancellation', (control, giveUp) => (control.abort(), setImmediate(() => giveUp.abort()))],
    ['before the cancellation', (control, giveUp) => (giveUp.abort(), setImmediate(() => control.abort()))],
  ])('by the operator %s is given up at once', async (_title, arrange) => {
    const [control, giveUp] = [new AbortController(), new AbortController()]
    const { call, seen } = house({ execute: deaf().execute }, { abandonSignal: giveUp.signal, abandonAfterMs: 600_000 })
    setImmediate(() => arrange(control, giveUp))
    expect(failureOf(await call({ signal: control.signal }))).toEqual(unknown(''))
    expect(seen).toEqual({ bodies: 1, finalized: 1, results: 1 })
  })

  it('is one that was cancelled: no other is ever given up', async () => {
    const giveUp = AbortSignal.abort()
    const { call } = house(
      { execute: () => new Promise((resolve) => setTimeout(resolve, 30, 'done')) },
      { abandonAfterMs: 1, abandonSignal: giveUp },
    )
    expect(await call()).toMatchObject({ isError: false, value: 'done' })
  })

  it('is none where the operator set no end: it is awaited', async () => {
    const control = new AbortController()
    const order: string[] = []
    const { call } = house({
      execute: async () => {
        control.abort()
        await new Promise((resolve) => setTimeout(resolve, 20))
        order.push('body')
        return 1
      },
    })
    const result = await call({ signal: control.signal })
    order.push('result')
    expect([failureOf(result), order]).toEqual([
      ['ABORTED', 'tool call aborted'],
      ['body', 'result'],
    ])
  })

  it.each<[string, ToolDefinition['execute'], boolean]>([
    ['settled', async () => 1, false],
    ['was given up', () => new Promise(() => undefined), true],
  ])('or not: one that %s leaves no listener behind', async (_title, execute, isCancelled) => {
    const [control, giveUp] = [new AbortController(), new AbortController()]
    const { call } = house({ execute }, { abandonAfterMs: 5, abandonSignal: giveUp.signal })
    if (isCancelled) setImmediate(() => control.abort())
    expect((await call({ signal: control.signal })).isError).toBe(isCancelled)
    expect([control, giveUp].map(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([[], []])
  })

  it('has contexts of its own time only, and is awaited also where a wrapper did not wait for it', async () => {
    let context: ToolRunContext | undefined
    let isDone = false
    const { tools, call } = house({
      execute: (_args, exec) => {
        context = exec
        exec.deferContext(message('in time'))
        return new Promise((resolve) => setTimeout(() => resolve((isDone = true)), 30))
      },
    })
    tools.on('tools/execute', async (_exec, next) => {
      void next()
      await turn()
      return { isError: false, value: 'instead', content: [] }
    })
    tools.on('tools/post-execute', async () => {
      expect(isDone).toBe(true)
      context?.deferContext(message('too late'))
      context?.concludeTurn()
      throw new Error('post broke')
    })
    const result = await call()
    expect([failureOf(result), labels(result)]).toEqual([
      [undefined, 'tools/post-execute listener #1 failed: post broke'],
      [{ kind: 'in time' }],
    ])
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('after %s ms is no option', (abandonAfterMs) => {
    expect(() => new ToolExecutionPipeline({ tools: new ToolsService(), abandonAfterMs })).toThrow(PtcUsageError)
  })
})

describe('a refusal', () => {
  const refusal = new HarnessError('not that way', 'WRONG_DOOR')

  it.each<[string, ToolExecutionInput, unknown, number]>([
    ['is told like any other result', input(), ['WRONG_DOOR', 'not that way'], 0],
    [
      'of a cancelled call is the cancellation, in the words of its tool',
      input(AbortSignal.abort()),
      ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch'],
      1,
    ],
    [
      'of arguments that are not JSON is about them, also when it is cancelled',
      { ...input(AbortSignal.abort()), arguments: new Set() },
      ['INVALID_ARGS', expect.stringContaining('$: Set is not JSON')],
      1,
    ],
  ])('%s', async (_title, refused, outcome, finalized) => {
    const { tools, pipeline, seen } = house()
    tools.on('tools/pre-execute', async () => expect.unreachable())
    const result = await pipeline.execute(refused, { refusal })
    expect([failureOf(result), seen, isDeepFrozen(result)]).toEqual([
      outcome,
      { bodies: 0, finalized, results: 1 },
      true,
    ])
  })
})

describe('a definition that is handed over', () => {
  it('runs in place of the registered one, under the same policies', async () => {
    const { tools, pipeline } = house()
    const finalized: string[] = []
    const definition: ToolDefinition = {
      name: 'run_code',
      description: '',
      parameters: {},
      output: { schema: {}, render: () => text('own') },
      execute: async () => 'own',
      finalizeContent: () => void finalized.push('own') as undefined,
    }
    let asked = 0
    tools.on('tools/pre-execute', async (_exec, next) => (asked++, next()))
    const result = await pipeline.execute({ ...input(), name: 'run_code' }, { definition })
    expect([result.value, asked, finalized]).toEqual(['own', 1, ['own']])
    expect(failureOf(await pipeline.execute({ ...input(), name: 'run_code' }))).toEqual([
      'UNKNOWN_TOOL',
      'unknown tool "run_code"',
    ])
  })
})

describe('a call in stages', () => {
  it('does each once the scheduler says so, and a late stage of a decided call does nothing', async () => {
    const { tools, pipeline, seen } = house()
    const stages: string[] = []
    tools.on('tools/pre-execute', async (_exec, next) => (stages.push('pre'), next()))
    tools.on('tools/post-execute', async (_exec, _result, next) => (stages.push('post'), next()))
    const staged = pipeline.begin(input())
    expect(stages).toEqual([])
    await staged.decide()
    expect([stages, seen.bodies]).toEqual([['pre'], 0])
    await staged.dispatch()
    expect([stages, seen.bodies]).toEqual([['pre'], 1])
    await staged.commit()
    expect([stages, seen]).toEqual([['pre', 'post'], { bodies: 1, finalized: 1, results: 1 }])

    tools.guard(() => 'no')
    const denied = pipeline.begin(input())
    for (const stage of ['decide', 'dispatch'] as const) await denied[stage]()
    expect([failureOf(await denied.commit()), seen.bodies]).toEqual([[undefined, 'no'], 1])
  })

  it('takes arguments that nobody else holds without a copy, and freezes them', async () => {
    const { pipeline } = house()
    const given = { deep: { er: [1] } }
    const owned = pipeline.begin({ ...input(), arguments: given }, { ownsArguments: true }).execution.arguments
    expect([owned === given, isDeepFrozen(given)]).toEqual([true, true])
  })
})

describe('the shape of a durable copy', () => {
  const dispatch = (content: ContentBlock[]): PtcDispatchLog => ({
    exec: house().pipeline.begin(input()).execution,
    agent,
    subCallId: 'c:ptc:1',
    name: 'tool',
    isError: false,
    content,
  })

  it('is the content itself where nobody listens or everybody passes on', async () => {
    const { tools, pipeline } = house()
    expect(await pipeline.shapeDispatchLog(dispatch(text('whole')))).toEqual(text('whole'))
    tools.on('tools/ptc-dispatch-log', async (_dispatch, next) => next())
    expect(await pipeline.shapeDispatchLog(dispatch(text('whole')))).toEqual(text('whole'))
  })

  it('is what listeners make of it, outermost last, each of those that see the agent', async () => {
    const { tools, pipeline } = house()
    const add = (label: string, service: ToolsService): void => {
      service.on('tools/ptc-dispatch-log', async (_dispatch, next) => [...(await next()), ...text(label)])
    }
    add('all', tools)
    add('agent', tools.in(agent))
    add('stranger', tools.in({ ...agent }))
    expect(await pipeline.shapeDispatchLog(dispatch(text('whole')))).toEqual([
      ...text('whole'),
      ...text('agent'),
      ...text('all'),
    ])
  })

  it.each<[string, (dispatch: PtcDispatchLog) => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no shape')
      },
      'no shape',
    ],
    [
      'changes what it was shown',
      ({ content }) => {
        content.push(...text('forged'))
        return content
      },
      'Cannot add property 1, object is not extensible',
    ],
    ['returns nothing', () => undefined, 'content: an array of content blocks was expected'],
    ['returns no content', () => [{ type: 'sound' }], expect.stringContaining('[0] is no content block') as string],
  ])('by a listener that %s is the content as it was, with a warning', async (_title, shape, warning) => {
    const warnings: string[] = []
    const onWarning = (warned: Error): void => void warnings.push(warned.message.replace(/^.*?failed: /, ''))
    process.on('warning', onWarning)
    const { tools, pipeline } = house()
    tools.on('tools/ptc-dispatch-log', async (shown) => shape(shown) as ContentBlock[])
    const content = text('whole')
    const shaped = await pipeline.shapeDispatchLog(dispatch(content))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect([shaped, content, warnings]).toEqual([text('whole'), text('whole'), [warning]])
  })
})

describe('the mode of a call', () => {
  it('follows the registry, the scope and the admission at the moment of asking', async () => {
    const { tools, pipeline, unregister } = house({ isConcurrencySafe: (args) => args !== 'odd' })
    const kinds = [pipeline.mode(input()).kind, pipeline.mode({ ...input(), arguments: 'odd' }).kind]
    const set = await tools.resolve({
      agent,
      modelSelection: { provider: 'p', model: 'm' },
      signal: new AbortController().signal,
    })
    kinds.push(pipeline.mode({ ...input(), toolSet: set }).kind)
    set.dispose()
    kinds.push(pipeline.mode({ ...input(), toolSet: set }).kind)
    const lift = tools.in(agent).restrict({ deny: ['tool'] })
    kinds.push(pipeline.mode(input()).kind)
    lift()
    kinds.push(pipeline.mode(input()).kind)
    unregister()
    kinds.push(pipeline.mode(input()).kind)
    expect(kinds).toEqual(['parallel', 'exclusive', 'parallel', 'exclusive', 'exclusive', 'parallel', 'exclusive'])
  })
})

describe('calls at once', () => {
  it('share nothing: each has its own result, contexts and end', async () => {
    const { call, seen } = house({
      execute: async (args, exec) => {
        await new Promise((resolve) => setImmediate(resolve))
        exec.deferContext(message(JSON.stringify(args)))
        return args
      },
    })
    const results: ToolExecutionResult[] = await Promise.all([0, 1, 2, 3].map((n) => call({ arguments: n })))
    expect(results.map((result) => [result.value, labels(result)])).toEqual(
      [0, 1, 2, 3].map((n) => [n, [{ kind: String(n) }]]),
    )
    expect(seen).toEqual({ bodies: 4, finalized: 4, results: 4 })
  })
})
