import { describe, expect, it } from 'vitest'
import { type ApprovalHandler, type ToolExecution, type ToolGuardDenial } from '../../src/index.ts'
import { agent, failureOf, house, isDeepFrozen } from './house.ts'

const before = ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch']

describe('pre-execute', () => {
  it('asks outermost first; one that does not pass on decides alone', async () => {
    const { tools, call } = house()
    const asked: string[] = []
    tools.on('tools/pre-execute', async () => (asked.push('decider'), { kind: 'deny', reason: 'no' }))
    tools.on('tools/pre-execute', async (_exec, next) => (asked.push('never'), next()))
    tools.on('tools/pre-execute', async (_exec, next) => (asked.push('outermost'), next()), { prepend: true })
    expect(failureOf(await call())).toEqual([undefined, 'no'])
    expect(asked).toEqual(['outermost', 'decider'])
  })

  it('lets an outer listener overrule an inner denial', async () => {
    const { tools, call } = house()
    const inner: unknown[] = []
    tools.on('tools/pre-execute', async (_exec, next) => (inner.push(await next()), { kind: 'allow' }))
    tools.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'no' }))
    expect(failureOf(await call())).toBe('ok')
    expect(inner).toEqual([{ kind: 'deny', reason: 'no' }])
  })

  it('cannot rewrite the call', async () => {
    const errors: unknown[] = []
    const { tools, call } = house({ execute: async (args) => args })
    tools.on('tools/pre-execute', async (exec, next) => {
      for (const [target, key] of [
        [exec, 'arguments'],
        [exec, 'signal'],
        [exec.arguments, 'a'],
      ] as const) {
        errors.push(Reflect.set(Object(target), key, 'forged'))
      }
      return next()
    })
    expect(await call()).toMatchObject({ value: { a: 1 } })
    expect(errors).toEqual([false, false, false])
  })

  it('leaves the identity that a denial names to whoever owns it', async () => {
    const { tools, call } = house()
    const info = { name: 'Policy', code: 'NO', reason: 'raw' }
    tools.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'no', info }))
    const result = await call()
    expect([result.error?.info, Object.isFrozen(info)]).toEqual([info, false])
    expect(JSON.stringify(result.content)).not.toContain('raw')
  })

  it.each<[string, 'deny' | 'throw', unknown]>([
    ['a denial', 'deny', [undefined, 'no']],
    ['a throw', 'throw', [undefined, 'tools/pre-execute listener #1 failed: thrown']],
  ])('that settles after the caller cancelled: %s stands', async (_title, kind, outcome) => {
    const control = new AbortController()
    const { tools, call, seen } = house()
    tools.on('tools/pre-execute', async () => {
      control.abort()
      if (kind === 'throw') throw new Error('thrown')
      return { kind, reason: 'no' }
    })
    expect(failureOf(await call({ signal: control.signal }))).toEqual(outcome)
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it.each<[string, 'pre-execute' | 'guard']>([
    ['a listener', 'pre-execute'],
    ['a guard', 'guard'],
  ])('during which %s sees the caller cancel is followed by post-execute alone', async (_title, where) => {
    const control = new AbortController()
    const { tools, call, seen } = house()
    const stages: string[] = []
    if (where === 'guard') tools.guard(() => control.abort() as undefined)
    else tools.on('tools/pre-execute', async (_exec, next) => (control.abort(), next()))
    tools.on('tools/execute', async (_exec, next) => (stages.push('execute'), next()))
    tools.on('tools/post-execute', async (_exec, result, next) => (stages.push(`post ${result.isError}`), next()))
    expect(failureOf(await call({ signal: control.signal }))).toEqual(before)
    expect([stages, seen]).toEqual([['post true'], { bodies: 0, finalized: 1, results: 1 }])
  })

  it('never hears of a call that was cancelled before it began, and neither does post-execute', async () => {
    const { tools, call, seen } = house()
    const stages: string[] = []
    tools.on('tools/pre-execute', async (_exec, next) => (stages.push('pre'), next()))
    tools.guard(() => void stages.push('guard') as undefined)
    tools.on('tools/post-execute', async (_exec, _result, next) => (stages.push('post'), next()))
    expect(failureOf(await call({ signal: AbortSignal.abort() }))).toEqual(before)
    expect([stages, seen]).toEqual([[], { bodies: 0, finalized: 1, results: 1 }])
  })
})

