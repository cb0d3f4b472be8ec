/** A batch of model calls through one lane: one outcome for each call, in the order of the calls. */
import { messageOf, PtcUsageError, ToolBatchExecutionError } from '../errors.ts'
import type { ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import type { UserMessage } from '../tool/content.ts'
import type { ToolExecutionInput } from '../tool/definition.ts'
import type { ToolBatchInput, ToolBatchResult, ToolCallResult } from '../tool/executor.ts'
import { type CallRoute, DirectCall } from './direct-call.ts'
import { CallLane } from './scheduler.ts'

/** What an executor brings to a batch. */
export interface BatchOptions {
  readonly pipeline: ToolExecutionPipeline
  /** Safe calls that overlap at most, where the batch does not say; see {@link checkedParallel}. */
  readonly maxParallelToolCalls: number
  readonly route: (input: ToolExecutionInput) => CallRoute
}

/** Safe root calls that overlap by default. */
export const DEFAULT_PARALLEL_TOOL_CALLS = 10

/** A configured number of overlapping calls. @throws PtcUsageError unless it is a positive whole number. */
export function checkedParallel(name: string, count: number): number {
  if (Number.isInteger(count) && count > 0) return count
  throw new PtcUsageError(`${name} must be a positive integer, ${count} came`)
}

/**
 * Executes a batch. When it is cancelled, what started is drained and the rest is on record as skipped.
 * @throws ToolBatchExecutionError (`TOOL_BATCH_FAILED`) when a root event cannot be written: nothing more
 * starts, what started is drained, and the error holds what was committed.
 */
export async function executeBatch(input: ToolBatchInput, options: BatchOptions): Promise<ToolBatchResult> {
  const { pipeline, maxParallelToolCalls, route } = options
  const lane = new CallLane(input.maxParallelToolCalls ?? maxParallelToolCalls)
  const results: ToolCallResult[] = []
  const additionalContexts: UserMessage[] = []
  const failures: { readonly callId: string; readonly cause: unknown }[] = []
  for (const block of input.calls) {
    const { id: callId } = block
    const context = {
      pipeline,
      batch: input,
      route,
      onCommit: (result: ToolCallResult['result']) => {
        results.push({ callId, result })
        additionalContexts.push(...(result.additionalContexts ?? []))
      },
      onFailure: (cause: unknown) => {
        failures.push({ callId, cause })
        lane.stop('the batch failed')
      },
    }
    lane.submit(new DirectCall(context, block))
  }
  await lane.settled()
  const [failure] = failures
  if (failure !== undefined) {
    const message = `call "${failure.callId}" broke the batch: ${messageOf(failure.cause)}`
    throw new ToolBatchExecutionError(message, { results, additionalContexts }, { cause: failure.cause })
  }
  return { results, additionalContexts, concluded: results.some(({ result }) => result.concludesTurn === true) }
}
