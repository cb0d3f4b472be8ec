/** The body of a tool under the caller's cancellation; awaited to its end unless the operator gives it up. */
import { EffectsUnknownError } from '../errors.ts'

/** When the operator gives up a body that ignores its cancellation. */
export interface Abandonment {
  /** Milliseconds after the cancellation; undefined: never by itself. */
  readonly afterMs: number | undefined
  /** Aborted when the operator waits no longer; undefined: that never happens. */
  readonly now: AbortSignal | undefined
}

/** Options of one invocation. */
export interface BodyOptions {
  readonly name: string
  /** The call's cancellation. */
  readonly signal: AbortSignal
  readonly abandonment: Abandonment
  readonly invoke: () => Promise<unknown>
}

/**
 * Runs the body.
 * @throws whatever it throws; EffectsUnknownError (`EFFECTS_UNKNOWN`) when it was given up.
 */
export async function runBody({ name, signal, abandonment, invoke }: BodyOptions): Promise<unknown> {
  const { afterMs, now } = abandonment
  if (afterMs === undefined && now === undefined) return invoke()
  const released = new AbortController()
  const listen = { once: true, signal: released.signal }
  const abandoned = new Promise<never>((_resolve, reject) => {
    const giveUp = (waited: string): void => reject(effectsUnknown(name, waited))
    const onCancel = (): void => {
      if (now?.aborted === true) giveUp('')
      now?.addEventListener('abort', () => giveUp(''), listen)
      if (afterMs === undefined) return
      const timer = setTimeout(() => giveUp(` for ${afterMs} ms`), afterMs)
      released.signal.addEventListener('abort', () => clearTimeout(timer))
    }
    if (signal.aborted) onCancel()
    else signal.addEventListener('abort', onCancel, listen)
  })
  try {
    // A body that settles after it was given up changes nothing; race() has taken its rejection.
    return await Promise.race([invoke(), abandoned])
  } finally {
    released.abort()
  }
}

function effectsUnknown(name: string, waited: string): EffectsUnknownError {
  const message = `tool "${name}" ignored its cancellation${waited} and was abandoned; whether its effects happened is unknown`
  return new EffectsUnknownError(message)
}
