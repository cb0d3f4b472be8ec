/** One call of a model on its way: root event, pipeline, root event. */
import { type HarnessError, messageOf, ToolArgsError } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { parseJson } from '../json/text.ts'
import type { PipelineCall, ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import type { Session, ToolCallBlock } from '../tool/content.ts'
import type { ToolDefinition, ToolExecutionInput } from '../tool/definition.ts'
import type { ToolBatchInput } from '../tool/executor.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import type { LaneCall } from './scheduler.ts'

/** How an executor takes one call. */
export type CallRoute =
  /** As a call of the registered tool; also where there is none, which the pipeline says. */
  | { readonly kind: 'direct' }
  /** As a call of the executor's own tool. */
  | { readonly kind: 'transport'; readonly definition: ToolDefinition }
  /** Not at all, with the way to reach the tool. */
  | { readonly kind: 'refused'; readonly error: HarnessError }

/** What all calls of one batch share. */
export interface BatchContext {
  readonly pipeline: ToolExecutionPipeline
  readonly batch: ToolBatchInput
  /** Asked again whenever it matters: the registry may change while a call is queued. */
  readonly route: (input: ToolExecutionInput) => CallRoute
  readonly onCommit: (result: ToolExecutionResult) => void
  readonly onFailure: (failure: unknown) => void
}

/** Drives one call of a batch through the lane. */
export class DirectCall implements LaneCall {
  readonly #context: BatchContext
  readonly #block: ToolCallBlock
  readonly #input: ToolExecutionInput
  readonly #unparsed: ToolArgsError | undefined
  #staged: PipelineCall | undefined

  constructor(context: BatchContext, block: ToolCallBlock) {
    this.#context = context
    this.#block = block
    const { agent, toolSet, signal } = context.batch
    const parsed = parseArguments(block.arguments)
    this.#unparsed = parsed instanceof ToolArgsError ? parsed : undefined
    this.#input = {
      callId: block.id,
      name: block.name,
      arguments: parsed instanceof ToolArgsError ? block.arguments : parsed.value,
      signal,
      ...(agent === undefined ? {} : { agent }),
      ...(toolSet === undefined ? {} : { toolSet }),
    }
  }

  /** What is skipped since the batch was cancelled comes after everything that is drained. */
  mayOverlap(): boolean {
    const { pipeline, batch, route } = this.#context
    if (batch.signal.aborted || this.#unparsed !== undefined) return false
    return route(this.#input).kind === 'direct' && pipeline.mode(this.#input).kind === 'parallel'
  }

  async start(): Promise<void> {
    const { pipeline, route } = this.#context
    const { id, name, arguments: args } = this.#block
    if (!(await this.#append('tool/call', { callId: id, name, arguments: args }))) return
    const refused = this.#unparsed === undefined ? undefined : ({ kind: 'refused', error: this.#unparsed } as const)
    const taken = refused ?? route(this.#input)
    // The arguments were parsed here and are frozen, so nobody else can change them.
    this.#staged = pipeline.begin(this.#input, {
      ownsArguments: true,
      ...(taken.kind === 'transport' ? { definition: taken.definition } : {}),
      ...(taken.kind === 'refused' ? { refusal: taken.error } : {}),
    })
    await this.#staged.decide()
  }

  approval(): Promise<void> | undefined {
    return this.#staged?.approval()
  }

  async dispatch(): Promise<void> {
    await this.#staged?.dispatch()
  }

  async commit(): Promise<void> {
    if (this.#staged === undefined) return
    const result = await this.#staged.commit()
    if (await this.#append('tool/result', resultBody(this.#block.id, result))) this.#context.onCommit(result)
  }

  abandon(): void {
    // The batch has failed: nothing is made up for a call that never started.
  }

  /** Root events exist for calls of a committed model step only. */
  async #append(type: string, body: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { agent, log } = this.#context.batch
    const session: Session | undefined = log === undefined ? undefined : agent?.session
    try {
      await session?.append({ type, body: { ...log, ...body } })
      return true
    } catch (failure) {
      this.#context.onFailure(failure)
      return false
    }
  }
}

function resultBody(callId: string, result: ToolExecutionResult): Readonly<Record<string, unknown>> {
  const { isError, content, meta } = result
  const error = result.isError ? result.error.info : undefined
  return {
    callId,
    message: {
      role: 'user',
      source: { kind: 'tool', callId },
      content: [{ type: 'tool-result', toolCallId: callId, isError, content }],
    },
    ...(error === undefined ? {} : { error }),
    ...(meta === undefined ? {} : { meta }),
  }
}

/** Empty text means no arguments; text that is not JSON says where it broke. */
function parseArguments(text: string): { readonly value: unknown } | ToolArgsError {
  try {
    return { value: deepFreeze(text.trim() === '' ? {} : parseJson(text)) }
  } catch (cause) {
    return new ToolArgsError([`the arguments are not JSON: ${messageOf(cause)}`], { cause })
  }
}
