/** One call on its way through the stages. */
import type { HarnessError } from '../errors.ts'
import { CallbackFailure } from '../tool/blame.ts'
import type { ToolDefinition, ToolExecution, ToolExecutionInput } from '../tool/definition.ts'
import type { ToolExecutionResult, ToolResult } from '../tool/outcome.ts'
import { presentationOf, type ToolPresentation } from '../tool/present.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'
import { type Abandonment, NEVER_ABANDONED, policyAbandoned, untilAbandoned } from './abandon.ts'
import { type ApprovalHandler, type Ask, askApproval, DEFAULT_APPROVAL_MS } from './approval.ts'
import { Dispatch } from './dispatch.ts'
import { type FinalizeContent, finish } from './finish.ts'
import { identify, type PipelineCallOptions } from './identify.ts'
import { asContent, durableCopy } from './normalise.ts'
import { postExecute } from './post-execute.ts'
import { type CallPolicy, type FinalDecision, preExecute, settleDecision } from './pre-execute.ts'
import { abortedFailure, failure, freezeOutcome, thrownAfterCancel, thrownFailure } from './result.ts'
import type { ToolSource } from './tool-source.ts'

/** Options of a pipeline. */
export interface ToolExecutionPipelineOptions {
  readonly tools: ToolSource
  /** Asked before the listeners; default: everything may run. */
  readonly policy?: CallPolicy
  /** Answers `ask` decisions; without it they are denied. */
  readonly approve?: ApprovalHandler
  /** Milliseconds until an unanswered approval counts as cancelled; positive, default 1,800,000 (30 minutes). */
  readonly approvalMs?: number
  /** Milliseconds after cancellation at which a body or policy that ignores it is given up. Default: never. */
  readonly abandonAfterMs?: number
  /** Aborted when the operator gives up, at once, everything that ignores its cancellation. */
  readonly abandonSignal?: AbortSignal
}

/** One call whose stages a scheduler drives, in this order; nothing runs undecided, and nothing is done twice. */
export interface PipelineCall {
  readonly execution: ToolExecution
  /** Listeners, and guards unless a person has to be asked first. Never rejects. */
  decide(): Promise<void>
  /** Asks the person that a listener wants asked, then the guards; undefined when nobody has to be. Never rejects. */
  approval(): Promise<void> | undefined
  /** Wrappers and body; does nothing for a call that was decided against. Never rejects. */
  dispatch(): Promise<void>
  /** Everything after the body; the one result of the call. Never rejects. */
  commit(): Promise<ToolExecutionResult>
  /** The cards of the tool that was called, from what is kept of the call; undefined where it makes none. Never throws. */
  present(kept: ToolResult): ToolPresentation | undefined
}

/** The stages of one call, driven from outside. */
export class StagedCall implements PipelineCall {
  readonly execution: ToolExecution
  readonly #options: ToolExecutionPipelineOptions
  readonly #call: PipelineCallOptions
  readonly #abandonment: Abandonment
  readonly #found: ToolDefinition | undefined
  readonly #dispatch: Dispatch
  /** Ends the call without post-execute. */
  #final: ToolExecutionResult | undefined
  /** The executor ends the call before any policy, if it is not cancelled already. */
  #refusal: HarnessError | undefined
  /** A listener wants a person asked. */
  #ask: Ask | undefined
  /** The policies let it run and it has not run yet. */
  #mayRun = false
  #decided: Promise<void> | undefined
  #approved: Promise<void> | undefined
  #dispatched: Promise<void> = Promise.resolve()
  #committed: Promise<ToolExecutionResult> | undefined
  /** What post-execute gets. */
  #outcome: ToolExecutionResult | undefined

