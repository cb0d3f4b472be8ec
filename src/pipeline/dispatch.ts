/** Around and inside the body: wrappers, the fused signal, what came out of it. */
import { ToolNotFoundError } from '../errors.ts'
import type { UserMessage } from '../tool/content.ts'
import type { ToolDefinition, ToolDispatchExecution, ToolExecution } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionFailure, ToolExecutionResult } from '../tool/outcome.ts'
import { type Abandonment, runBody } from './body.ts'
import { asContent, durableCopy, normaliseSuccess } from './normalise.ts'
import { abortedFailure, failure, freezeOutcome, thrownAfterCancel, thrownFailure } from './result.ts'
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
  /** Bodies that were started: awaited to their end, also where a wrapper did not wait. */
  readonly #bodies: Promise<unknown>[] = []
  /** A body that nobody waited for may still run; what it adds from then on is not this call's. */
  #isOver = false
  readonly deferred: UserMessage[] = []
  isBodyInvoked = false
  concludesTurn = false

  constructor(context: DispatchContext) {
    this.#context = context
  }

  /** Runs wrappers and body. Rejects with what a wrapper threw. */
  async run(): Promise<ToolExecutionResult> {
    const { exec } = this.#context
    const shared: ToolDispatchExecution = { ...exec }
    const result = await this.#surrounded(shared)
    const checked = this.#canonical.has(result) ? result : this.#recheck(result)
    return exec.signal.aborted && !checked.isError
      ? { ...abortedFailure(this.isBodyInvoked), ...contextsOf(checked) }
      : checked
  }

  async #surrounded(shared: ToolDispatchExecution): Promise<ToolExecutionResult> {
    const { exec, tools } = this.#context
    try {
      return await runWaterfall<ExecuteListener, ToolExecutionResult>(
        tools.listeners('tools/execute', exec.agent),
        (listener, next) => withOwnSignal(shared, () => listener(shared, next)),
        () => this.#started(this.#body(shared)),
      )
    } finally {
      this.#isOver = true
      await Promise.allSettled(this.#bodies)
    }
  }

  #started(body: Promise<ToolExecutionResult>): Promise<ToolExecutionResult> {
    this.#bodies.push(body)
    return body
  }

  async #body(shared: ToolDispatchExecution): Promise<ToolExecutionResult> {
    const { exec, abandonment, findDefinition } = this.#context
    if (this.#isOver) throw new TypeError('tools/execute called next() after its call was over; call it while it waits')
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
    }
  }

  #runContext(signal: AbortSignal): Parameters<ToolDefinition['execute']>[1] {
    return {
      ...this.#context.exec,
      signal,
      deferContext: (context) => {
        if (!this.#isOver) this.deferred.push(context)
      },
      concludeTurn: () => {
        if (!this.#isOver) this.concludesTurn = true
      },
    }
  }

  #made(result: ToolExecutionResult): ToolExecutionResult {
    this.#canonical.add(freezeOutcome(result))
    return result
  }

  /** A wrapper's own success passes the same checks as a body's value; its failure keeps what a failure has. */
  #recheck(result: ToolExecutionResult): ToolExecutionResult {
    if (typeof result !== 'object' || result === null) {
      throw new TypeError(`tools/execute must return a result, ${result === null ? 'null' : typeof result} came`)
    }
    if (result.isError) return authoredFailure(result)
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

/** A replaced signal is in force for as long as the wrapper that put it there. */
async function withOwnSignal<Result>(shared: ToolDispatchExecution, wrap: () => Promise<Result>): Promise<Result> {
  const { signal } = shared
  try {
    return await wrap()
  } finally {
    shared.signal = signal
  }
}

/** @throws TypeError when it lacks what every failure has. */
function authoredFailure({ error, content, meta, additionalContexts }: ToolExecutionFailure): ToolExecutionFailure {
  if (typeof error?.message !== 'string') {
    throw new TypeError('tools/execute must give a failed result error: { message, info? }')
  }
  return {
    ...failure(error.message, error.info),
    content: asContent(durableCopy(content)),
    ...(meta === undefined ? {} : { meta: durableCopy(meta) }),
    ...(additionalContexts === undefined ? {} : { additionalContexts }),
  }
}

function contextsOf({ additionalContexts }: ToolExecutionResult): { additionalContexts?: UserMessage[] } {
  return additionalContexts === undefined ? {} : { additionalContexts }
}
