import { describe, expect, it } from 'vitest'
import { type ContentBlock, HarnessError, type ToolExecutionResult, type ToolGuard } from '../../src/index.ts'
import { agent, failureOf, house, text } from './house.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const answer: ToolExecutionResult = { isError: false, value: 'instead', content: [] }

describe('a listener that does not wait for the rest', () => {
  it('has a call of its own result, and the failure behind it ends nothing', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    const { tools, call, seen } = house()
    tools.on('tools/execute', async (_exec, next) => {
      void next()
      return answer
    })
    tools.on('tools/execute', async () => {
      throw new HarnessError('behind', 'BEHIND')
    })
    const result = await call()
    await turn()
    process.off('unhandledRejection', onUnhandled)
    expect([result.value, unhandled]).toEqual(['instead', []])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('still is told of the failure where it does wait', async () => {
    const { tools, call } = house()
    const caught: unknown[] = []
    tools.on('tools/execute', async (_exec, next) => next().catch((failed: unknown) => (caught.push(failed), answer)))
    const behind = new HarnessError('behind', 'BEHIND')
    tools.on('tools/execute', () => Promise.reject(behind))
    expect([(await call()).value, caught]).toEqual(['instead', [behind]])
  })

  it('cannot start the body once the call is over', async () => {
    const { tools, call, seen } = house()
    let later: (() => Promise<ToolExecutionResult>) | undefined
    tools.on('tools/execute', async (_exec, next) => {
      later = next
      return answer
    })
    expect((await call()).value).toBe('instead')
    await expect(later?.()).rejects.toThrow('tools/execute called next() after its call was over')
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })
})

describe('a wrapper that removes the signal', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['what only looks like one', { aborted: false, addEventListener: () => undefined }],
  ])('and leaves %s ends the call before the body', async (_title, signal) => {
    const { tools, call, seen } = house()
    tools.on('tools/execute', async (exec, next) => {
      Object.assign(exec, { signal })
      return next()
    })
    expect(failureOf(await call())).toEqual([
      undefined,
      'tools/execute may replace exec.signal by another AbortSignal only, not remove it',
    ])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })
})

describe('a guard whose answer cannot be read', () => {
  it.each<[string, unknown]>([
    ['a promise of nothing', Promise.resolve()],
    ['null', null],
    ['true', true],
    ['a denial without a reason', { info: { name: 'G', code: 'GUARDED' } }],
  ])('such as %s lets nothing through', async (_title, denial) => {
    const { tools, call, seen } = house()
    tools.guard((() => denial) as ToolGuard)
    expect(failureOf(await call())).toEqual([
      'USAGE',
      'guard #1 failed: a guard must answer at once: undefined, a reason, or { reason, info? }',
    ])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('is not the empty text, which is a reason', async () => {
    const { tools, call, seen } = house()
    tools.guard(() => '')
    expect(failureOf(await call())).toEqual([undefined, ''])
    expect(seen.bodies).toBe(0)
  })
})

describe('a scheduler', () => {
  const input = { callId: 'c', name: 'tool', arguments: {}, signal: new AbortController().signal, agent }
  const undispatched = [undefined, 'the call was not dispatched']

  it.each<[string, readonly ('decide' | 'dispatch' | 'commit')[], unknown, number]>([
    ['cannot run a body before it is decided', ['dispatch', 'decide', 'commit'], undispatched, 0],
    ['cannot run a body without a decision', ['dispatch', 'commit'], undispatched, 0],
    ['cannot run a body after the end', ['decide', 'commit', 'dispatch', 'commit'], undispatched, 0],
    ['cannot decide after the end', ['commit', 'decide', 'dispatch'], undispatched, 0],
    ['runs a body once', ['decide', 'dispatch', 'dispatch', 'commit'], 'ok', 1],
    ['decides once', ['decide', 'decide', 'dispatch', 'decide', 'dispatch', 'commit'], 'ok', 1],
    ['ends a call once', ['decide', 'dispatch', 'commit', 'commit'], 'ok', 1],
  ])('%s', async (_title, stages, outcome, bodies) => {
    const { tools, pipeline, seen } = house()
    let asked = 0
    tools.on('tools/pre-execute', async (_exec, next) => (asked++, next()))
    const call = pipeline.begin(input)
    for (const stage of stages) await call[stage]()
    const result = await call.commit()
    expect([failureOf(result), seen]).toEqual([outcome, { bodies, finalized: 1, results: 1 }])
    expect(await call.commit()).toBe(result)
    expect(asked).toBe(stages.includes('decide') && stages[0] !== 'commit' ? 1 : 0)
  })

  it('that does not wait for the decision has no body run after the end', async () => {
    const { tools, pipeline, seen } = house()
    tools.on('tools/pre-execute', async (_exec, next) => (await turn(), next()))
    const call = pipeline.begin(input)
    void call.decide()
    const result = await call.commit()
    await call.dispatch()
    expect([failureOf(result), seen]).toEqual([undispatched, { bodies: 0, finalized: 1, results: 1 }])
  })

  it('that does not wait has a body run once and awaited before the end', async () => {
    const { pipeline, seen } = house({ execute: async () => (await turn(), 'once') })
    const call = pipeline.begin(input)
    await call.decide()
    void call.dispatch()
    void call.dispatch()
    expect(await call.commit()).toMatchObject({ isError: false, value: 'once', content: text('"once"') })
    expect(seen).toEqual({ bodies: 1, finalized: 1, results: 1 })
  })
})

describe('a finalizer', () => {
  it.each<[string, unknown, string]>([
    ['whose content is not JSON', [{ type: 'text', text: 'x', at: new Date(0) }], '$.content[0].at: Date is not JSON'],
    ['whose content is no list', 'x', 'an array of content blocks was expected'],
  ])('%s becomes a failed result that is JSON', async (_title, content, problem) => {
    const { call } = house({ finalizeContent: () => content as ContentBlock[] })
    const result = await call()
    expect(failureOf(result)).toEqual([undefined, expect.stringContaining(problem)])
    expect(result.content).toEqual(text(`Error: ${result.error?.message ?? ''}`))
  })

  it('keeps what it gave: the result has a copy', async () => {
    const kept = text('final')
    const { call } = house({ finalizeContent: () => kept })
    const result = await call()
    kept.push(...text('later'))
    expect([result.content, Object.isFrozen(kept[0])]).toEqual([text('final'), false])
  })
})
