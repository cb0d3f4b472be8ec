/** From a program's calls to the pipeline and back: the bindings of one run, and its end. */
import { HarnessError, type LogError, SubCallError } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import type { JsonValue } from '../json/value.ts'
import type { PtcFunction, PtcNamespace } from '../sandbox/ptc-runtime.ts'
import type { ToolSchema } from '../tool/content.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { bindingSchema } from './model-input.ts'
import type { SubCallSummary } from './run-outcome.ts'
import { CallLane } from './scheduler.ts'
import { type RunContext, SubCall } from './sub-call.ts'

/** Options of a bridge. */
export interface BridgeOptions extends Omit<RunContext, 'signal' | 'track' | 'onLogFailure'> {
  /** Tools that the program sees, resolved again at each call. */
  readonly tools: readonly ToolDefinition[]
  readonly maxSubCalls: number
  readonly maxParallelSubCalls: number
  /** The log broke: the run must end before its next effect. */
  readonly onLogFailure: (failure: LogError) => void
}

/** Settle records that may be behind before the lane waits for them. */
const MAX_RECORDS_BEHIND = 10

/** The bindings of one run. */
export class Bridge {
  readonly #options: BridgeOptions
  readonly #context: RunContext
  readonly #lane: CallLane
  readonly #abort = new AbortController()
  readonly #calls: SubCall[] = []
  readonly #records = new Set<Promise<void>>()
  #logFailure: LogError | undefined
  #over: string | undefined

  constructor(options: BridgeOptions) {
    this.#options = options
    this.#lane = new CallLane(options.maxParallelSubCalls)
    this.#context = {
      ...options,
      signal: this.#abort.signal,
      track: (write) => this.#track(write),
      onLogFailure: (failure) => this.#failLog(failure),
    }
  }

  /** Set once a record could not be written. */
  get logFailure(): LogError | undefined {
    return this.#logFailure
  }

  /** Started calls in submission order. */
  get calls(): readonly SubCallSummary[] {
    return this.#calls.flatMap(({ summary }) => summary ?? [])
  }

  /** Whether everything that runs for the program waits for people. */
  get isParked(): boolean {
    return this.#lane.isParked
  }

  /** The `tools` namespace of the program. */
  namespace(): PtcNamespace {
    const functions = new Map<string, PtcFunction>()
    for (const tool of this.#options.tools) {
      const schema = bindingSchema(tool)
      functions.set(tool.name, (args) => this.#call(schema, args))
    }
    return { global: 'tools', functions, errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' } }
  }

  /**
   * Ends the run: nothing new starts, what runs is aborted through its signal and awaited, every
   * started call is on record.
   * @returns names of the calls that had been submitted and were not settled.
   */
  async drain(reason: string): Promise<string[]> {
    this.#over = reason
    const unsettled = this.#calls.filter(({ summary }) => summary === undefined || summary.durationMs === null)
    const names = unsettled.map(({ name }) => name)
    this.#abort.abort(new HarnessError('run_code settled', 'ABORTED'))
    this.#lane.stop(reason)
    await this.#lane.settled()
    while (this.#records.size > 0) await Promise.all(this.#records)
    return names
  }

  #call(schema: ToolSchema, args: JsonValue): Promise<JsonValue> {
    const { name } = schema
    if (this.#over !== undefined) {
      const message = `run_code run is over (${this.#over}); ${name} not dispatched`
      return Promise.reject(new SubCallError(message, 'RUN_OVER', false))
    }
    if (this.#calls.length >= this.#options.maxSubCalls) {
      const message = `the run's budget of ${this.#options.maxSubCalls} calls is used up; ${name} not dispatched`
      return Promise.reject(new SubCallError(message, 'SUB_CALL_BUDGET', false))
    }
    const { exec } = this.#options
    // Frozen before anything sees them: a classifier must not change what will run.
    deepFreeze(args)
    const call = new SubCall(this.#context, {
      callId: `${exec.callId}:ptc:${this.#calls.length + 1}`,
      rootCallId: exec.rootCallId,
      name,
      schema,
      arguments: args,
      parent: exec.token,
      signal: this.#abort.signal,
      ...(exec.agent === undefined ? {} : { agent: exec.agent }),
      ...(exec.toolSet === undefined ? {} : { toolSet: exec.toolSet }),
    })
    this.#calls.push(call)
    this.#lane.submit(call)
    return call.settled
  }

  async #track(write: Promise<void>): Promise<void> {
    const tracked = write.finally(() => this.#records.delete(tracked))
    this.#records.add(tracked)
    while (this.#records.size > MAX_RECORDS_BEHIND) await Promise.race(this.#records)
  }

  #failLog(failure: LogError): void {
    this.#logFailure ??= failure
    this.#over ??= 'its log cannot be written'
    this.#abort.abort(failure)
    this.#options.onLogFailure(this.#logFailure)
  }
}
