/** One call on its way through the stages. */
import type { ToolDefinition, ToolExecution, ToolExecutionInput } from '../tool/definition.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import type { ApprovalHandler } from './approval.ts'
import { Dispatch } from './dispatch.ts'
import { type FinalizeContent, finish } from './finish.ts'
import { identify, type PipelineCallOptions } from './identify.ts'
import { asContent, durableCopy } from './normalise.ts'
import { postExecute } from './post-execute.ts'
import { preExecute } from './pre-execute.ts'
import { abortedFailure, failure, freezeOutcome, thrownAfterCancel, thrownFailure } from './result.ts'
import type { ToolSource } from './tool-source.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'

/** Options of a pipeline. */
export interface ToolExecutionPipelineOptions {
  readonly tools: ToolSource
  /** Answers `ask` decisions; without it they are denied. */
  readonly approve?: ApprovalHandler
  /** Milliseconds after cancellation at which a body is given up as EFFECTS_UNKNOWN. Default: never. */
  readonly abandonAfterMs?: number
  /** Aborted when the operator gives up, at once, every body that ignores its cancellation. */
  readonly abandonSignal?: AbortSignal
}

/** One call whose stages a scheduler drives, in this order; nothing runs undecided, and nothing is done twice. */
export interface PipelineCall {
  readonly execution: ToolExecution
  /** Listeners, approval, guards. Never rejects. */
  decide(): Promise<void>
  /** Wrappers and body; does nothing for a call that was decided against. Never rejects. */
  dispatch(): Promise<void>
  /** Everything after the body; the one result of the call. Never rejects. */
  commit(): Promise<ToolExecutionResult>
}

/** The stages of one call, driven from outside. */
export class StagedCall implements PipelineCall {
  readonly execution: ToolExecution
  readonly #options: ToolExecutionPipelineOptions
  readonly #definition: ToolDefinition | undefined
  readonly #found: ToolDefinition | undefined
  readonly #dispatch: Dispatch
  /** Ends the call without post-execute. */
  #final: ToolExecutionResult | undefined
  /** The policies let it run and it has not run yet. */
  #mayRun = false
  #decided: Promise<void> | undefined
  #dispatched: Promise<void> = Promise.resolve()
  #committed: Promise<ToolExecutionResult> | undefined
  /** What post-execute gets. */
  #outcome: ToolExecutionResult | undefined

  constructor(input: ToolExecutionInput, options: ToolExecutionPipelineOptions, callOptions: PipelineCallOptions) {
    this.#options = options
    this.#definition = callOptions.definition
    const { execution, found, unfit } = identify(input, options.tools, callOptions)
    this.execution = execution
    this.#found = found
    this.#final = unfit
    const { tools, abandonAfterMs, abandonSignal } = options
    this.#dispatch = new Dispatch({
      exec: execution,
      tools,
      // A transport only waits for the calls inside it, which are given up one by one.
      abandonment:
        callOptions.definition === undefined
          ? { afterMs: abandonAfterMs, now: abandonSignal }
          : { afterMs: undefined, now: undefined },
      findDefinition: () => this.#findDefinition(),
    })
  }

  decide(): Promise<void> {
    return (this.#decided ??= this.#decide())
  }

  dispatch(): Promise<void> {
    if (this.#mayRun) this.#dispatched = this.#run()
    return this.#dispatched
  }

  commit(): Promise<ToolExecutionResult> {
    return (this.#committed ??= this.#commit())
  }

  async #decide(): Promise<void> {
    if (this.#final !== undefined || this.#committed !== undefined) return
    if (this.execution.signal.aborted) {
      this.#final = abortedFailure(false)
      return
    }
    try {
      this.#outcome = await preExecute(this.execution, this.#options.tools, this.#options.approve)
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
    this.#mayRun = false
    await this.#dispatched
    const { tools } = this.#options
    const result = this.#final ?? (await this.#accepted(this.#outcome ?? failure('the call was not dispatched')))
    return finish(result, this.execution, { tools, finalizeContent: this.#finalizer() })
  }

  /** Read at the very end of a call, where nothing may throw any more. */
  #finalizer(): FinalizeContent | undefined {
    const found = this.#found
    return found === undefined ? undefined : (exec, result) => found.finalizeContent?.(exec, result)
  }

  /** Projection and policies over a normalised outcome; cancellation then replaces only a success. */
  async #accepted(outcome: ToolExecutionResult): Promise<ToolExecutionResult> {
    const { execution: exec } = this
    const { tools } = this.#options
    try {
      const content = settledAtOnce(this.#found?.projectContent?.(exec, freezeOutcome(outcome)))
      const projected = content === undefined ? outcome : { ...outcome, content: asContent(durableCopy(content)) }
      const result = await postExecute(freezeOutcome(projected), {
        exec,
        tools,
        findDefinition: () => this.#findDefinition(),
      })
      if (!exec.signal.aborted || result.isError) return result
      const { additionalContexts } = result
      const aborted = abortedFailure(this.#dispatch.isBodyInvoked)
      return additionalContexts === undefined ? aborted : { ...aborted, additionalContexts }
    } catch (thrown) {
      return this.#withDeferred(thrownFailure(thrown))
    }
  }

  #withDeferred(result: ToolExecutionResult): ToolExecutionResult {
    const { deferred } = this.#dispatch
    return deferred.length === 0 ? result : { ...result, additionalContexts: [...deferred] }
  }

  #findDefinition(): ToolDefinition | undefined {
    const { name, agent, toolSet } = this.execution
    return this.#definition ?? this.#options.tools.executable(name, agent, toolSet)
  }
}
