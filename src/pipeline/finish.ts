/** The end of every call: materialise, finalise once, freeze, tell the observers. */
import { deepFreeze } from '../json/freeze.ts'
import { CallbackFailure, partyName } from '../tool/blame.ts'
import type { ContentBlock } from '../tool/content.ts'
import type { ToolExecution } from '../tool/definition.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { asContent, durableCopy } from './normalise.ts'
import { thrownFailure } from './result.ts'
import type { ToolSource } from './tool-source.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'

/** A tool's own last transform, captured when the call began. */
export type FinalizeContent = (
  exec: Readonly<ToolExecution>,
  result: Readonly<ToolExecutionResult>,
) => ContentBlock[] | undefined

/** Makes the result durable-safe, runs the finaliser exactly once, freezes, notifies. */
export function finish(
  result: ToolExecutionResult,
  exec: ToolExecution,
  { tools, finalizeContent }: { readonly tools: ToolSource; readonly finalizeContent: FinalizeContent | undefined },
): ToolExecutionResult {
  const durable = materialise(result)
  const transformed = finalised(durable, exec, finalizeContent)
  const final = deepFreeze(transformed === durable ? durable : materialise(transformed))
  for (const [index, observe] of tools.listeners('tools/result', exec.agent).entries()) {
    const party = partyName('tools/result listener', observe, index + 1)
    notify(party, () => observe(exec, final))
  }
  return final
}

function finalised(
  result: ToolExecutionResult,
  exec: ToolExecution,
  finalizeContent: FinalizeContent | undefined,
): ToolExecutionResult {
  if (finalizeContent === undefined) return result
  try {
    const content = settledAtOnce(finalizeContent(exec, deepFreeze(result)))
    return content === undefined ? result : { ...result, content: asContent(content) }
  } catch (thrown) {
    return thrownFailure(new CallbackFailure(`finalizeContent of tool "${exec.name}"`, thrown))
  }
}

/** Everything beside the value is copied as JSON; the value was when it was normalised. */
function materialise(result: ToolExecutionResult): ToolExecutionResult {
  const { value, ...durable } = result
  try {
    const copy = durableCopy(durable)
    // A snapshot has the fields of what it was taken of, each of them detached.
    const detached = {
      ...result,
      ...(copy as object),
      ...(value === undefined ? {} : { value }),
    } as ToolExecutionResult
    asContent(detached.content)
    return detached
  } catch (thrown) {
    return thrownFailure(thrown)
  }
}

/** Observers cannot change anything, and what they throw is theirs. */
function notify(party: string, observe: () => unknown): void {
  const warn = (failed: unknown): void =>
    process.emitWarning(new CallbackFailure(party, failed).message, 'PtcListenerWarning')
  try {
    const returned = observe()
    if (returned instanceof Promise) returned.catch(warn)
  } catch (failed) {
    warn(failed)
  }
}
