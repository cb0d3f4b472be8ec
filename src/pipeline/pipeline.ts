/** The way of every call, direct or nested: materialise → decide → dispatch → commit. */
import { type HarnessError, messageOf, PtcUsageError } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { ContentBlock } from '../tool/content.ts'
import type {
  PtcDispatchLog,
  ToolDefinition,
  ToolExecution,
  ToolExecutionInput,
  ToolExecutionMode,
  ToolExecutionToken,
} from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import type { ApprovalHandler } from './approval.ts'
import { Dispatch } from './dispatch.ts'
import { finish } from './finish.ts'
import { asContent, durableCopy } from './normalise.ts'
import { postExecute } from './post-execute.ts'
import { preExecute } from './pre-execute.ts'
import { abortedFailure, failure, freezeOutcome, thrownAfterCancel, thrownFailure } from './result.ts'
import type { ToolSource } from './tool-source.ts'
import { runWaterfall } from './waterfall.ts'

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

/** Options of one call. */
export interface PipelineCallOptions {
  /** Runs this definition instead of a look-up; for an executor's own transport tool. */
  readonly definition?: ToolDefinition
  /** The arguments are a JSON value that nobody else holds: they are frozen as they are, without a copy. */
  readonly ownsArguments?: boolean
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

/** Owns snapshots, identities, policies, dispatch and notification of every call. */
export class ToolExecutionPipeline {
  readonly tools: ToolSource
  readonly #options: ToolExecutionPipelineOptions

  constructor(options: ToolExecutionPipelineOptions) {
    const { abandonAfterMs } = options
    if (abandonAfterMs !== undefined && !(Number.isFinite(abandonAfterMs) && abandonAfterMs > 0)) {
      throw new PtcUsageError(`abandonAfterMs must be a positive number of milliseconds, ${abandonAfterMs} came`)
    }
    this.#options = options
    this.tools = options.tools
  }

  /** One call through all stages: exactly one result, whatever happens. */
  async execute(input: ToolExecutionInput, options: PipelineCallOptions = {}): Promise<ToolExecutionResult> {
    const call = this.begin(input, options)
    await call.decide()
    await call.dispatch()
    return call.commit()
  }

  /** Begins a call: arguments are copied and frozen, an identity is assigned. */
  begin(input: ToolExecutionInput, options: PipelineCallOptions = {}): PipelineCall {
    return new StagedCall(input, this.#options, options)
  }

  /** A final failure before any policy; observers are told as of any other result. */
  refuse(input: ToolExecutionInput, error: HarnessError): ToolExecutionResult {
    const { execution, found, unfit } = identify(input, this.tools)
    const earlier = unfit ?? (execution.signal.aborted ? abortedFailure(false) : undefined)
    // A tool has no say in a refusal that is about more than its own call.
    const finalizeContent = earlier === undefined ? undefined : found?.finalizeContent?.bind(found)
    return finish(earlier ?? thrownFailure(error), execution, { tools: this.tools, finalizeContent })
  }

  /** Whether a call may overlap with its siblings; anything but a plain `true` is exclusive. */
  mode({ name, agent, toolSet, arguments: args }: ToolExecutionInput): ToolExecutionMode {
    try {
      const definition = this.tools.executable(name, agent, toolSet)
      return definition?.isConcurrencySafe?.(args) === true ? { kind: 'parallel' } : { kind: 'exclusive' }
    } catch {
      return { kind: 'exclusive' }
    }
  }

  /** Content of the durable copy of a sub-call; a listener that fails leaves it as it was. */
  async shapeDispatchLog(dispatch: PtcDispatchLog): Promise<ContentBlock[]> {
    const listeners = this.tools.listeners('tools/ptc-dispatch-log', dispatch.agent)
    if (listeners.length === 0) return dispatch.content
    try {
      const content = deepFreeze(asContent(snapshotJson(dispatch.content)))
      const shown = Object.freeze({ ...dispatch, content })
      const shaped = await runWaterfall<ToolEvents['tools/ptc-dispatch-log'], ContentBlock[]>(
        listeners,
        (listener, next) => listener(shown, next),
        async () => content,
      )
      return asContent(snapshotJson(shaped))
    } catch (failed) {
      process.emitWarning(`a tools/ptc-dispatch-log listener failed: ${messageOf(failed)}`, 'PtcListenerWarning')
      return dispatch.content
    }
  }
}

class StagedCall implements PipelineCall {
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
      abandonment: { afterMs: abandonAfterMs, now: abandonSignal },
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
    return finish(result, this.execution, { tools, finalizeContent: this.#found?.finalizeContent?.bind(this.#found) })
  }

  /** Projection and policies over a normalised outcome; cancellation then replaces only a success. */
  async #accepted(outcome: ToolExecutionResult): Promise<ToolExecutionResult> {
    const { execution: exec } = this
    const { tools } = this.#options
    try {
      const content = this.#found?.projectContent?.(exec, freezeOutcome(outcome))
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

/** A call with its identity, and the definition that it found when it began. */
interface IdentifiedCall {
  readonly execution: ToolExecution
  readonly found: ToolDefinition | undefined
  /** What is wrong with its arguments. */
  readonly unfit?: ToolExecutionResult
}

/** Copies and freezes the arguments and makes the execution; each field of the input is read once. */
function identify(
  input: ToolExecutionInput,
  tools: ToolSource,
  { definition, ownsArguments = false }: PipelineCallOptions = {},
): IdentifiedCall {
  const { callId, rootCallId = callId, name, schema, agent, toolSet, parent, signal } = input
  // Found before the arguments are read: a getter among them may change the registry.
  const found = definition ?? tools.executable(name, agent, toolSet)
  const token = Symbol(name) as ToolExecutionToken // the brand exists in types only
  const identity = {
    callId,
    rootCallId,
    name,
    token,
    signal,
    ...(schema === undefined ? {} : { schema }),
    ...(agent === undefined ? {} : { agent }),
    ...(toolSet === undefined ? {} : { toolSet }),
    ...(parent === undefined ? {} : { parent }),
  }
  const unfitCall = (unfit: ToolExecutionResult): IdentifiedCall => ({
    execution: Object.freeze({ ...identity, arguments: undefined }),
    found,
    unfit,
  })
  let given: unknown
  try {
    given = input.arguments
  } catch (thrown) {
    return unfitCall(thrownFailure(thrown))
  }
  try {
    const args = ownsArguments ? given : snapshotJson(given)
    return { execution: Object.freeze({ ...identity, arguments: deepFreeze(args) }), found }
  } catch (cause) {
    const message = `tool execution arguments must be losslessly JSON-serializable: ${messageOf(cause)}`
    return unfitCall(failure(message, { name: 'ToolArgsError', code: 'INVALID_ARGS' }))
  }
}
