/** The default runtime: a fresh isolate in a child process for each program. */
import { HarnessError, messageOf, PtcUsageError, SandboxUnavailableError } from '../errors.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { type ChildLease, ChildPool } from './pool.ts'
import { ProgramRun } from './program-run.ts'
import type { PtcRunResult, PtcRunSpec, PtcRuntime, RunFailure, RunLimits } from './ptc-runtime.ts'

/** Options of the runtime. */
export interface IsolateRuntimeOptions {
  /** Largest budgets that any run may have; they size the pipe and the system's own limits. */
  readonly limits?: RunLimits
  /** Children alive at once, default 32. */
  readonly maxChildren?: number
  /** Runs that may wait for a child, default 1,000. */
  readonly maxQueue?: number
}

const DEFAULT_MAX_CHILDREN = 32
const DEFAULT_MAX_QUEUE = 1_000
const BOOT_MS = 5_000
/** Room for the header and for what is batched beside a largest value, bytes. */
const FRAME_SLACK_BYTES = 1_048_576
/** Runs whose whole compute budget a child may use up before the system's own limit ends it. */
const CPU_BUDGETS_PER_CHILD = 10
const SPARE_CPU_SECONDS = 60
const MS_PER_SECOND = 1_000

/** Runs programs in isolates of child processes; `dispose` leaves no process behind. */
export class IsolateRuntime implements PtcRuntime {
  readonly language = 'typescript'
  readonly isolation = 'process'
  readonly executionInstructions: string = [
    'The program runs in a sealed isolate: ECMAScript, `console`, timers and `queueMicrotask`, and the declared bindings.',
    'There is no network, no file system, no `process`, no `require` and no `import`; use the tools.',
    'Each run starts fresh: nothing is kept from an earlier one.',
  ].join(' ')
  readonly #pool: ChildPool
  readonly #live = new Set<Promise<PtcRunResult>>()
  #isDisposed = false

  constructor(options: IsolateRuntimeOptions = {}) {
    const { limits = DEFAULT_LIMITS, maxChildren = DEFAULT_MAX_CHILDREN, maxQueue = DEFAULT_MAX_QUEUE } = options
    this.#pool = new ChildPool({
      maxChildren,
      maxQueue,
      bootMs: BOOT_MS,
      child: {
        memoryMb: limits.memoryMb,
        maxFrameBytesIn: limits.maxMessageBytes * 2 + FRAME_SLACK_BYTES,
        maxFrameBytesOut: Math.max(limits.maxMessageBytesOut, limits.maxOutputBytes) + FRAME_SLACK_BYTES,
        cpuSeconds: Math.ceil((limits.cpuMs * CPU_BUDGETS_PER_CHILD) / MS_PER_SECOND) + SPARE_CPU_SECONDS,
      },
    })
  }

  /** Runs one program. Failures of the program resolve; @throws PtcUsageError after `dispose`. */
  async run(spec: PtcRunSpec): Promise<PtcRunResult> {
    if (this.#isDisposed) throw new PtcUsageError('run after close: create a new instance with createPtc')
    const running = this.#run(spec)
    this.#live.add(running)
    return running.finally(() => this.#live.delete(running))
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    await this.#pool.dispose()
    await Promise.allSettled(this.#live)
  }

  async #run(spec: PtcRunSpec): Promise<PtcRunResult> {
    const startedAt = performance.now()
    const lease = await this.#acquire(spec)
    if ('kind' in lease) return { logs: [], error: lease }
    const run = new ProgramRun(spec, lease, startedAt)
    run.start()
    const { result, isChildHealthy } = await run.ended
    if (isChildHealthy && !this.#isDisposed) lease.release()
    else await lease.discard()
    return result
  }

  /** Waiting for a child ends with the caller's cancellation or with the wall budget. */
  async #acquire(spec: PtcRunSpec): Promise<ChildLease | RunFailure> {
    const wall = new AbortController()
    const timer = setTimeout(() => wall.abort(), spec.limits.wallMs)
    try {
      return await this.#pool.acquire(spec.owner, AbortSignal.any([spec.signal, wall.signal]))
    } catch (failure) {
      return acquireFailure(spec, failure)
    } finally {
      clearTimeout(timer)
    }
  }
}

function acquireFailure({ signal, limits }: PtcRunSpec, failure: unknown): RunFailure {
  if (signal.aborted) return { kind: 'abort', code: 'ABORTED', message: messageOf(signal.reason) }
  if (failure instanceof SandboxUnavailableError) {
    const { code, message, cause } = failure
    return { kind: 'sandbox-unavailable', code, message, ...(cause === undefined ? {} : { detail: messageOf(cause) }) }
  }
  if (failure instanceof HarnessError) return { kind: 'abort', code: 'ABORTED', message: failure.message }
  const message = `no child was free within the wall budget of ${limits.wallMs} ms; try again later`
  return { kind: 'timeout', code: 'WALL_BUDGET', message }
}
