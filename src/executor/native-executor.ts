/** The executor that gives a model every tool as it is. */
import { ToolNotFoundError } from '../errors.ts'
import type { ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import { mayBeCalledBy } from '../tool/callers.ts'
import type { ToolDefinition, ToolExecutionInput } from '../tool/definition.ts'
import type { ToolBatchInput, ToolBatchResult, ToolExecutor, ToolModelInput } from '../tool/executor.ts'
import { checkedParallel, DEFAULT_PARALLEL_TOOL_CALLS, executeBatch } from './batch.ts'
import { modelInput } from './model-input.ts'
import type { CallRoute } from './direct-call.ts'

/** Options of the executor. */
export interface NativeExecutorOptions {
  readonly pipeline: ToolExecutionPipeline
  /** Safe calls of one batch that overlap, a positive whole number; default 10, 1 runs them one by one. */
  readonly maxParallelToolCalls?: number
}

/** Declares and runs each tool directly; a tool for programs alone stays out. */
export class NativeExecutor implements ToolExecutor {
  readonly #pipeline: ToolExecutionPipeline
  readonly #maxParallelToolCalls: number

  /** @throws PtcUsageError for a limit that cannot be. */
  constructor({ pipeline, maxParallelToolCalls = DEFAULT_PARALLEL_TOOL_CALLS }: NativeExecutorOptions) {
    this.#pipeline = pipeline
    this.#maxParallelToolCalls = checkedParallel('maxParallelToolCalls', maxParallelToolCalls)
  }

  describe(tools: readonly ToolDefinition[]): ToolModelInput {
    return modelInput(tools.filter((tool) => mayBeCalledBy(tool, 'direct', ['direct'])))
  }

  execute(input: ToolBatchInput): Promise<ToolBatchResult> {
    return executeBatch(input, {
      pipeline: this.#pipeline,
      maxParallelToolCalls: this.#maxParallelToolCalls,
      route: (call) => this.#route(call),
    })
  }

  #route({ name, agent, toolSet }: ToolExecutionInput): CallRoute {
    const tool = this.#pipeline.tools.executable(name, agent, toolSet)
    if (tool === undefined || mayBeCalledBy(tool, 'direct', ['direct'])) return { kind: 'direct' }
    return { kind: 'refused', error: new ToolNotFoundError(name, 'it is for programs only, and this agent runs none') }
  }
}
