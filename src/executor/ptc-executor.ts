/** The executor that gives a model one tool, `run_code`, and takes its calls. */
import { ToolNotFoundError } from '../errors.ts'
import type { DispatchLog } from '../log/dispatch-log.ts'
import type { ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import { DEFAULT_LIMITS, type PtcLimits } from '../sandbox/limits.ts'
import type { PtcRuntime } from '../sandbox/ptc-runtime.ts'
import { isForPrograms, mayBeCalledBy } from '../tool/callers.ts'
import type { ToolPromptSection } from '../tool/content.ts'
import type { ToolDefinition, ToolExecutionInput } from '../tool/definition.ts'
import type { ToolBatchInput, ToolBatchResult, ToolExecutor, ToolModelInput } from '../tool/executor.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'
import { checkedParallel, DEFAULT_PARALLEL_TOOL_CALLS, executeBatch } from './batch.ts'
import type { CallRoute } from './direct-call.ts'
import { modelInput } from './model-input.ts'
import { promptSections } from './prompt.ts'
import { createRunCodeTool, type RunCodeOptions } from './run-code.ts'
import type { RunOutcome } from './run-outcome.ts'

/** Options of the executor. */
export interface PtcExecutorOptions {
  readonly pipeline: ToolExecutionPipeline
  readonly runtime: PtcRuntime
  readonly log: DispatchLog
  /** Default: the budgets of docs/limits.md. */
  readonly limits?: PtcLimits
  /** Bodies of one run that overlap, a positive whole number; overrides the limit of that name. */
  readonly maxParallelSubCalls?: number
  /** Direct calls of one batch that overlap, a positive whole number; default 10. */
  readonly maxParallelToolCalls?: number
  /**
   * Tools that a model may also call directly: those that say so in `allowedCallers` (`declared`, default),
   * or all that do not say otherwise (`all`).
   */
  readonly directCalls?: 'declared' | 'all'
  /** Owner of runs whose call has no agent, default `ptc`. */
  readonly owner?: string
}

/** One program without a model around it. */
export interface ProgramRequest extends Pick<RunCodeOptions, 'runId' | 'onEvent'> {
  readonly input: ToolExecutionInput
  readonly limits: PtcLimits
}

/** Runs `run_code` calls; other tools are reached from inside a program, and directly where they allow it. */
export class PtcExecutor implements ToolExecutor {
  readonly #runCode: Omit<RunCodeOptions, 'runId' | 'onEvent' | 'onOutcome'>
  readonly #tool: ToolDefinition
  readonly #maxParallelToolCalls: number
  readonly #directCalls: 'declared' | 'all'

  /** @throws PtcUsageError for a limit that cannot be. */
  constructor({
    pipeline,
    runtime,
    log,
    limits = DEFAULT_LIMITS,
    maxParallelSubCalls = limits.maxParallelSubCalls,
    maxParallelToolCalls = DEFAULT_PARALLEL_TOOL_CALLS,
    directCalls = 'declared',
    owner = 'ptc',
  }: PtcExecutorOptions) {
    const effective = {
      ...limits,
      maxParallelSubCalls: checkedParallel('maxParallelSubCalls', maxParallelSubCalls),
    }
    this.#maxParallelToolCalls = checkedParallel('maxParallelToolCalls', maxParallelToolCalls)
    this.#directCalls = directCalls
    this.#runCode = { pipeline, runtime, log, limits: effective, owner }
    this.#tool = createRunCodeTool(this.#runCode)
  }

  describe(tools: readonly ToolDefinition[]): ToolModelInput {
    const { name, description, parameters } = this.#tool
    return modelInput(
      tools.filter((tool) => this.#isDirect(tool)),
      [{ name, description, parameters }],
    )
  }

  sectionsFor(tools: readonly ToolDefinition[]): readonly ToolPromptSection[] {
    const direct = tools.filter((tool) => this.#isDirect(tool)).map(({ name }) => name)
    return promptSections(tools.filter(isForPrograms), this.#directCalls === 'all' ? undefined : direct)
  }

  execute(input: ToolBatchInput): Promise<ToolBatchResult> {
    return executeBatch(input, {
      pipeline: this.#runCode.pipeline,
      maxParallelToolCalls: this.#maxParallelToolCalls,
      route: (call) => this.#route(call),
    })
  }

  /** Runs one program and returns the whole outcome. */
  async run({ input, limits, runId, onEvent }: ProgramRequest): Promise<RunOutcome> {
    let outcome: RunOutcome | undefined
    const definition = createRunCodeTool({
      ...this.#runCode,
      limits,
      ...(runId === undefined ? {} : { runId }),
      ...(onEvent === undefined ? {} : { onEvent }),
      onOutcome: (settled) => (outcome = settled),
    })
    const result = await this.#runCode.pipeline.execute(input, { definition })
    return settledOutcome(outcome, result, runId ?? input.callId)
  }

  #route({ name, agent, toolSet }: ToolExecutionInput): CallRoute {
    if (name === RUN_CODE_NAME) return { kind: 'transport', definition: this.#tool }
    const tool = this.#runCode.pipeline.tools.executable(name, agent, toolSet)
    if (tool === undefined || this.#isDirect(tool)) return { kind: 'direct' }
    return { kind: 'refused', error: new ToolNotFoundError(name, routeTo(name)) }
  }

  #isDirect(tool: ToolDefinition): boolean {
    return mayBeCalledBy(tool, 'direct', this.#directCalls === 'all' ? ['direct', 'program'] : ['program'])
  }
}

function routeTo(name: string): string {
  return `only \`${RUN_CODE_NAME}\` is callable directly; call it from inside a program: await tools[${JSON.stringify(name)}]({ … })`
}

/** The pipeline has the last word: a policy may refuse the run, block its result or replace its value. */
function settledOutcome(outcome: RunOutcome | undefined, result: ToolExecutionResult, runId: string): RunOutcome {
  if (!result.isError) return outcome ?? { runId, ok: true, value: result.value, logs: [], calls: [] }
  if (outcome !== undefined && !outcome.ok) return outcome
  const { message, info } = result.error
  const isAborted = info?.code === 'ABORTED' || info?.code === 'ABORTED_BEFORE_DISPATCH'
  const calls = outcome?.calls ?? []
  const error = {
    kind: isAborted ? 'abort' : 'exception',
    code: info?.code ?? 'CODE_RUN_FAILED',
    message,
    retryable: calls.length === 0,
  } as const
  return { runId, ok: false, logs: outcome?.logs ?? [], error, calls }
}
