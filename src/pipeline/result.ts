/** Results that the pipeline makes itself. */
import { ABORT_ERROR, HarnessError, messageOf } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { CallbackFailure } from '../tool/blame.ts'
import type { ToolErrorInfo, ToolExecutionFailure, ToolExecutionResult } from '../tool/outcome.ts'

/** A failed result with the text that a model reads. */
export function failure(message: string, info?: ToolErrorInfo): ToolExecutionFailure {
  return {
    isError: true,
    error: info === undefined ? { message } : { message, info: copyInfo(info) },
    content: [{ type: 'text', text: `Error: ${message}` }],
  }
}

/** The result of whatever was thrown; only a HarnessError has an identity. */
export function thrownFailure(thrown: unknown): ToolExecutionFailure {
  return failure(messageOf(thrown), infoOf(originalOf(thrown)))
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
  if (!isCancellation(thrown, signal)) return thrownFailure(thrown)
  return failure(messageOf(originalOf(thrown)), abortInfo(isBodyInvoked))
}

/** Freezes what policies see of an outcome; contexts belong to who wrote them. */
export function freezeOutcome<Outcome extends ToolExecutionResult>(outcome: Outcome): Outcome {
  const { content, error, meta, additionalContexts } = outcome
  for (const part of [content, error, meta]) deepFreeze(part)
  Object.freeze(additionalContexts)
  return Object.freeze(outcome)
}

function copyInfo({ name, code, reason }: ToolErrorInfo): ToolErrorInfo {
  return reason === undefined ? { name, code } : { name, code, reason }
}

function abortInfo(isBodyInvoked: boolean): ToolErrorInfo {
  return { name: ABORT_ERROR, code: isBodyInvoked ? 'ABORTED' : 'ABORTED_BEFORE_DISPATCH' }
}

/** Whether something was thrown because of this signal: its own reason, or an error that says it is an abort. */
export function isCancellation(thrown: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false
  const original = originalOf(thrown)
  if (original === signal.reason) return true
  try {
    return original instanceof Error && original.name === ABORT_ERROR
  } catch {
    return false
  }
}

/** What a named callback threw, or the value itself. */
function originalOf(thrown: unknown): unknown {
  try {
    return thrown instanceof CallbackFailure ? thrown.thrown : thrown
  } catch {
    // A thrown proxy may refuse even to say what it is.
    return thrown
  }
}

function infoOf(thrown: unknown): ToolErrorInfo | undefined {
  try {
    if (!(thrown instanceof HarnessError)) return undefined
    return copyInfo(thrown)
  } catch {
    // A thrown proxy may refuse even to say what it is.
    return undefined
  }
}
