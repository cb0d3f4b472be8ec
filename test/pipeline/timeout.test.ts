import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { ToolDefinition } from '../../src/index.ts'
import { failureOf, house, labels, message } from './house.ts'

const TIMED_OUT = ['TOOL_TIMEOUT', 'tool call timed out after 20ms']

/** A body that runs until its signal aborts, then does as told. */
const until =
  (then: (signal: AbortSignal) => unknown): ToolDefinition['execute'] =>
  (_args, { signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => {
        try {
          resolve(then(signal))
        } catch (thrown) {
          reject(thrown)
        }
      })
    })

describe('the deadline of a tool', () => {
  it.each<[string, (signal: AbortSignal) => unknown]>([
    [
      'throws the reason of its signal',
      (signal) => {
        throw signal.reason
      },
    ],
    [
      'throws an AbortError',
      () => {
        throw new DOMException('stopped', 'AbortError')
      },
    ],
    [
      'breaks otherwise',
      () => {
        throw new Error('connection reset')
      },
    ],
    ['returns a value all the same', () => 'late'],
  ])('ends a body that %s once it is over', async (_title, then) => {
    const { call, seen } = house({ timeoutMs: 20, execute: until(then) })
    const result = await call()
    expect(failureOf(result)).toEqual(TIMED_OUT)
    expect(result.error?.info?.name).toBe('ToolTimeoutError')
    expect(seen).toEqual({ bodies: 1, finalized: 1, results: 1 })
  })

  it('tells the body why', async () => {
    let reason: unknown
    await house({ timeoutMs: 20, execute: until((signal) => (reason = signal.reason) && 1) }).call()
    expect(reason).toMatchObject({ name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' })
  })

  it('waits until the body has stopped', async () => {
    let hasStopped = false
    const execute: ToolDefinition['execute'] = (_args, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () =>
          setTimeout(() => {
            hasStopped = true
            resolve(1)
          }, 50),
        )
      })
    expect([failureOf(await house({ timeoutMs: 20, execute }).call()), hasStopped]).toEqual([TIMED_OUT, true])
  })

  it.each([1_000, 2 ** 40])('of %s ms leaves a quick body alone', async (timeoutMs) => {
    expect(failureOf(await house({ timeoutMs, execute: async () => 1 }).call())).toBe('ok')
  })

  it('leaves a caller that cancels first the word', async () => {
    const control = new AbortController()
    const { call } = house({
      timeoutMs: 5_000,
      execute: until((signal) => {
        throw signal.reason
      }),
    })
    setTimeout(() => control.abort(new Error('caller')), 20)
    expect(failureOf(await call({ signal: control.signal }))).toEqual(['ABORTED', 'caller'])
  })

  it('stands where the caller cancels after it', async () => {
    const control = new AbortController()
    const { call } = house({ timeoutMs: 20, execute: until(() => control.abort()) })
    expect(failureOf(await call({ signal: control.signal }))).toEqual(TIMED_OUT)
  })

  it('cannot be taken off by a wrapper that replaces the signal, and the wrapper sees its result', async () => {
    const { tools, call } = house({ timeoutMs: 20, execute: until(() => 1) })
    const seenByWrapper: unknown[] = []
    const own = new AbortController().signal
    tools.on('tools/execute', async (exec, next) => {
      exec.signal = own
      const result = await next()
      seenByWrapper.push(failureOf(result), exec.signal === own)
      return result
    })
    expect(failureOf(await call())).toEqual(TIMED_OUT)
    expect(seenByWrapper).toEqual([TIMED_OUT, true])
  })

  it('is for each attempt of a wrapper that tries again', async () => {
    let attempts = 0
    const { tools, call } = house({
      timeoutMs: 30,
      execute: (args, exec) => (++attempts < 3 ? until(() => 1)(args, exec) : Promise.resolve('third')),
    })
    tools.on('tools/execute', async (_exec, next) => {
      const first = await next()
      const second = first.isError ? await next() : first
      return second.isError ? next() : second
    })
    expect(await call()).toMatchObject({ isError: false, value: 'third' })
  })

  it('does not run while policies and people decide', async () => {
    const { tools, call } = house(
      { timeoutMs: 20, execute: async () => 1 },
      { approve: () => new Promise((resolve) => setTimeout(resolve, 60, 'allowed-once')) },
    )
    tools.on('tools/pre-execute', async () => {
      await new Promise((resolve) => setTimeout(resolve, 60))
      return { kind: 'ask' }
    })
    expect(failureOf(await call())).toBe('ok')
  })

  it('keeps the contexts of the body, and its result is seen by post-execute', async () => {
    const { tools, call } = house({
      timeoutMs: 20,
      execute: (args, exec) => {
        exec.deferContext(message('begun'))
        exec.concludeTurn()
        return until(() => 1)(args, exec)
      },
    })
    const posts: unknown[] = []
    tools.on('tools/post-execute', async (_exec, result, next) => (posts.push(failureOf(result)), next()))
    const result = await call()
    expect([labels(result), result.concludesTurn, posts]).toEqual([[{ kind: 'begun' }], undefined, [TIMED_OUT]])
  })

  it('leaves a body that is given up as that', async () => {
    const { call } = house({ timeoutMs: 20, execute: () => new Promise(() => undefined) }, { abandonAfterMs: 20 })
    expect(failureOf(await call())).toEqual([
      'EFFECTS_UNKNOWN',
      'tool "tool" ignored its cancellation for 20 ms and was abandoned; whether its effects happened is unknown',
    ])
  })

  it('leaves no listener and no timer behind', async () => {
    const { signal } = new AbortController()
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    await house({ timeoutMs: 60_000, execute: async () => 1 }).call({ signal })
    expect([getEventListeners(signal, 'abort').length, timers() - before]).toEqual([0, 0])
  })
})
