/** A chain of listeners: each one may pass on with `next()`, or answer by itself. */
import { CallbackFailure, partyName } from '../tool/blame.ts'

/** One chain; behind the last listener stands `innermost`. */
export interface Waterfall<Listener, Result> {
  readonly event: string
  /** Outermost first. */
  readonly listeners: readonly Listener[]
  /** Calls one listener with its `next`. */
  readonly call: (listener: Listener, next: () => Promise<Result>) => Promise<Result>
  readonly innermost: () => Promise<Result>
  /** What is wrong with the answer of a listener, undefined when nothing is. */
  readonly fault: (answer: Result) => string | undefined
}

interface Culprit {
  readonly thrown: unknown
  /** Undefined: it came from behind the listeners. */
  readonly party: string | undefined
}

/**
 * Runs the chain.
 * @throws CallbackFailure that names the listener which threw or answered nonsense.
 */
export async function runWaterfall<Listener, Result>(waterfall: Waterfall<Listener, Result>): Promise<Result> {
  const { event, listeners, call, innermost, fault } = waterfall
  let culprit: Culprit | undefined
  // What passes through a listener that awaits the rest is not its own.
  const blame = (thrown: unknown, party: string | undefined): void => {
    if (culprit === undefined || culprit.thrown !== thrown) culprit = { thrown, party }
  }
  const at = async (index: number): Promise<Result> => {
    const listener = listeners[index]
    const party = listener === undefined ? undefined : partyName(`${event} listener`, listener, index + 1)
    try {
      if (listener === undefined) return await innermost()
      const answer = await call(listener, () => {
        const passedOn = at(index + 1)
        // A listener that does not wait for the rest must not end the host when the rest fails.
        passedOn.catch(() => undefined)
        return passedOn
      })
      const problem = fault(answer)
      if (problem !== undefined) throw new TypeError(problem)
      return answer
    } catch (thrown) {
      blame(thrown, party)
      throw thrown
    }
  }
  try {
    return await at(0)
  } catch (thrown) {
    const party = culprit?.thrown === thrown ? culprit?.party : undefined
    throw party === undefined ? thrown : new CallbackFailure(party, thrown)
  }
}
