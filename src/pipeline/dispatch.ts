/** Around and inside the body: wrappers, the deadline, the fused signal, what came out of it. */
import { ToolNotFoundError } from '../errors.ts'
import type { UserMessage } from '../tool/content.ts'
import type { ToolDefinition, ToolDispatchExecution, ToolExecution } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionFailure, ToolExecutionResult } from '../tool/outcome.ts'
import { type Abandonment, effectsUnknown, policyAbandoned, untilAbandoned } from './abandon.ts'
import { faultOfResult } from './answers.ts'
import { asContent, durableCopy, normaliseSuccess } from './normalise.ts'
import { abortedFailure, failure, freezeOutcome, thrownAfterCancel, thrownFailure } from './result.ts'
import { fuseSignals } from './signal.ts'
import { withTimeout } from './timeout.ts'
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

  /** Runs wrappers and body. Rejects with what a wrapper threw, named. */
  async run(): Promise<ToolExecutionResult> {
    const { exec } = this.#context
    const result = await this.#surrounded(replaceableSignal(exec))
    const checked = this.#canonical.has(result) ? result : this.#recheck(result)
    return exec.signal.aborted && !checked.isError
      ? { ...abortedFailure(this.isBodyInvoked), ...contextsOf(checked) }
      : checked
  }

  async #surrounded(shared: ToolDispatchExecution): Promise<ToolExecutionResult> {
    const { exec, tools, abandonment, findDefinition } = this.#context
    const timed = (): Promise<ToolExecutionResult> =>
      withTimeout(shared, () => this.#started(this.#body(shared)), findDefinition()?.timeoutMs)
    try {
      return await untilAbandoned({
        signal: exec.signal,
        abandonment,
        giveUp: (waited) => this.#giveUp(waited),
        work: () =>
          runWaterfall<ExecuteListener, ToolExecutionResult>({
            event: 'tools/execute',
            listeners: tools.listeners('tools/execute', exec.agent),
            call: (listener, next) => withOwnSignal(shared, () => listener(shared, next)),
            innermost: async () => this.#canonicalised(await timed()),
            fault: faultOfResult,
          }),
      })
    } finally {
      this.#isOver = true
      await Promise.allSettled(this.#bodies)
    }
  }

  /** A body is given up first; a wrapper that only waited for it then gets one turn to answer. */
  async #giveUp(waited: string): Promise<Error> {
    await Promise.allSettled(this.#bodies)
    await new Promise((resolve) => setImmediate(resolve))
    const party = `a tools/execute listener of tool "${this.#context.exec.name}"`
    return this.isBodyInvoked ? effectsUnknown(party, waited) : policyAbandoned(party, waited, false)
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
      if (signal.aborted) return abortedFailure(false)
      const definition = findDefinition()
      if (definition === undefined) return thrownFailure(new ToolNotFoundError(exec.name))
      this.isBodyInvoked = true
      const value = await untilAbandoned({
        signal,
        abandonment,
        giveUp: (waited) => effectsUnknown(`tool "${exec.name}"`, waited),
        work: async () => definition.execute(exec.arguments, this.#runContext(signal)),
      })
      if (exec.signal.aborted) return abortedFailure(true)
      return this.#canonicalised(normaliseSuccess(definition, exec.arguments, value))
    } catch (thrown) {
      return thrownAfterCancel(thrown, exec.signal, this.isBodyInvoked)
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

  #canonicalised(result: ToolExecutionResult): ToolExecutionResult {
    this.#canonical.add(freezeOutcome(result))
    return result
  }

  /** A wrapper's own success passes the same checks as a body's value; its failure keeps what a failure has. */
  #recheck(result: ToolExecutionResult): ToolExecutionResult {
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

/** What wrappers share: the identity of the call stays, its signal may be replaced. */
function replaceableSignal(exec: ToolExecution): ToolDispatchExecution {
  const shared: ToolDispatchExecution = { ...exec }
  for (const field of Object.keys(shared)) {
    if (field !== 'signal') Object.defineProperty(shared, field, { writable: false, configurable: false })
  }
  return Object.preventExtensions(shared)
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

function authoredFailure({ error, content, meta, additionalContexts }: ToolExecutionFailure): ToolExecutionFailure {
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
