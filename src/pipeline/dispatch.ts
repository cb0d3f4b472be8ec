/** Around and inside the body: wrappers, the fused signal, what came out of it. */
import { ToolNotFoundError } from '../errors.ts'
import type { UserMessage } from '../tool/content.ts'
import type { ToolDefinition, ToolDispatchExecution, ToolExecution } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { type Abandonment, runBody } from './body.ts'
import { normaliseSuccess } from './normalise.ts'
import { abortedFailure, thrownAfterCancel, thrownFailure } from './result.ts'
import { fuseSignals } from './signal.ts'
import type { ToolSource } from './tool-source.ts'
import { runWaterfall } from './waterfall.ts'

/** What dispatch needs of its call. */
export interface DispatchContext {
  readonly exec: ToolExecution
  readonly tools: ToolSource
  readonly abandonment: Abandonment
  /** Looked up again at dispatch, since a policy may have unregistered it meanwhile. */
  readonly findDefinition: () => ToolDefinition | undefined
}

type ExecuteListener = ToolEvents['tools/execute']

/** One dispatch: the result, and what the body left beside it. */
export class Dispatch {
  readonly #context: DispatchContext
  /** Results that this dispatch itself made; any other success is checked again. */
  readonly #canonical = new WeakSet<ToolExecutionResult>()
  readonly deferred: UserMessage[] = []
  isBodyInvoked = false
  concludesTurn = false

  constructor(context: DispatchContext) {
    this.#context = context
  }

  /** Runs wrappers and body. Rejects with what a wrapper threw. */
  async run(): Promise<ToolExecutionResult> {
    const { exec, tools } = this.#context
    const shared: ToolDispatchExecution = { ...exec }
    const result = await runWaterfall<ExecuteListener, ToolExecutionResult>(
      tools.listeners('tools/execute', exec.agent),
      (listener, next) => listener(shared, next),
      () => this.#body(shared),
    )
    const checked = this.#canonical.has(result) ? result : this.#recheck(result)
    return exec.signal.aborted && !checked.isError
      ? { ...abortedFailure(this.isBodyInvoked), ...contextsOf(checked) }
      : checked
  }

  async #body(shared: ToolDispatchExecution): Promise<ToolExecutionResult> {
    const { exec, abandonment, findDefinition } = this.#context
    const { signal, release } = fuseSignals(exec.signal, shared.signal)
    try {
      if (signal.aborted) return this.#made(abortedFailure(false))
      const definition = findDefinition()
      if (definition === undefined) return this.#made(thrownFailure(new ToolNotFoundError(exec.name)))
      this.isBodyInvoked = true
      const invoke = async (): Promise<unknown> => definition.execute(exec.arguments, this.#runContext(signal))
      const value = await runBody({ name: exec.name, signal, abandonment, invoke })
      if (exec.signal.aborted) return this.#made(abortedFailure(true))
      return this.#made(normaliseSuccess(definition, exec.arguments, value))
    } catch (thrown) {
      return this.#made(thrownAfterCancel(thrown, exec.signal, this.isBodyInvoked))
    } finally {
      release()
      shared.signal = exec.signal
    }
  }

  #runContext(signal: AbortSignal): Parameters<ToolDefinition['execute']>[1] {
    return {
      ...this.#context.exec,
      signal,
      deferContext: (context) => void this.deferred.push(context),
      concludeTurn: () => (this.concludesTurn = true),
    }
  }

  #made(result: ToolExecutionResult): ToolExecutionResult {
    Object.freeze(result)
    this.#canonical.add(result)
    return result
  }

  /** A wrapper's own success passes the same checks as a body's value. */
  #recheck(result: ToolExecutionResult): ToolExecutionResult {
    if (result.isError) return result
    const { exec, findDefinition } = this.#context
    const definition = findDefinition()
    if (definition === undefined) return thrownFailure(new ToolNotFoundError(exec.name))
    try {
      return { ...normaliseSuccess(definition, exec.arguments, result.value), ...contextsOf(result) }
    } catch (thrown) {
      return thrownFailure(thrown)
    }
  }
}

function contextsOf({ additionalContexts }: ToolExecutionResult): { additionalContexts?: UserMessage[] } {
  return additionalContexts === undefined ? {} : { additionalContexts }
}
