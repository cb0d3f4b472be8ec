/** The caller's cancellation, fused with what a wrapper put in its place. */

/** A fused signal; `release` takes its listeners off the two it came from. */
export interface FusedSignal {
  readonly signal: AbortSignal
  readonly release: () => void
}

/**
 * Aborts as soon as one of the two does. A relay by hand: nested AbortSignal.any keeps its sources alive.
 * @throws TypeError for a replacement that is no signal.
 */
export function fuseSignals(caller: AbortSignal, replacement: AbortSignal): FusedSignal {
  if (!(replacement instanceof AbortSignal)) {
    throw new TypeError('tools/execute may replace exec.signal by another AbortSignal only, not remove it')
  }
  if (caller === replacement) return { signal: caller, release: () => undefined }
  const controller = new AbortController()
  const sources = [caller, replacement]
  const relay = (): void => controller.abort(sources.find(({ aborted }) => aborted)?.reason)
  for (const source of sources) source.addEventListener('abort', relay, { once: true })
  if (sources.some(({ aborted }) => aborted)) relay()
  return {
    signal: controller.signal,
    release: () => {
      for (const source of sources) source.removeEventListener('abort', relay)
    },
  }
}
