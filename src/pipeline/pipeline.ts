/** The way of every call, direct or nested: materialise → decide → dispatch → commit. */
import { type HarnessError, messageOf, PtcUsageError } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { ContentBlock } from '../tool/content.ts'
import type { PtcDispatchLog, ToolExecutionInput, ToolExecutionMode } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { finish } from './finish.ts'
import { identify, type PipelineCallOptions } from './identify.ts'
import { asContent } from './normalise.ts'
import { abortedFailure, thrownFailure } from './result.ts'
import { type PipelineCall, StagedCall, type ToolExecutionPipelineOptions } from './staged-call.ts'
import type { ToolSource } from './tool-source.ts'
import { runWaterfall } from './waterfall.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'

export type { PipelineCallOptions } from './identify.ts'
export type { PipelineCall, ToolExecutionPipelineOptions } from './staged-call.ts'

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
      return settledAtOnce(definition?.isConcurrencySafe?.(args)) === true
        ? { kind: 'parallel' }
        : { kind: 'exclusive' }
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
