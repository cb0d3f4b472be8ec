/** Results that the pipeline makes itself. */
import { ABORT_ERROR, HarnessError, messageOf } from '../errors.ts'
import type { ToolErrorInfo, ToolExecutionFailure } from '../tool/outcome.ts'

/** A failed result with the text that a model reads. */
export function failure(message: string, info?: ToolErrorInfo): ToolExecutionFailure {
  return {
    isError: true,
    error: info === undefined ? { message } : { message, info },
    content: [{ type: 'text', text: `Error: ${message}` }],
  }
}

/** The result of whatever was thrown; only a HarnessError has an identity. */
export function thrownFailure(thrown: unknown): ToolExecutionFailure {
  return failure(messageOf(thrown), infoOf(thrown))
}

/** The canonical result of a cancelled call. */
export function abortedFailure(isBodyInvoked: boolean): ToolExecutionFailure {
  return isBodyInvoked
    ? failure('tool call aborted', abortInfo(true))
    : failure('tool call aborted before dispatch', abortInfo(false))
}

/**
 * What was thrown after the caller had cancelled: the signal's own reason, or an error that says
 * it is an abort, keeps its message and is identified as the cancellation.
 */
export function thrownAfterCancel(thrown: unknown, signal: AbortSignal, isBodyInvoked: boolean): ToolExecutionFailure {
  if (!signal.aborted || !isAbort(thrown, signal)) return thrownFailure(thrown)
  return failure(messageOf(thrown), abortInfo(isBodyInvoked))
}

function abortInfo(isBodyInvoked: boolean): ToolErrorInfo {
  return { name: ABORT_ERROR, code: isBodyInvoked ? 'ABORTED' : 'ABORTED_BEFORE_DISPATCH' }
}

function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  if (thrown === signal.reason) return true
  try {
    return thrown instanceof Error && thrown.name === ABORT_ERROR
  } catch {
    return false
  }
}

function infoOf(thrown: unknown): ToolErrorInfo | undefined {
  try {
    if (!(thrown instanceof HarnessError)) return undefined
    const { name, code, reason } = thrown
    return reason === undefined ? { name, code } : { name, code, reason }
  } catch {
    // A thrown proxy may refuse even to say what it is.
    return undefined
  }
}