describe('an approval', () => {
  it.each<[string, (control: AbortController) => ReturnType<ApprovalHandler>, unknown]>([
    ['that answers cancelled', async (control) => (control.abort(), 'cancelled'), before],
    [
      'that throws the reason of the signal',
      async (control) => {
        control.abort(new Error('gone'))
        throw control.signal.reason
      },
      before,
    ],
    [
      'that throws an AbortError',
      async (control) => {
        control.abort()
        throw new DOMException('gone', 'AbortError')
      },
      before,
    ],
    [
      'that breaks otherwise',
      async (control) => {
        control.abort()
        throw new Error('line is dead')
      },
      before,
    ],
    ['that is granted all the same', async (control) => (control.abort(), 'allowed-once'), before],
    ['that is refused all the same', async (control) => (control.abort(), 'rejected'), before],
    ['that never settles', (control) => (control.abort(), new Promise(() => undefined)), before],
  ])('%s after the caller cancelled', async (_title, answer, outcome) => {
    const control = new AbortController()
    const { tools, call, seen } = house({}, { approve: () => answer(control) })
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    expect(failureOf(await call({ signal: control.signal }))).toEqual(outcome)
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('that throws while nobody cancelled is a failed call without post-execute', async () => {
    const { tools, call } = house({}, { approve: async () => Promise.reject(new DOMException('gone', 'AbortError')) })
    let posts = 0
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    tools.on('tools/post-execute', async (_exec, _result, next) => (posts++, next()))
    expect([failureOf(await call()), posts]).toEqual([[undefined, 'the approval handler failed: gone'], 0])
  })

  it('is given a signal that follows the call, and one identity each time', async () => {
    const control = new AbortController()
    const asked: [string, AbortSignal][] = []
    const { tools, call } = house(
      {},
      { approve: async ({ approvalId }, { signal }) => (asked.push([approvalId, signal]), 'allowed-once') },
    )
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    for (const _time of [1, 2]) await call({ signal: control.signal })
    expect(asked.map(([, signal]) => signal.aborted)).toEqual([false, false])
    expect(new Set(asked.map(([id]) => id)).size).toBe(2)

    let reason: unknown
    const waiting = house(
      {},
      {
        approve: (_request, { signal }) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              reason = signal.reason
              resolve('cancelled')
            }),
          ),
      },
    )
    waiting.tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    const pending = waiting.call({ signal: control.signal })
    setImmediate(() => control.abort('enough'))
    expect([failureOf(await pending), reason]).toEqual([before, 'enough'])
  })

  it('that is not given in time is cancelled, and its handler is told', async () => {
    let told: unknown
    const { tools, call, seen } = house(
      {},
      {
        approvalMs: 20,
        approve: (_request, { signal }) => {
          signal.addEventListener('abort', () => (told = signal.reason))
          return new Promise(() => undefined)
        },
      },
    )
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    expect(failureOf(await call())).toEqual([
      'APPROVAL_CANCELLED',
      'approval for tool "tool" was not given within 20 ms',
    ])
    expect(told).toEqual(new Error('the approval was not given in time'))
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it.each([0, -1, Number.NaN, 2 ** 31])('within %s ms is no option', (approvalMs) => {
    expect(() => house({}, { approvalMs })).toThrow(/^approvalMs must be milliseconds above 0/)
  })

  it('that is refused is seen by post-execute', async () => {
    const { tools, call } = house({}, { approve: async () => 'rejected' })
    const posts: unknown[] = []
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    tools.on('tools/post-execute', async (_exec, result, next) => (posts.push(isDeepFrozen(result)), next()))
    await call()
    expect(posts).toEqual([true])
  })

  it('cannot overrule a guard', async () => {
    const { tools, call, seen } = house({}, { approve: async () => 'allowed-once' })
    tools.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    tools.guard(() => 'guarded')
    expect(failureOf(await call())).toEqual([undefined, 'guarded'])
    expect(seen.bodies).toBe(0)
  })
})

describe('a guard', () => {
  it('sees the frozen call that policies saw, after all of them', async () => {
    const { tools, call } = house()
    const seen: [string, ToolExecution][] = []
    tools.guard((exec) => void seen.push(['guard', exec]) as undefined)
    tools.on('tools/pre-execute', async (exec, next) => {
      const decision = await next()
      seen.push(['pre', exec])
      return decision
    })
    await call()
    expect(seen.map(([stage]) => stage)).toEqual(['pre', 'guard'])
    expect(seen[0]?.[1]).toBe(seen[1]?.[1])
    expect(Object.isFrozen(seen[0]?.[1])).toBe(true)
  })

  it.each<[string, unknown]>([
    ['a promise', Promise.resolve(undefined)],
    ['false', false],
    ['null', null],
    ['true', true],
    ['an empty text', ''],
    ['an object without a reason', {}],
  ])('that returns %s lets nothing through', async (_title, returned) => {
    const { tools, call, seen } = house()
    tools.guard(() => returned as ToolGuardDenial)
    expect((await call()).isError).toBe(true)
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('is not asked once the call is denied or cancelled', async () => {
    let asked = 0
    for (const decision of [{ kind: 'deny', reason: 'no' }, { kind: 'cancel' }] as const) {
      const { tools, call } = house()
      tools.on('tools/pre-execute', async () => decision)
      tools.guard(() => void asked++ as undefined)
      await call()
    }
    expect(asked).toBe(0)
  })

  it('of an agent has no say about others', async () => {
    const { tools, call } = house()
    tools.in(agent).guard(() => 'mine')
    expect(failureOf(await call({ agent: { ...agent, id: 'stranger' } }))).toBe('ok')
    expect(failureOf(await call({ agent: { ...agent, id: 'child', parent: agent } }))).toEqual([undefined, 'mine'])
  })
})

describe('a conditional tool', () => {
  const modelSelection = { provider: 'p', model: 'm' }

  it('runs with the set that admitted it, until that is disposed or the tool replaced', async () => {
    const { tools, call } = house()
    const definition = { ...tools.definitions()[0], name: 'maybe' } as Parameters<typeof tools.register>[0]
    const remove = tools.register(definition, { when: () => true })
    const signal = new AbortController().signal
    const first = await tools.resolve({ agent, modelSelection, signal })
    const unknown = ['UNKNOWN_TOOL', 'unknown tool "maybe"']
    const outcomes = [
      await call({ name: 'maybe' }),
      await call({ name: 'maybe', toolSet: first }),
      await call({ name: 'maybe', toolSet: first, agent: { ...agent } }),
    ].map(failureOf)
    remove()
    tools.register(definition, { when: () => true })
    outcomes.push(failureOf(await call({ name: 'maybe', toolSet: first })))
    const second = await tools.resolve({ agent, modelSelection, signal })
    outcomes.push(failureOf(await call({ name: 'maybe', toolSet: second })))
    second.dispose()
    outcomes.push(failureOf(await call({ name: 'maybe', toolSet: second })))
    expect(outcomes).toEqual([unknown, 'ok', unknown, unknown, 'ok', unknown])
  })
})
