/** The deadline of a tool: the innermost wrapper around its body, so that no other wrapper can take it off. */
import { ToolTimeoutError } from '../errors.ts'
import type { ToolDispatchExecution } from '../tool/definition.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { thrownFailure } from './result.ts'
import { fuseSignals } from './signal.ts'

/** Longest time that a timer can take, milliseconds. */
export const MAX_TIMER_MS = 2_147_483_647

/**
 * Aborts the body after `timeoutMs` and awaits it. What it came to after its deadline is `TOOL_TIMEOUT`,
 * unless it was given up (`EFFECTS_UNKNOWN`); a caller that cancels first has the word.
 */
export async function withTimeout(
  exec: ToolDispatchExecution,
  next: () => Promise<ToolExecutionResult>,
  timeoutMs: number | undefined,
): Promise<ToolExecutionResult> {
  if (timeoutMs === undefined) return next()
  const outer = exec.signal
  const deadline = new AbortController()
  const timedOut = new ToolTimeoutError(timeoutMs)
  const timer = setTimeout(() => deadline.abort(timedOut), Math.min(timeoutMs, MAX_TIMER_MS))
  const cancelDeadline = (): void => clearTimeout(timer)
  outer.addEventListener('abort', cancelDeadline, { once: true })
  const { signal, release } = fuseSignals(outer, deadline.signal)
  exec.signal = signal
  try {
    if (outer.aborted) cancelDeadline()
    const result = await next()
    const isGivenUp = result.isError && result.error.info?.code === 'EFFECTS_UNKNOWN'
    return deadline.signal.aborted && !isGivenUp ? thrownFailure(timedOut) : result
  } finally {
    exec.signal = outer
    release()
    cancelDeadline()
    outer.removeEventListener('abort', cancelDeadline)
  }
}
