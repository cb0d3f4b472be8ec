/** Before the body: listeners, then the answer of a person where one is asked, then guards. */
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

/** Asks the listeners. Rejects with what one of them threw, named. */
export function preExecute(exec: ToolExecution, tools: ToolSource): Promise<PreToolDecision> {
  return runWaterfall<PreExecuteListener, PreToolDecision>({
    event: 'tools/pre-execute',
    listeners: tools.listeners('tools/pre-execute', exec.agent),
    call: (listener, next) => listener(exec, next),
    innermost: async () => ({ kind: 'allow' }),
    fault: faultOfPreDecision,
  })
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
