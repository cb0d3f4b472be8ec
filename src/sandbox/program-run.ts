/** One program on one child, from the first message to the one outcome that wins. */
import { parseJson, stringifyJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'
import { CallTable } from './call-table.ts'
import type { ChildExit } from './child-process.ts'
import { MAX_CONSOLE_LINES, OutputLedger, outputLimitMessage } from './output-ledger.ts'
import type { ChildLease } from './pool.ts'
import type { PtcRunResult, PtcRunSpec, RunFailure } from './ptc-runtime.ts'
import { cpuBreach, memoryBreach, Watchdog } from './watchdog.ts'
import { type ChildMessage, type GuestItem, type GuestStart, readGuestItems } from './wire.ts'

/** How a run ended, and whether its child may serve another. */
export interface ProgramEnd {
  readonly result: PtcRunResult
  readonly isChildHealthy: boolean
}

type Ending = { readonly value?: JsonValue; readonly error?: RunFailure }

/** Runs one program and settles exactly once. */
export class ProgramRun {
  readonly #spec: PtcRunSpec
  readonly #lease: ChildLease
  readonly #logs: string[] = []
  readonly #ledger: OutputLedger
  readonly #calls: CallTable
  readonly #watchdog: Watchdog
  #seq = 0
  #bridgeBytes = 0
  #settle: (end: ProgramEnd) => void = () => undefined
  #isOver = false
  /** Resolves once, with the outcome that won. */
  readonly ended: Promise<ProgramEnd>

  /** @param startedAt when the run asked for a child, `performance.now()`. */
  constructor(spec: PtcRunSpec, lease: ChildLease, startedAt: number) {
    this.#spec = spec
    this.#lease = lease
    this.#ledger = new OutputLedger(spec.limits.maxOutputBytes)
    this.#calls = new CallTable({
      namespaces: spec.namespaces,
      maxMessageBytes: spec.limits.maxMessageBytes,
      sendReplies: (payload) => this.#deliver(payload),
    })
    this.#watchdog = new Watchdog({
      pid: lease.child.pid ?? 0,
      limits: spec.limits,
      startedAt,
      isParked: spec.isParked ?? (() => false),
      onBreach: (breach) => this.#end({ error: breach }, false),
    })
    this.ended = new Promise((resolve) => (this.#settle = resolve))
  }

  /** Sends the program to the child. */
  start(): void {
    const { child, run } = this.#lease
    const { limits, signal } = this.#spec
    child.listen({
      onMessage: (message, payload) => this.#onMessage(message, payload),
      onViolation: (violation) => this.#violate(violation.message),
      onExit: (exit) => this.#end({ error: exitFailure(exit) }, false),
    })
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) {
      this.#abort()
      return
    }
    this.#watchdog.active()
    const payload = JSON.stringify(guestStart(this.#spec))
    child.send({ type: 'run', run, seq: ++this.#seq, memoryMb: limits.memoryMb, cpuMs: limits.cpuMs }, payload)
  }

  readonly #abort = (): void => {
    const { reason } = this.#spec.signal
    const message = reason instanceof Error ? reason.message : String(reason)
    this.#end({ error: { kind: 'abort', code: 'ABORTED', message } }, false)
  }

  #onMessage(message: ChildMessage, payload: string | undefined): void {
    if (this.#isOver) return
    if (message.type === 'ready' || message.run !== this.#lease.run) {
      this.#violate(`a message of run ${this.#lease.run} was expected`)
      return
    }
    switch (message.type) {
      case 'active':
        this.#watchdog.active()
        return
      case 'items':
        this.#onItems(payload ?? '')
        return
      case 'idle':
        this.#onIdle(message)
        return
      case 'unhandled':
        this.#log('error', `Unhandled rejection: ${message.message}`)
        return
      case 'died':
        this.#end({ error: this.#death(message.reason) }, false)
        return
      case 'released':
        this.#violate('the run was released before it ended')
    }
  }

  #onItems(payload: string): void {
    try {
      const bytes = Buffer.byteLength(payload)
      this.#count(bytes)
      for (const item of readGuestItems(parseJson(payload))) {
        if (this.#isOver) return
        this.#onItem(item, bytes)
      }
    } catch (thrown) {
      // Whatever a guest can make the parser or a guard say, it is the guest that broke the protocol.
      this.#violate(thrown instanceof Error ? thrown.message : String(thrown))
    }
  }

  #onItem(item: GuestItem, payloadBytes: number): void {
    switch (item.type) {
      case 'call':
        this.#calls.dispatch(item)
        return
      case 'log':
        this.#log(item.level, item.text)
        return
      case 'done':
        this.#onDone(item.value as JsonValue | undefined, payloadBytes) // parseJson makes nothing but JSON values
        return
      case 'failed':
        this.#onFailed(item.failure)
    }
  }

  #onDone(value: JsonValue | undefined, payloadBytes: number): void {
    // The payload holds the value and more: what fits as a whole needs no exact count.
    const fits =
      value === undefined ||
      this.#ledger.fits(payloadBytes) ||
      this.#ledger.fits(Buffer.byteLength(stringifyJson(value)))
    if (!fits) this.#endAtOutputLimit()
    else this.#end(value === undefined ? {} : { value }, true)
  }

  #onFailed(failure: Extract<GuestItem, { type: 'failed' }>['failure']): void {
    const { kind, message } = failure
    if (kind === 'output-limit') this.#end({ error: { kind, code: 'OUTPUT_LIMIT', message } }, false)
    else if (!this.#ledger.fits(Buffer.byteLength(JSON.stringify(message)))) this.#endAtOutputLimit()
    else if (kind === 'invalid-output') this.#end({ error: { kind, code: 'INVALID_OUTPUT', message } }, true)
    else {
      const { code = 'CODE_RUN_FAILED', ...thrown } = failure
      this.#end({ error: { ...thrown, code } }, true)
    }
  }

  #onIdle(message: Extract<ChildMessage, { type: 'idle' }>): void {
    if (message.seq !== this.#seq) return
    this.#watchdog.idle()
    if (this.#calls.inFlight > 0 || message.hasTimer) return
    const code = 'NEVER_FINISHES'
    const text =
      'the program awaits something that no tool call and no timer will ever settle; resolve the promise or return'
    this.#end({ error: { kind: 'exception', code, message: text } }, true)
  }

  #deliver(payload: string): void {
    if (this.#isOver) return
    const bytes = Buffer.byteLength(payload)
    this.#count(bytes)
    if (this.#isOver) return
    this.#watchdog.sent(bytes)
    this.#watchdog.active()
    this.#lease.child.send({ type: 'replies', run: this.#lease.run, seq: ++this.#seq }, payload)
  }

  #log(level: string, text: string): void {
    if (!this.#ledger.addLine(text)) {
      this.#endAtOutputLimit()
      return
    }
    this.#logs.push(text)
    this.#spec.onLog?.({ level, text })
  }

  #count(bytes: number): void {
    this.#bridgeBytes += bytes
    const { maxBridgeBytes } = this.#spec.limits
    if (this.#bridgeBytes <= maxBridgeBytes) return
    const message = `the run moved more than ${maxBridgeBytes} bytes between program and tools; ask the tools for less`
    this.#end({ error: { kind: 'output-limit', code: 'OUTPUT_LIMIT', message } }, false)
  }

  #death(reason: Extract<ChildMessage, { type: 'died' }>['reason']): RunFailure {
    switch (reason) {
      case 'cpu':
        return cpuBreach(this.#spec.limits)
      case 'memory':
        return memoryBreach(this.#spec.limits)
      case 'broken':
        return { kind: 'worker-exit', code: 'CHILD_EXITED', message: 'the isolate of the program broke' }
    }
  }

  #endAtOutputLimit(): void {
    const message = outputLimitMessage(this.#spec.limits.maxOutputBytes)
    this.#end({ error: { kind: 'output-limit', code: 'OUTPUT_LIMIT', message } }, false)
  }

  #violate(message: string): void {
    const text = `the program's process broke the protocol: ${message}`
    this.#end({ error: { kind: 'protocol', code: 'PROTOCOL_VIOLATION', message: text } }, false)
  }

  #end(ending: Ending, isChildHealthy: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#watchdog.stop()
    this.#calls.close()
    this.#spec.signal.removeEventListener('abort', this.#abort)
    this.#settle({ result: { ...ending, logs: this.#logs }, isChildHealthy })
  }
}

function guestStart(spec: PtcRunSpec): GuestStart {
  const { program, filename, namespaces, limits } = spec
  const { maxOutputBytes, maxMessageBytesOut, maxSubCalls } = limits
  return {
    code: program,
    filename,
    namespaces: namespaces.map(({ global, functions, errorClass }) => ({
      global,
      names: [...functions.keys()].sort((left, right) => left.length - right.length),
      errorClass,
    })),
    limits: { maxOutputBytes, maxMessageBytesOut, maxSubCalls, maxConsoleLines: MAX_CONSOLE_LINES },
  }
}

/** Signals by which V8 and the kernel end a process that ran out of memory or of processor time. */
function exitFailure({ code, signal }: ChildExit): RunFailure {
  const ending = signal ?? `code ${code}`
  const message = `the program's process ended with ${ending} before the program did; it is replaced for the next run`
  return { kind: 'worker-exit', code: 'CHILD_EXITED', message }
}
