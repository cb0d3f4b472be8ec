/** One lifetime of the compiler's process: starts with the first transform, ends by `end` or by its own death. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import * as esbuild from 'esbuild'

/** A complaint of the compiler about the text, in the compiler's terms: line 1-based, column 0-based in bytes. */
export interface CompilerDiagnostic {
  readonly text: string
  readonly location: { readonly line: number; readonly column: number; readonly lineText: string } | null
  /** Places that belong to the complaint, such as the start of an unfinished comment. */
  readonly notes: readonly Omit<CompilerDiagnostic, 'notes'>[]
}

/** How one transform ended. */
export type TransformOutcome =
  | { readonly kind: 'done'; readonly code: string; readonly map: string }
  | { readonly kind: 'refused'; readonly diagnostics: readonly CompilerDiagnostic[] }
  /** The process is gone; the text may or may not be the reason. */
  | { readonly kind: 'lost'; readonly reason: LossReason }

/** Why a process is gone: killed over a limit, dead on its own account, or not wanted any more. */
export type LossReason = 'time' | 'memory' | 'answer' | 'died' | 'stopped'

/** The part of the child that is used here; the library starts it. */
interface CompilerChild extends EventEmitter {
  readonly pid?: number
  readonly stdout: EventEmitter | null
  ref(): void
  kill(signal: 'SIGKILL'): boolean
}

/** Most that the process may hold before it is killed, in MiB; measured on Linux only. */
const MAX_MEMORY_MB = 512
const WATCH_INTERVAL_MS = 25
/** One answer of the process: at least 4 MiB, sixteen times the text when that is more. */
const MIN_ANSWER_BYTES = 4 * 1024 * 1024
const ANSWER_FACTOR = 16
/** A chunk of the pipe may hold the end of one answer and the start of the next. */
const CHUNK_BYTES = 65_536

const OPTIONS = {
  loader: 'ts',
  target: 'es2024',
  // The engine has these itself; without helpers the output stays one function.
  supported: { using: true },
  sourcemap: 'external',
  sourcesContent: false,
  sourcefile: 'program.ts',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  tsconfigRaw: '{}',
} satisfies esbuild.TransformOptions

/**
 * The library keeps one process for all its callers, so at most one object of this class is alive.
 * It answers nothing more to transforms that are pending when the process goes; this class does.
 */
export class CompilerProcess {
  #child: CompilerChild | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #loss: LossReason | undefined
  #watch: NodeJS.Timeout | undefined
  #answerBytes = 0
  readonly #pending = new Map<() => void, number>()

  /** True once the process is gone or going; a new object is needed then. */
  get isOver(): boolean {
    return this.#loss !== undefined
  }

  /** Transforms one text; resolves in every case. */
  transform(text: string): Promise<TransformOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: TransformOutcome): void => {
        if (!this.#pending.delete(lose)) return
        this.#answerBytes = 0
        if (this.#pending.size === 0) this.#stopWatch()
        resolve(outcome)
      }
      const lose = (): void => settle({ kind: 'lost', reason: this.#loss ?? 'died' })
      this.#pending.set(lose, Math.max(MIN_ANSWER_BYTES, text.length * ANSWER_FACTOR))
      this.#startWatch()
      this.#begin(text).then(
        ({ code, map }) => settle({ kind: 'done', code, map }),
        (thrown: unknown) => {
          const outcome = refusalOf(thrown)
          // The pipe may close before the exit is seen: nothing may start in a process that is gone.
          if (outcome === undefined) void this.end('died')
          else settle(outcome)
        },
      )
    })
  }

  /** Kills the process and resolves once it has exited; what is pending ends as `lost`. */
  async end(reason: LossReason = 'stopped'): Promise<void> {
    if (this.#loss === undefined) {
      this.#loss = reason
      this.#stopWatch()
      // The library lets go of an idle process; whoever waits for its exit must hold on to it.
      this.#child?.ref()
      // Deep in its own stack the process may not answer to a polite signal.
      this.#child?.kill('SIGKILL')
      await esbuild.stop()
      for (const lose of this.#pending.keys()) lose()
    }
    await this.#exited
  }

  #begin(text: string): Promise<{ code: string; map: string }> {
    if (this.#child !== undefined) return esbuild.transform(text, OPTIONS)
    let result: Promise<{ code: string; map: string }> | undefined
    const child = spawnedBy(() => (result = esbuild.transform(text, OPTIONS)))
    if (child !== undefined) this.#adopt(child)
    return result ?? Promise.reject(new Error('the compiler did not start'))
  }

  #adopt(child: CompilerChild): void {
    this.#child = child
    this.#exited = new Promise((resolve) => {
      child.once('exit', resolve)
      child.once('error', resolve)
    })
    void this.#exited.then(() => this.end('died'))
    child.stdout?.on('data', (chunk: Buffer) => this.#count(chunk.length))
  }

  /** An answer that never ends is an attack on our memory: the library would collect all of it. */
  #count(bytes: number): void {
    this.#answerBytes += bytes
    const limit = Math.max(...this.#pending.values(), MIN_ANSWER_BYTES) + CHUNK_BYTES
    if (this.#answerBytes > limit) void this.end('answer')
  }

  #startWatch(): void {
    this.#watch ??= setInterval(() => {
      if (residentMb(this.#child?.pid) > MAX_MEMORY_MB) void this.end('memory')
    }, WATCH_INTERVAL_MS).unref()
  }

  #stopWatch(): void {
    clearInterval(this.#watch)
    this.#watch = undefined
  }
}

/** The child that `start` spawns before it returns; the library keeps the handle to itself. */
function spawnedBy(start: () => unknown): CompilerChild | undefined {
  let child: CompilerChild | undefined
  const note = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('process' in message)) return
    // The channel documents its message as a ChildProcess, of which the interface is a part.
    if (message.process instanceof EventEmitter) child = message.process as CompilerChild
  }
  subscribe('child_process', note)
  try {
    start()
  } finally {
    unsubscribe('child_process', note)
  }
  return child
}

/** Resident memory in MiB; 0 where the system does not tell. */
function residentMb(pid: number | undefined): number {
  if (pid === undefined || process.platform !== 'linux') return 0
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kib ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Undefined when the compiler did not answer at all. */
function refusalOf(thrown: unknown): TransformOutcome | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('errors' in thrown)) return undefined
  const { errors } = thrown
  if (!Array.isArray(errors) || errors.length === 0) return undefined
  // The library documents its failure as an Error whose `errors` are messages of this form.
  return { kind: 'refused', diagnostics: errors as CompilerDiagnostic[] }
}
