/** Shares the compiler among programs that may kill it: bounded, with a deadline, and fair to the innocent. */
import { ProgramError } from '../errors.ts'
import { CompilerProcess, type LossReason, type TransformOutcome } from './compiler-process.ts'

/** How much one service may do. */
export interface CompilerServiceOptions {
  /** Transforms at a time; default 4. */
  readonly maxParallel?: number
  /** Milliseconds for one transform; default 5,000. */
  readonly deadlineMs?: number
}

/** What the compiler said about a text that it could read. */
export type Transformed = Exclude<TransformOutcome, { kind: 'lost' }>

interface Job {
  readonly text: string
  readonly settle: (outcome: Transformed | ProgramError) => void
  /** Runs for the second time, with no other beside it: a lost process is its own doing. */
  isSuspect: boolean
  /** Another one ran beside it, which may have slowed it down or broken the process. */
  hasCompany: boolean
  /** Its caller has gone. */
  isForgotten: boolean
}

const MAX_PARALLEL = 4
const DEADLINE_MS = 5_000

/**
 * Runs transforms in one compiler process. When that dies or a deadline passes, the process is
 * replaced and each transform that it took down runs again alone: only the one that takes the
 * process down a second time fails.
 */
export class CompilerService {
  readonly #maxParallel: number
  readonly #deadlineMs: number
  readonly #waiting: Job[] = []
  readonly #suspects: Job[] = []
  readonly #active = new Set<Job>()
  #process: CompilerProcess | undefined
  #stopping: Promise<void> | undefined

  constructor({ maxParallel = MAX_PARALLEL, deadlineMs = DEADLINE_MS }: CompilerServiceOptions = {}) {
    this.#maxParallel = maxParallel
    this.#deadlineMs = deadlineMs
  }

  /**
   * Transforms one text; an aborted caller is let go at once.
   * @throws ProgramError `COMPILE_FAILED` when the text takes the compiler down or past the deadline.
   */
  transform(text: string, signal?: AbortSignal): Promise<Transformed> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortReason(signal))
        return
      }
      const settle: Job['settle'] = (outcome) => {
        signal?.removeEventListener('abort', abort)
        if (outcome instanceof ProgramError) reject(outcome)
        else resolve(outcome)
      }
      const job: Job = { text, settle, isSuspect: false, hasCompany: false, isForgotten: false }
      const abort = (): void => {
        this.#forget(job)
        if (signal !== undefined) reject(abortReason(signal))
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(job)
      this.#pump()
    })
  }

  /** Ends the process and waits for its exit; what was running runs again in the next one, which starts on demand. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#endProcess().finally(() => {
      this.#stopping = undefined
      this.#pump()
    })
    await this.#stopping
  }

  async #endProcess(): Promise<void> {
    await this.#process?.end()
    this.#process = undefined
  }

  /** Starts what may start: suspects one by one before anything else, then the others in order. */
  #pump(): void {
    if (this.#stopping !== undefined) return
    if (this.#process?.isOver === true) {
      if (this.#active.size === 0) void this.stop()
      return
    }
    if (this.#suspects.length > 0) {
      const suspect = this.#active.size === 0 ? this.#suspects.shift() : undefined
      if (suspect !== undefined) this.#start(suspect)
      return
    }
    while (this.#mayStart()) {
      const job = this.#waiting.shift()
      if (job === undefined) return
      this.#start(job)
    }
  }

  #mayStart(): boolean {
    for (const job of this.#active) if (job.isSuspect) return false
    return this.#active.size < this.#maxParallel
  }

  #start(job: Job): void {
    this.#active.add(job)
    if (this.#active.size > 1) for (const each of this.#active) each.hasCompany = true
    this.#process ??= new CompilerProcess()
    const compiler = this.#process
    const deadline = setTimeout(() => void compiler.end('time'), this.#deadlineMs)
    void compiler.transform(job.text).then((outcome) => {
      clearTimeout(deadline)
      this.#active.delete(job)
      if (outcome.kind !== 'lost') job.settle(outcome)
      else this.#lost(job, outcome.reason)
      this.#pump()
    })
  }

  #lost(job: Job, reason: LossReason): void {
    if (job.isForgotten) return
    const isOverLimit = reason !== 'died' && reason !== 'stopped'
    const isKiller = job.isSuspect ? reason !== 'stopped' : isOverLimit && !job.hasCompany
    if (isKiller) {
      job.settle(compileFailed(reason))
      return
    }
    job.isSuspect = true
    this.#suspects.push(job)
  }

  #forget(job: Job): void {
    job.isForgotten = true
    for (const queue of [this.#waiting, this.#suspects]) {
      const index = queue.indexOf(job)
      if (index !== -1) queue.splice(index, 1)
    }
  }
}

/** The service that all programs of this process share. */
export const compilerService: CompilerService = new CompilerService()

let retained = 0

/**
 * Keeps the shared compiler's process from being ended by others.
 * @returns a release, to be called once: the last one ends the process and resolves after its exit.
 */
export function retainCompiler(): () => Promise<void> {
  retained += 1
  let isReleased = false
  return async () => {
    if (isReleased) return
    isReleased = true
    retained -= 1
    if (retained === 0) await stopCompiler()
  }
}

/** Ends the shared compiler's process, if there is one, and resolves after its exit. The next compile starts another. */
export async function stopCompiler(): Promise<void> {
  await compilerService.stop()
}

const LOSS_TEXT: Record<LossReason, string> = {
  time: 'it needs too long to compile',
  memory: 'it needs too much memory to compile',
  answer: 'its compiled form is far larger than its source',
  died: 'the compiler ended while it read this program',
  stopped: 'the compiler was stopped',
}

function compileFailed(reason: LossReason): ProgramError {
  return new ProgramError(
    `the compiler gave up on this program: ${LOSS_TEXT[reason]}; simplify or split it`,
    'COMPILE_FAILED',
  )
}

function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error
    ? reason
    : new DOMException('the compile was aborted', { name: 'AbortError', cause: reason })
}
