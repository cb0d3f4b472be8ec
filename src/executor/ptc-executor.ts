/** The executor that gives a model one tool, `run_code`, and takes its calls. */
import { HarnessError, messageOf, ToolArgsError, ToolBatchExecutionError, ToolNotFoundError } from '../errors.ts'
import { parseJson } from '../json/text.ts'
import type { DispatchLog } from '../log/dispatch-log.ts'
import type { ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import { DEFAULT_LIMITS, type PtcLimits } from '../sandbox/limits.ts'
import type { PtcRuntime } from '../sandbox/ptc-runtime.ts'
import type { ToolCallBlock, ToolPromptSection, UserMessage } from '../tool/content.ts'
import type { ToolDefinition, ToolExecutionInput } from '../tool/definition.ts'
import type { ToolBatchInput, ToolBatchResult, ToolCallResult, ToolExecutor, ToolModelInput } from '../tool/executor.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'
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
  /** Owner of runs whose call has no agent, default `ptc`. */
  readonly owner?: string
}

/** One program without a model around it. */
export interface ProgramRequest extends Pick<RunCodeOptions, 'runId' | 'onEvent'> {
  readonly input: ToolExecutionInput
  readonly limits: PtcLimits
}

/** Runs `run_code` calls; any other tool is reached from inside a program only. */
export class PtcExecutor implements ToolExecutor {
  readonly #runCode: Omit<RunCodeOptions, 'runId' | 'onEvent' | 'onOutcome'>
  readonly #tool: ToolDefinition

  constructor({
    pipeline,
    runtime,
    log,
    limits = DEFAULT_LIMITS,
    maxParallelSubCalls,
    owner = 'ptc',
  }: PtcExecutorOptions) {
    const effective = maxParallelSubCalls === undefined ? limits : { ...limits, maxParallelSubCalls }
    if (!Number.isInteger(effective.maxParallelSubCalls) || effective.maxParallelSubCalls < 1) {
      throw new HarnessError(
        `maxParallelSubCalls must be a positive integer, ${effective.maxParallelSubCalls} came`,
        'USAGE',
      )
    }
    this.#runCode = { pipeline, runtime, log, limits: effective, owner }
    this.#tool = createRunCodeTool(this.#runCode)
  }

  describe(_tools: readonly ToolDefinition[]): ToolModelInput {
    const { name, description, parameters } = this.#tool
    return { schemas: [{ name, description, parameters }], knownNames: [RUN_CODE_NAME] }
  }

  /** The prompt sections for these tools; the same text for the same tools. */
  sectionsFor(tools: readonly ToolDefinition[]): ToolPromptSection[] {
    return promptSections(tools)
  }

  async execute(input: ToolBatchInput): Promise<ToolBatchResult> {
    const results: ToolCallResult[] = []
    const additionalContexts: UserMessage[] = []
    for (const call of input.calls) {
      try {
        const result = await this.#logged(call, input)
        results.push({ callId: call.id, result })
        additionalContexts.push(...(result.additionalContexts ?? []))
      } catch (cause) {
        const message = `call "${call.id}" broke the batch: ${messageOf(cause)}`
        throw new ToolBatchExecutionError(message, { results, additionalContexts }, { cause })
      }
    }
    const concluded = results.some(({ result }) => result.concludesTurn === true)
    return { results, additionalContexts, concluded }
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

  /** Root events surround the call when it belongs to a committed model step. */
  async #logged(call: ToolCallBlock, input: ToolBatchInput): Promise<ToolExecutionResult> {
    const session = input.log === undefined ? undefined : input.agent?.session
    const step = { ...input.log, callId: call.id }
    await session?.append({ type: 'tool/call', body: { ...step, name: call.name, arguments: call.arguments } })
    const result = await this.#execute(call, input)
    const { isError, content, meta } = result
    const error = result.isError ? result.error.info : undefined
    await session?.append({
      type: 'tool/result',
      body: {
        ...step,
        message: {
          role: 'user',
          source: { kind: 'tool', callId: call.id },
          content: [{ type: 'tool-result', toolCallId: call.id, isError, content }],
        },
        ...(error === undefined ? {} : { error }),
        ...(meta === undefined ? {} : { meta }),
      },
    })
    return result
  }

  async #execute(call: ToolCallBlock, { signal, agent, toolSet }: ToolBatchInput): Promise<ToolExecutionResult> {
    const { pipeline } = this.#runCode
    const input = {
      callId: call.id,
      name: call.name,
      signal,
      ...(agent === undefined ? {} : { agent }),
      ...(toolSet === undefined ? {} : { toolSet }),
    }
    const parsed = parseArguments(call.arguments)
    if (parsed instanceof ToolArgsError) return pipeline.refuse({ ...input, arguments: call.arguments }, parsed)
    const parsedInput = { ...input, arguments: parsed.value }
    if (call.name === RUN_CODE_NAME)
      return pipeline.execute(parsedInput, { definition: this.#tool, ownsArguments: true })
    if (pipeline.tools.executable(call.name, agent, toolSet) === undefined) return pipeline.execute(parsedInput)
    return pipeline.refuse(parsedInput, new ToolNotFoundError(call.name, routeTo(call.name)))
  }
}

/** Empty text means no arguments; text that is not JSON says where it broke. */
function parseArguments(text: string): { readonly value: unknown } | ToolArgsError {
  try {
    return { value: text.trim() === '' ? {} : parseJson(text) }
  } catch (cause) {
    return new ToolArgsError([`the arguments are not JSON: ${messageOf(cause)}`], { cause })
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
