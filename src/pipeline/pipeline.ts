/** The way of every call, direct or nested: materialise → decide → dispatch → commit. */
import { messageOf, PtcUsageError } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { ContentBlock } from '../tool/content.ts'
import type { PtcDispatchLog, ToolExecutionInput, ToolExecutionMode } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { faultOfContent } from './answers.ts'
import type { PipelineCallOptions } from './identify.ts'
import { asContent } from './normalise.ts'
import { type PipelineCall, StagedCall, type ToolExecutionPipelineOptions } from './staged-call.ts'
import { MAX_TIMER_MS } from './timeout.ts'
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
    for (const name of ['abandonAfterMs', 'approvalMs'] as const) {
      const { [name]: ms } = options
      if (ms !== undefined && !(Number.isFinite(ms) && ms > 0 && ms <= MAX_TIMER_MS)) {
        throw new PtcUsageError(`${name} must be milliseconds above 0, at most ${MAX_TIMER_MS}; ${ms} came`)
      }
    }
    this.#options = options
    this.tools = options.tools
  }

  /** One call through all stages: exactly one result, whatever happens. */
  async execute(input: ToolExecutionInput, options: PipelineCallOptions = {}): Promise<ToolExecutionResult> {
    const call = this.begin(input, options)
    await call.decide()
    await call.approval()
    await call.dispatch()
    return call.commit()
  }

  /** Begins a call: arguments are copied and frozen, an identity is assigned. */
  begin(input: ToolExecutionInput, options: PipelineCallOptions = {}): PipelineCall {
    return new StagedCall(input, this.#options, options)
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
      const shaped = await runWaterfall<ToolEvents['tools/ptc-dispatch-log'], ContentBlock[]>({
        event: 'tools/ptc-dispatch-log',
        listeners,
        call: (listener, next) => listener(shown, next),
        innermost: async () => content,
        fault: (answer) => faultOfContent('content', answer),
      })
      return asContent(snapshotJson(shaped))
    } catch (failed) {
      process.emitWarning(messageOf(failed), 'PtcListenerWarning')
      return dispatch.content
    }
  }
}
