/** Host code under the caller's cancellation: awaited to its end unless the operator gives it up. */
import { ABORT_ERROR, EffectsUnknownError, HarnessError } from '../errors.ts'

/** When the operator gives up code that ignores its cancellation. */
export interface Abandonment {
  /** Milliseconds after the cancellation; undefined: never by itself. */
  readonly afterMs: number | undefined
  /** Aborted when the operator waits no longer; undefined: that never happens. */
  readonly now: AbortSignal | undefined
}

/** Nothing is ever given up. */
export const NEVER_ABANDONED: Abandonment = Object.freeze({ afterMs: undefined, now: undefined })

/** Options of one wait. */
export interface AwaitedWork<Result> {
  /** The call's cancellation. */
  readonly signal: AbortSignal
  readonly abandonment: Abandonment
  readonly work: () => Promise<Result>
  /** The error of work that is given up; `waited` is empty or such as ` for 500 ms`. */
  readonly giveUp: (waited: string) => Error | Promise<Error>
}

/** Runs work and waits for it. @throws whatever it throws, or the error of `giveUp`. */
export async function untilAbandoned<Result>(awaited: AwaitedWork<Result>): Promise<Result> {
  const { signal, abandonment, work, giveUp } = awaited
  const { afterMs, now } = abandonment
  if (afterMs === undefined && now === undefined) return work()
  const released = new AbortController()
  const listen = { once: true, signal: released.signal }
  const abandoned = new Promise<never>((_resolve, reject) => {
    // One turn more: work that is about to settle is not given up.
    const leave = (waited: string): void => void setImmediate(() => void Promise.resolve(giveUp(waited)).then(reject))
    const onCancel = (): void => {
      if (now?.aborted === true) leave('')
      now?.addEventListener('abort', () => leave(''), listen)
      if (afterMs === undefined) return
      const timer = setTimeout(() => leave(` for ${afterMs} ms`), afterMs)
      released.signal.addEventListener('abort', () => clearTimeout(timer))
    }
    if (signal.aborted) onCancel()
    else signal.addEventListener('abort', onCancel, listen)
  })
  try {
    // Work that settles after it was given up changes nothing; race() has taken its rejection.
    return await Promise.race([work(), abandoned])
  } finally {
    released.abort()
  }
}

/** A body or wrapper that was given up: nobody knows what it still does. */
export function effectsUnknown(party: string, waited: string): Error {
  const message = `${party} ignored its cancellation${waited} and was abandoned; whether its effects happened is unknown`
  return new EffectsUnknownError(message)
}

/** A policy that was given up: its call is cancelled. */
export function policyAbandoned(party: string, waited: string, isBodyInvoked: boolean): Error {
  const error = new HarnessError(
    `${party} ignored its cancellation${waited} and was abandoned`,
    isBodyInvoked ? 'ABORTED' : 'ABORTED_BEFORE_DISPATCH',
  )
  error.name = ABORT_ERROR
  return error
}
