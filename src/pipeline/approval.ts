/** The answer of a person to a call that a policy wants approved. */
import { randomUUID } from 'node:crypto'
import { APPROVAL_ERROR } from '../errors.ts'
import type { Agent, ToolCallId } from '../tool/content.ts'
import type { PreToolDecision, ToolExecution } from '../tool/definition.ts'
import { isCancellation } from './result.ts'

/** What a person is asked. */
export interface ApprovalRequest {
  /** Random; a decision names it. */
  readonly approvalId: string
  readonly callId: ToolCallId
  readonly rootCallId: ToolCallId
  readonly name: string
  readonly arguments: unknown
  /** Audited reason of the policy. */
  readonly reason?: string
  /** Text for the person, by locale. */
  readonly displayReason?: { readonly en: string; readonly [locale: string]: string }
  readonly agent: Agent
}

/** Only `allowed-once` lets the call run. */
export type ApprovalOutcome = 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'

/** Asks for approval; `signal` is the call's own. */
export type ApprovalHandler = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => Promise<ApprovalOutcome>

type Ask = Extract<PreToolDecision, { kind: 'ask' }>

/** Turns an `ask` into a decision that is final. */
export async function askApproval(
  ask: Ask,
  exec: ToolExecution,
  approve: ApprovalHandler | undefined,
): Promise<Exclude<PreToolDecision, Ask>> {
  const { name, agent, callId, rootCallId, signal } = exec
  const wanted = `tool "${name}" requires approval`
  if (approve === undefined) return deny('APPROVAL_UNAVAILABLE', ask.reason ?? `${wanted} (not yet supported)`)
  if (agent === undefined)
    return deny('APPROVAL_UNAVAILABLE', `${wanted}, but the call has no agent to route it through`)
  const request: ApprovalRequest = {
    approvalId: randomUUID(),
    callId,
    rootCallId,
    name,
    arguments: exec.arguments,
    agent,
    ...(ask.reason === undefined ? {} : { reason: ask.reason }),
    ...(ask.displayReason === undefined ? {} : { displayReason: ask.displayReason }),
  }
  let outcome: ApprovalOutcome
  try {
    outcome = await approve(request, { signal })
  } catch (thrown) {
    if (isCancellation(thrown, signal)) return { kind: 'cancel' }
    throw thrown
  }
  switch (outcome) {
    case 'allowed-once':
      return { kind: 'allow' }
    case 'rejected':
      return deny('APPROVAL_REJECTED', `the user rejected tool "${name}"`)
    case 'cancelled':
      return signal.aborted
        ? { kind: 'cancel' }
        : deny('APPROVAL_CANCELLED', `approval for tool "${name}" was cancelled`)
    case 'unavailable':
      return deny('APPROVAL_UNAVAILABLE', `${wanted}, but no approval channel is available`)
    default:
      throw new TypeError(
        `an approval must be allowed-once, rejected, cancelled or unavailable, ${String(outcome)} came`,
      )
  }
}

function deny(code: string, reason: string): Exclude<PreToolDecision, Ask> {
  return { kind: 'deny', reason, info: { name: APPROVAL_ERROR, code } }
}
