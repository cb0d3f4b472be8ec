/** One sub-call on its way: start record, pipeline, what the program gets, settle record. */
import { LogError, messageOf, SubCallError, ToolNotFoundError } from '../errors.ts'
import type { JsonValue } from '../json/value.ts'
import type { RunLog } from '../log/dispatch-log.ts'
import type { PipelineCall, ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import { isForPrograms } from '../tool/callers.ts'
import type { ToolCallId } from '../tool/content.ts'
import type { ToolExecutionInput, ToolRunContext } from '../tool/definition.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import type { RunEventListener, SubCallSummary } from './run-outcome.ts'
import type { LaneCall } from './scheduler.ts'

/** What all sub-calls of one run share. */
export interface RunContext {
  readonly runId: string
  readonly pipeline: ToolExecutionPipeline
  readonly log: RunLog
  /** The outer `run_code` execution. */
  readonly exec: ToolRunContext
  /** Aborted once the run is over; never the caller's own signal. */
  readonly signal: AbortSignal
  readonly onEvent: RunEventListener
  /** Keeps count of a settle record that is being written. */
  readonly track: (write: Promise<void>) => Promise<void>
  /** The log broke: no further effect may happen. */
  readonly onLogFailure: (failure: LogError) => void
}

/** Codes of failures that the same call can only repeat. */
const PERMANENT_CODES: ReadonlySet<string> = new Set([
  'INVALID_ARGS',
  'UNKNOWN_TOOL',
  'POLICY_DENIED',
  'APPROVAL_REJECTED',
  'APPROVAL_UNAVAILABLE',
  'MESSAGE_TOO_LARGE',
])

/** Drives one sub-call through the lane and settles the program's promise. */
export class SubCall implements LaneCall {
  readonly #context: RunContext
  readonly #input: ToolExecutionInput
  readonly #callId: ToolCallId
  #staged: PipelineCall | undefined
  #startedAt = 0
  #durationMs: number | null = null
  #isError = false
  #settle: { resolve: (value: JsonValue) => void; reject: (error: Error) => void } | undefined
  /** What the program awaits. */
  readonly settled: Promise<JsonValue>

  constructor(context: RunContext, input: ToolExecutionInput) {
    this.#context = context
    this.#input = input
    this.#callId = input.callId
    this.settled = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
  }

  get name(): string {
    return this.#input.name
  }

  /** Undefined while the call has not started. */
  get summary(): SubCallSummary | undefined {
    if (this.#startedAt === 0) return undefined
    return {
      subCallId: this.#callId,
      name: this.#input.name,
      isError: this.#isError,
      startedAt: this.#startedAt,
      durationMs: this.#durationMs,
    }
  }

  mayOverlap(): boolean {
    return this.#context.pipeline.mode(this.#input).kind === 'parallel'
  }

  async start(): Promise<void> {
    const { pipeline, runId } = this.#context
    const refusal = this.#refusal()
    // They came off the wire as JSON, were frozen there and went nowhere else.
    const staged = pipeline.begin(this.#input, {
      ownsArguments: true,
      runId,
      ...(refusal === undefined ? {} : { refusal }),
    })
    this.#startedAt = Date.now()
    const { rootCallId, name } = staged.execution
    // begin() made a lossless JSON snapshot of them.
    const args = staged.execution.arguments as JsonValue
    try {
      const parentCallId = this.#context.exec.callId
      await this.#context.log.start({
        rootCallId,
        parentCallId,
        subCallId: this.#callId,
        name,
        arguments: args,
        at: this.#startedAt,
      })
    } catch (failure) {
      this.#failLog(failure)
      return
    }
    this.#staged = staged
    this.#emit({ type: 'sub-call-start', subCallId: this.#callId, name, arguments: args })
    await staged.decide()
  }

  approval(): Promise<void> | undefined {
    return this.#staged?.approval()
  }

  async dispatch(): Promise<void> {
    await this.#staged?.dispatch()
  }

  async commit(): Promise<void> {
    if (this.#staged === undefined) {
      const message = `the run's log cannot be written; ${this.#input.name} not dispatched`
      this.#settle?.reject(new SubCallError(message, 'LOG_WRITE_FAILED', false))
      return
    }
    const result = await this.#staged.commit().catch(brokenCommit)
    this.#durationMs = Date.now() - this.#startedAt
    this.#isError = result.isError
    this.#ferry(result)
    if (result.isError) this.#settle?.reject(errorOf(result))
    else this.#settle?.resolve(result.value)
    const call = this.summary
    if (call !== undefined) {
      this.#emit({ type: 'sub-call-settle', call, ...(result.isError ? { message: result.error.message } : {}) })
    }
    await this.#context.track(this.#record(result))
  }

  abandon(reason: string): void {
    const message = `run_code run is over (${reason}); ${this.#input.name} tool call abandoned`
    this.#settle?.reject(new SubCallError(message, 'RUN_OVER', false))
  }

  /** The program was told what it may call; a tool that was replaced since may be for others. */
  #refusal(): ToolNotFoundError | undefined {
    const { name, agent, toolSet } = this.#input
    const tool = this.#context.pipeline.tools.executable(name, agent, toolSet)
    if (tool === undefined || isForPrograms(tool)) return undefined
    return new ToolNotFoundError(name, 'it can be called directly only, not from a program')
  }

  /** Contexts, images and the end of the turn ride on the outer result. */
  #ferry(result: ToolExecutionResult): void {
    const { exec } = this.#context
    if (!result.isError && result.content.some(({ type }) => type === 'image')) {
      exec.deferContext({ role: 'user', content: [...result.content], source: { kind: 'ptc-mode' } })
    }
    for (const context of result.additionalContexts ?? []) exec.deferContext(context)
    if (result.concludesTurn === true) exec.concludeTurn()
  }

  async #record(result: ToolExecutionResult): Promise<void> {
    const { exec, pipeline, log } = this.#context
    const { name } = this.#input
    const execution = this.#staged?.execution
    if (execution === undefined) return
    const subCallId = this.#callId
    try {
      const content = await pipeline.shapeDispatchLog({
        exec,
        ...(exec.agent === undefined ? {} : { agent: exec.agent }),
        subCallId,
        name,
        isError: result.isError,
        content: [...result.content],
      })
      await log.settle({
        rootCallId: execution.rootCallId,
        parentCallId: exec.callId,
        subCallId,
        name,
        arguments: execution.arguments as JsonValue, // the same snapshot that the start record has
        at: this.#startedAt + (this.#durationMs ?? 0),
        isError: result.isError,
        content,
        ...(result.isError && result.error.info !== undefined ? { error: result.error.info } : {}),
        ...(result.meta === undefined ? {} : { meta: result.meta }),
      })
      // Made of what the record keeps, so that a card shows no more than that.
      const { isError, meta } = result
      const cards = this.#staged?.present({ isError, content, ...(meta === undefined ? {} : { meta }) })
      if (cards !== undefined) await log.present(subCallId, cards)
    } catch (failure) {
      this.#failLog(failure)
    }
  }

  #failLog(failure: unknown): void {
    const isLogError = failure instanceof LogError
    this.#context.onLogFailure(
      isLogError ? failure : new LogError(messageOf(failure), 'LOG_WRITE_FAILED', { cause: failure }),
    )
  }

  #emit(event: Parameters<RunEventListener>[0]): void {
    this.#context.onEvent(event)
  }
}

/** A stage that breaks its promise not to reject still ends as a failed call. */
function brokenCommit(failure: unknown): ToolExecutionResult {
  const message = messageOf(failure)
  return { isError: true, error: { message }, content: [{ type: 'text', text: `Error: ${message}` }] }
}

function errorOf({ error }: Extract<ToolExecutionResult, { isError: true }>): SubCallError {
  const code = error.info?.code ?? 'TOOL_FAILED'
  return new SubCallError(error.message, code, PERMANENT_CODES.has(code) ? false : undefined)
}
