/** The body of a tool under the caller's cancellation; awaited to its end unless the operator gave it up. */
import { HarnessError } from '../errors.ts'

/** Options of one invocation. */
export interface BodyOptions {
  readonly name: string
  readonly signal: AbortSignal
  /** Milliseconds after cancellation at which a body is given up; undefined: never. */
  readonly abandonAfterMs: number | undefined
  readonly invoke: () => Promise<unknown>
}

/** A body ignored its cancellation and was given up. */
export class EffectsUnknownError extends HarnessError {}

/**
 * Runs the body.
 * @throws whatever it throws; EffectsUnknownError (`EFFECTS_UNKNOWN`) when it was given up.
 */
export async function runBody({ name, signal, abandonAfterMs, invoke }: BodyOptions): Promise<unknown> {
  if (abandonAfterMs === undefined) return invoke()
  let timer: NodeJS.Timeout | undefined
  let startTimer: () => void = () => undefined
  const abandoned = new Promise<never>((_resolve, reject) => {
    startTimer = () => {
      timer = setTimeout(() => {
        const message = `tool "${name}" ignored its cancellation for ${abandonAfterMs} ms and was abandoned; whether its effects happened is unknown`
        reject(new EffectsUnknownError(message, 'EFFECTS_UNKNOWN'))
      }, abandonAfterMs)
    }
  })
  if (signal.aborted) startTimer()
  else signal.addEventListener('abort', startTimer, { once: true })
  try {
    // A body that settles after it was given up changes nothing; race() has taken its rejection.
    return await Promise.race([invoke(), abandoned])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', startTimer)
  }
}
