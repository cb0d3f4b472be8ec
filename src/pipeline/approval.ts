/** The answer of a person to a call that a policy wants approved. */
import { randomUUID } from 'node:crypto'
import { APPROVAL_ERROR } from '../errors.ts'
import { CallbackFailure } from '../tool/blame.ts'
import type { Agent, ToolCallId } from '../tool/content.ts'
import type { PreToolDecision, ToolExecution } from '../tool/definition.ts'
import type { FinalDecision } from './pre-execute.ts'
import { isCancellation } from './result.ts'

/** What a person is asked. */
export interface ApprovalRequest {
  /** Random; a decision names it. */
  readonly approvalId: string
  readonly callId: ToolCallId
  readonly rootCallId: ToolCallId
  /** The run whose program makes the call; absent for a direct call. */
  readonly runId?: string
  /** The call's id within that run; absent for a direct call. */
  readonly subCallId?: ToolCallId
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

/** Asks for approval; `signal` is aborted when the answer is no longer wanted: the call was cancelled or the time is over. */
export type ApprovalHandler = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => Promise<ApprovalOutcome>

/** A decision that a person has to make. */
export type Ask = Extract<PreToolDecision, { kind: 'ask' }>

/** Who is asked, and for how long. */
export interface ApprovalOptions {
  /** Undefined: nobody can be asked. */
  readonly approve: ApprovalHandler | undefined
  /** Milliseconds until an unanswered request counts as cancelled. */
  readonly approvalMs: number
  /** The run of a program's call. */
  readonly runId: string | undefined
}

/** Longest that a request waits by default: 30 minutes. */
export const DEFAULT_APPROVAL_MS = 1_800_000

/** Turns an `ask` into a decision that is final. Rejects with what the handler threw, named. */
export async function askApproval(ask: Ask, exec: ToolExecution, options: ApprovalOptions): Promise<FinalDecision> {
  const { name, agent, signal } = exec
  const { approve } = options
  const wanted = `tool "${name}" requires approval`
  if (approve === undefined) return deny('APPROVAL_UNAVAILABLE', ask.reason ?? `${wanted} (not yet supported)`)
  if (agent === undefined)
    return deny('APPROVAL_UNAVAILABLE', `${wanted}, but the call has no agent to route it through`)
  if (signal.aborted) return { kind: 'cancel' }
  const request = toRequest(ask, { ...exec, agent }, options.runId)
  const answer = await answerInTime(request, signal, { ...options, approve })
  switch (answer) {
    case 'allowed-once':
      return { kind: 'allow' }
    case 'rejected':
      return deny('APPROVAL_REJECTED', `the user rejected tool "${name}"`)
    case 'cancelled':
      return signal.aborted
        ? { kind: 'cancel' }
        : deny('APPROVAL_CANCELLED', `approval for tool "${name}" was cancelled`)
    case 'timed-out':
      return deny('APPROVAL_CANCELLED', `approval for tool "${name}" was not given within ${options.approvalMs} ms`)
    case 'unavailable':
      return deny('APPROVAL_UNAVAILABLE', `${wanted}, but no approval channel is available`)
  }
}

function toRequest(
  { reason, displayReason }: Ask,
  exec: ToolExecution & { readonly agent: Agent },
  runId: string | undefined,
): ApprovalRequest {
  const { callId, rootCallId, name, agent } = exec
  return Object.freeze({
    approvalId: randomUUID(),
    callId,
    rootCallId,
    ...(runId === undefined ? {} : { runId, subCallId: callId }),
    name,
    arguments: exec.arguments,
    agent,
    ...(reason === undefined ? {} : { reason }),
    ...(displayReason === undefined ? {} : { displayReason: Object.freeze({ ...displayReason }) }),
  })
}

/** An answer that comes after the cancellation or the time is over counts for nothing, so nobody waits for it. */
async function answerInTime(
  request: ApprovalRequest,
  caller: AbortSignal,
  { approve, approvalMs }: ApprovalOptions & { readonly approve: ApprovalHandler },
): Promise<ApprovalOutcome | 'timed-out'> {
  const over = new AbortController()
  let onCancel = (): void => undefined
  let timer: NodeJS.Timeout | undefined
  const unanswered = new Promise<'cancelled' | 'timed-out'>((resolve) => {
    const end = (how: 'cancelled' | 'timed-out', reason: unknown): void => {
      over.abort(reason)
      resolve(how)
    }
    onCancel = () => end('cancelled', caller.reason)
    timer = setTimeout(() => end('timed-out', new Error('the approval was not given in time')), approvalMs)
    if (caller.aborted) onCancel()
    else caller.addEventListener('abort', onCancel, { once: true })
  })
  try {
    return await Promise.race([asked(approve, request, over.signal), unanswered])
  } finally {
    clearTimeout(timer)
    caller.removeEventListener('abort', onCancel)
  }
}

const OUTCOMES: readonly unknown[] = ['allowed-once', 'rejected', 'cancelled', 'unavailable']

async function asked(
  approve: ApprovalHandler,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalOutcome> {
  try {
    const outcome = await approve(request, { signal })
    if (OUTCOMES.includes(outcome)) return outcome
    throw new TypeError(`it must answer allowed-once, rejected, cancelled or unavailable, ${String(outcome)} came`)
  } catch (thrown) {
    if (isCancellation(thrown, signal)) return 'cancelled'
    throw new CallbackFailure('the approval handler', thrown)
  }
}

function deny(code: string, reason: string): FinalDecision {
  return { kind: 'deny', reason, info: { name: APPROVAL_ERROR, code } }
}
