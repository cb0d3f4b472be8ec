/** Before the body: the policy, listeners, then the answer of a person where one is asked, then guards. */
import { blaming } from '../tool/blame.ts'
import type { PreToolDecision, ToolExecution } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionFailure } from '../tool/outcome.ts'
import { faultOfPreDecision } from './answers.ts'
import { abortedFailure, failure } from './result.ts'
import type { ToolSource } from './tool-source.ts'
import { runWaterfall } from './waterfall.ts'

type PreExecuteListener = ToolEvents['tools/pre-execute']

/** A decision that nobody has to be asked about. */
export type FinalDecision = Exclude<PreToolDecision, { kind: 'ask' }>

/** Rules that the operator put before all listeners. */
export interface CallPolicy {
  /** Its word on a call: a listener can make it stricter, never milder. */
  decide(call: { readonly name: string; readonly arguments: unknown }): PreToolDecision
}

/** Asks the policy, then the listeners; the stricter one decides. Rejects with what one of them threw, named. */
export async function preExecute(
  exec: ToolExecution,
  tools: ToolSource,
  policy: CallPolicy | undefined,
): Promise<PreToolDecision> {
  const ruled = policy === undefined ? undefined : blaming('the policy', () => policy.decide(exec))
  if (ruled?.kind === 'deny' || ruled?.kind === 'cancel') return ruled
  const decision = await runWaterfall<PreExecuteListener, PreToolDecision>({
    event: 'tools/pre-execute',
    listeners: tools.listeners('tools/pre-execute', exec.agent),
    call: (listener, next) => listener(exec, next),
    innermost: async () => ({ kind: 'allow' }),
    fault: faultOfPreDecision,
  })
  return ruled?.kind === 'ask' && decision.kind === 'allow' ? ruled : decision
}

/**
 * The failure that a decision makes of a call, or nothing when it may run: guards have the last
 * word, and the caller's cancellation is looked at once more. Throws what a guard threw, named.
 */
export function settleDecision(
  decision: FinalDecision,
  exec: ToolExecution,
  tools: ToolSource,
): ToolExecutionFailure | undefined {
  switch (decision.kind) {
    case 'deny':
      return failure(decision.reason, decision.info)
    case 'cancel':
      return abortedFailure(false)
    case 'allow': {
      const denial = tools.checkGuards(exec)
      if (denial !== undefined) return failure(denial.reason, denial.info)
      return exec.signal.aborted ? abortedFailure(false) : undefined
    }
  }
}