  constructor(input: ToolExecutionInput, options: ToolExecutionPipelineOptions, call: PipelineCallOptions) {
    this.#options = options
    this.#call = call
    const { execution, found, unfit } = identify(input, options.tools, call)
    this.execution = execution
    this.#found = found
    this.#final = unfit
    this.#refusal = unfit === undefined ? call.refusal : undefined
    const { tools, abandonAfterMs, abandonSignal } = options
    this.#abandonment = { afterMs: abandonAfterMs, now: abandonSignal }
    this.#dispatch = new Dispatch({
      exec: execution,
      tools,
      // A transport only waits for the calls inside it, which are given up one by one.
      abandonment: call.definition === undefined ? this.#abandonment : NEVER_ABANDONED,
      findDefinition: () => this.#findDefinition(),
    })
  }

  decide(): Promise<void> {
    return (this.#decided ??= this.#decide())
  }

  approval(): Promise<void> | undefined {
    const ask = this.#ask
    if (ask !== undefined && this.#committed === undefined) this.#approved ??= this.#answer(ask)
    return this.#approved
  }

  dispatch(): Promise<void> {
    if (this.#mayRun) this.#dispatched = this.#run()
    return this.#dispatched
  }

  commit(): Promise<ToolExecutionResult> {
    return (this.#committed ??= this.#commit())
  }

  present(kept: ToolResult): ToolPresentation | undefined {
    if (this.#found === undefined) return undefined
    return presentationOf(this.#found, this.execution.arguments, kept)
  }

  async #decide(): Promise<void> {
    if (this.#final !== undefined || this.#committed !== undefined) return
    const { execution: exec } = this
    if (exec.signal.aborted) {
      this.#refusal = undefined
      this.#final = abortedFailure(false)
      return
    }
    if (this.#refusal !== undefined) {
      this.#final = thrownFailure(this.#refusal)
      return
    }
    await this.#deciding(async () => {
      const decision = await this.#patiently('tools/pre-execute', () =>
        preExecute(exec, this.#options.tools, this.#options.policy),
      )
      if (decision.kind === 'ask') this.#ask = decision
      return decision.kind === 'ask' ? undefined : decision
    })
  }

  async #answer(ask: Ask): Promise<void> {
    const { approve, approvalMs = DEFAULT_APPROVAL_MS } = this.#options
    await this.#deciding(() => askApproval(ask, this.execution, { approve, approvalMs, runId: this.#call.runId }))
  }

  /** Takes one step towards the decision; what it throws ends the call. */
  async #deciding(step: () => Promise<FinalDecision | undefined>): Promise<void> {
    try {
      const decision = await step()
      if (decision === undefined) return
      this.#outcome = settleDecision(decision, this.execution, this.#options.tools)
      this.#mayRun = this.#outcome === undefined
    } catch (thrown) {
      this.#final = thrownFailure(thrown)
    }
  }

  async #run(): Promise<void> {
    this.#mayRun = false
    try {
      const result = await this.#dispatch.run()
      const contexts = [...this.#dispatch.deferred, ...(result.additionalContexts ?? [])]
      const concludes = !result.isError && this.#dispatch.concludesTurn
      this.#outcome = {
        ...result,
        ...(contexts.length === 0 ? {} : { additionalContexts: contexts }),
        ...(concludes ? { concludesTurn: true as const } : {}),
      } as ToolExecutionResult // spreading keeps which of the two it is; the compiler loses it
    } catch (thrown) {
      this.#final = this.#withDeferred(thrownAfterCancel(thrown, this.execution.signal, this.#dispatch.isBodyInvoked))
    }
  }

  async #commit(): Promise<ToolExecutionResult> {
    await this.#decided
    await this.#approved
    this.#mayRun = false
    await this.#dispatched
    const { tools } = this.#options
    const result = this.#final ?? (await this.#accepted(this.#outcome ?? failure('the call was not dispatched')))
    return finish(result, this.execution, { tools, finalizeContent: this.#finalizer() })
  }

  /** Read at the very end of a call, where nothing may throw any more. */
  #finalizer(): FinalizeContent | undefined {
    const found = this.#found
    // A tool has no say in a refusal that is about more than its own call.
    if (found === undefined || this.#refusal !== undefined) return undefined
    return (exec, result) => found.finalizeContent?.(exec, result)
  }

  /** Projection and policies over a normalised outcome; cancellation then replaces only a success. */
  async #accepted(outcome: ToolExecutionResult): Promise<ToolExecutionResult> {
    const { execution: exec } = this
    const { tools } = this.#options
    try {
      const projected = this.#projected(outcome)
      const context = { exec, tools, findDefinition: () => this.#findDefinition() }
      const result = await this.#patiently('tools/post-execute', () => postExecute(freezeOutcome(projected), context))
      if (!exec.signal.aborted || result.isError) return result
      const { additionalContexts } = result
      const aborted = abortedFailure(this.#dispatch.isBodyInvoked)
      return additionalContexts === undefined ? aborted : { ...aborted, additionalContexts }
    } catch (thrown) {
      return this.#withDeferred(thrownFailure(thrown))
    }
  }

  #projected(outcome: ToolExecutionResult): ToolExecutionResult {
    try {
      const content = settledAtOnce(this.#found?.projectContent?.(this.execution, freezeOutcome(outcome)))
      return content === undefined ? outcome : { ...outcome, content: asContent(durableCopy(content)) }
    } catch (thrown) {
      throw new CallbackFailure(`projectContent of tool "${this.execution.name}"`, thrown)
    }
  }

  /** Waits for listeners; where the operator gives up, they are given up too. */
  #patiently<Result>(event: string, work: () => Promise<Result>): Promise<Result> {
    const { signal, name } = this.execution
    return untilAbandoned({
      signal,
      abandonment: this.#abandonment,
      work,
      giveUp: (waited) =>
        policyAbandoned(`a ${event} listener of tool "${name}"`, waited, this.#dispatch.isBodyInvoked),
    })
  }

  #withDeferred(result: ToolExecutionResult): ToolExecutionResult {
    const { deferred } = this.#dispatch
    return deferred.length === 0 ? result : { ...result, additionalContexts: [...deferred] }
  }

  #findDefinition(): ToolDefinition | undefined {
    const { name, agent, toolSet } = this.execution
    return this.#call.definition ?? this.#options.tools.executable(name, agent, toolSet)
  }
}
