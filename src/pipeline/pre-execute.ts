/** Before the body: listeners, approval, guards, and the caller's cancellation once more. */
import type { PreToolDecision, ToolExecution } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionFailure } from '../tool/outcome.ts'
import { type ApprovalHandler, askApproval } from './approval.ts'
import { abortedFailure, failure } from './result.ts'
import type { ToolSource } from './tool-source.ts'
import { runWaterfall } from './waterfall.ts'

type PreExecuteListener = ToolEvents['tools/pre-execute']

/**
 * Decides about one call. Resolves with nothing when it may run, else with the failure that it
 * becomes; what a listener, the approval or a guard throws is thrown on.
 */
export async function preExecute(
  exec: ToolExecution,
  tools: ToolSource,
  approve: ApprovalHandler | undefined,
): Promise<ToolExecutionFailure | undefined> {
  const decision = await runWaterfall<PreExecuteListener, PreToolDecision>(
    tools.listeners('tools/pre-execute', exec.agent),
    (listener, next) => listener(exec, next),
    async () => ({ kind: 'allow' }),
  )
  const final = decision?.kind === 'ask' ? await askApproval(decision, exec, approve) : decision
  switch (final?.kind) {
    case 'deny':
      return failure(final.reason, final.info)
    case 'cancel':
      return abortedFailure(false)
    case 'allow': {
      const denial = tools.checkGuards(exec)
      if (denial !== undefined) return failure(denial.reason, denial.info)
      return exec.signal.aborted ? abortedFailure(false) : undefined
    }
    default:
      throw new TypeError(`tools/pre-execute must decide allow, deny, cancel or ask, ${describe(final)} came`)
  }
}

function describe(decision: never): string {
  const { kind } = Object(decision) as { kind?: unknown }
  return JSON.stringify(kind) ?? 'nothing'
}
