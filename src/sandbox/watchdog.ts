/** The watch over one run, kept by the host alone: a child that is wedged cannot end its own deadline. */
import { readProcessFigures } from './process-figures.ts'
import type { RunFailure, RunLimits } from './ptc-runtime.ts'

/** Options of a watch. */
export interface WatchdogOptions {
  readonly pid: number
  readonly limits: RunLimits
  /** When the run began, `performance.now()`; waiting for a child counts against the wall budget. */
  readonly startedAt: number
  /** Whether the program waits for people alone, which counts against no budget. */
  readonly isParked: () => boolean
  /** Called once, with the budget that was broken. */
  readonly onBreach: (breach: RunFailure) => void
}

const POLL_MS = 25
/** The host itself may have been blocked; no poll charges more than this, milliseconds. */
const MAX_CHARGE_MS = 50
/** Time over the compute budget in which the child may end the program cleanly by itself, milliseconds. */
const SLICE_GRACE_MS = 500
/** Memory of a child beside the heap of its program, MiB. */
const CHILD_BASE_MB = 150
const BYTES_PER_MIB = 1_048_576
/** A value on its way in lies in the pipe, in the child and in the isolate at the same time. */
const COPIES_OF_A_MESSAGE = 4

/** Watches compute, wall clock and memory from the first message to the last. */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #interval: NodeJS.Timeout
  readonly #cpuAtStart: number
  #lastTick = performance.now()
  #activeMs = 0
  #parkedMs = 0
  #isActive = false
  #bytesIn = 0
  #isOver = false

  constructor(options: WatchdogOptions) {
    this.#options = options
    this.#cpuAtStart = readProcessFigures(options.pid)?.cpuMs ?? 0
    this.#interval = setInterval(() => this.#tick(), POLL_MS)
  }

  /** The program got something to do; ends only with `idle`. */
  active(): void {
    if (!this.#isActive) this.#charge()
    this.#isActive = true
  }

  /** The child reported that nothing runs inside. */
  idle(): void {
    this.#charge()
    this.#isActive = false
  }

  /** A value of this many bytes was sent in; the child may hold copies of it. */
  sent(bytes: number): void {
    this.#bytesIn = Math.max(this.#bytesIn, bytes)
  }

  /** Ends the watch. */
  stop(): void {
    this.#isOver = true
    clearInterval(this.#interval)
  }

  #tick(): void {
    const isLate = performance.now() - this.#lastTick > POLL_MS * 4
    this.#charge()
    // After a stall of the host, what the child already said is read before it is judged.
    if (isLate) setImmediate(() => this.#judge())
    else this.#judge()
  }

  #judge(): void {
    if (this.#isOver) return
    const breach = this.#breach()
    if (breach === undefined) return
    this.stop()
    this.#options.onBreach(breach)
  }

  #charge(): void {
    const now = performance.now()
    if (this.#isActive) this.#activeMs += Math.min(now - this.#lastTick, MAX_CHARGE_MS)
    else if (this.#options.isParked()) this.#parkedMs += now - this.#lastTick
    this.#lastTick = now
  }

  #breach(): RunFailure | undefined {
    const { limits, startedAt, pid } = this.#options
    if (performance.now() - startedAt - this.#parkedMs > limits.wallMs) return wallBreach(limits)
    const figures = readProcessFigures(pid)
    const usedCpuMs = figures === undefined ? 0 : figures.cpuMs - this.#cpuAtStart
    if (Math.max(this.#activeMs, usedCpuMs) > limits.cpuMs + SLICE_GRACE_MS) return cpuBreach(limits)
    const allowedMb = CHILD_BASE_MB + limits.memoryMb + (this.#bytesIn * COPIES_OF_A_MESSAGE) / BYTES_PER_MIB
    return figures !== undefined && figures.residentMb > allowedMb ? memoryBreach(limits) : undefined
  }
}

/** The failure of a run that used up its compute budget. */
export function cpuBreach(limits: RunLimits): RunFailure {
  return {
    kind: 'timeout',
    code: 'CPU_BUDGET',
    message: `the program computed for more than ${limits.cpuMs} ms (waiting for tools is not counted); do less per run`,
  }
}

/** The failure of a run that took too long. */
export function wallBreach(limits: RunLimits): RunFailure {
  return {
    kind: 'timeout',
    code: 'WALL_BUDGET',
    message: `the run took longer than ${limits.wallMs} ms, tools included; split the work over several runs`,
  }
}

/** The failure of a run that took too much memory. */
export function memoryBreach(limits: RunLimits): RunFailure {
  return {
    kind: 'worker-exit',
    code: 'OUT_OF_MEMORY',
    message: `the program needed more than its ${limits.memoryMb} MB of memory; keep less at once`,
  }
}
