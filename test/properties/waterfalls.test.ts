import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PostToolDecision, PreToolDecision, ToolExecutionResult } from '../../src/index.ts'
import { house, isDeepFrozen, text } from '../pipeline/house.ts'

const EVENTS = ['tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const
type EventName = (typeof EVENTS)[number]

const behaviours = ['pass', 'slow pass', 'answer', 'throw', 'reject late', 'nonsense', 'pass twice', 'mutate'] as const
type Behaviour = (typeof behaviours)[number]

const listener = fc.record({ event: fc.constantFrom(...EVENTS), behaviour: fc.constantFrom(...behaviours) })
const chain = fc.array(listener, { maxLength: 6 })
const observers = fc.array(fc.constantFrom('look', 'throw', 'reject', 'mutate'), { maxLength: 3 })

const ANSWERS: Readonly<Record<EventName, PreToolDecision | ToolExecutionResult | PostToolDecision>> = {
  'tools/pre-execute': { kind: 'deny', reason: 'no' },
  'tools/execute': { isError: true, error: { message: 'made up' }, content: text('made up') },
  'tools/post-execute': { kind: 'block', feedback: text('blocked') },
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function behave(
  behaviour: Behaviour,
  event: EventName,
  next: () => Promise<unknown>,
  seen: unknown[],
): Promise<unknown> {
  switch (behaviour) {
    case 'pass':
      return next()
    case 'slow pass': {
      await turn()
      const answer = await next()
      await turn()
      return answer
    }
    case 'answer':
      return ANSWERS[event]
    case 'throw':
      throw new Error('thrown')
    case 'reject late':
      await turn()
      throw new Error('late')
    case 'nonsense':
      return 'nonsense'
    case 'pass twice':
      void next().catch(() => undefined)
      return next()
    case 'mutate':
      for (const value of seen) {
        for (const key of Object.keys(Object(value))) {
          // Whatever can be changed is changed; what is frozen refuses.
          if (key !== 'signal') Reflect.set(Object(value), key, 'changed')
        }
      }
      return next()
  }
}

/** A listener that breaks names itself in the message. */
const BREAKING: readonly Behaviour[] = ['throw', 'reject late', 'nonsense']

describe('a call under any listeners', () => {
  it('ends with exactly one frozen result, told once, and the next call is unharmed', async () => {
    await fc.assert(
      fc.asyncProperty(chain, observers, async (listeners, watchers) => {
        const { tools, call, seen } = house()
        const order: string[] = []
        const disposers = listeners.map(({ event, behaviour }, place) => {
          const label = `${event} ${place}`
          // The three signatures differ in what stands before next, which is all the same to it.
          const listen = (...args: unknown[]): Promise<unknown> => {
            order.push(label)
            return behave(behaviour, event, args.at(-1) as () => Promise<unknown>, args.slice(0, -1))
          }
          return tools.on(event, listen as never)
        })
        const results: unknown[] = []
        disposers.push(
          ...watchers.map((watcher) =>
            tools.on('tools/result', (_exec, result) => {
              results.push(result)
              if (watcher === 'throw') throw new Error('observer')
              if (watcher === 'reject') return Promise.reject(new Error('observer')) as never
              if (watcher === 'mutate') Reflect.set(result, 'isError', 'changed')
              return undefined
            }),
          ),
        )
        const result = await call()
        expect(isDeepFrozen(result)).toBe(true)
        expect(results).toEqual(watchers.map(() => result))
        expect([seen.results, seen.finalized]).toEqual([1, 1])
        // Within an event the listeners are called in the order in which they were added, unless one passes on twice.
        if (!listeners.some(({ behaviour }) => behaviour === 'pass twice')) {
          for (const event of EVENTS) {
            const places = order.filter((label) => label.startsWith(event)).map((label) => Number(label.split(' ')[1]))
            expect(places).toEqual(places.toSorted((one, other) => one - other))
          }
        }
        const first = listeners.find(({ event }) => event === 'tools/pre-execute')
        if (first !== undefined && BREAKING.includes(first.behaviour)) {
          expect(result.error?.message).toMatch(/^tools\/pre-execute listener/)
          expect(seen.bodies).toBe(0)
        }
        if (
          listeners.every(
            ({ behaviour }) => behaviour === 'pass' || behaviour === 'slow pass' || behaviour === 'mutate',
          )
        ) {
          expect(result).toMatchObject({ isError: false, value: { ok: true } })
        }
        for (const dispose of disposers) dispose()
        expect(await call({ callId: 'c2' })).toMatchObject({ isError: false, value: { ok: true } })
      }),
      { numRuns: 400 },
    )
  })
})
