/** The only file that spawns: one child process, its pipe, its exit. */
import { spawn, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Duplex } from 'node:stream'
import { childCommand } from './child-command.ts'
import {
  type ChildMessage,
  encodeFrame,
  FrameReader,
  type HostMessage,
  ProtocolViolation,
  readChildMessage,
} from './wire.ts'

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Last words on its error output, bounded. */
  readonly stderr: string
}

/** Who is told what the child says. */
export interface ChildListener {
  onMessage(message: ChildMessage, payload: string | undefined): void
  /** The child broke the protocol; it is being killed. */
  onViolation(violation: Error): void
  onExit(exit: ChildExit): void
}

/** Options of one child. */
export interface SandboxChildOptions {
  readonly memoryMb: number
  /** Largest frame to the child, bytes. */
  readonly maxFrameBytesIn: number
  /** Largest frame from the child, bytes. */
  readonly maxFrameBytesOut: number
  readonly cpuSeconds: number
  readonly isWrapped: boolean
}

const MAX_STDERR_CHARACTERS = 4_096
/** Below the host's own, so that a busy program never starves it. */
const CHILD_PRIORITY = 10

/** One child process; whoever starts it ends it with `kill`. */
export class SandboxChild {
  readonly #process: ChildProcess
  readonly #pipe: Duplex
  readonly #reader: FrameReader
  #listener: ChildListener | undefined
  #stderr = ''
  #hasExited = false
  /** Resolves once the process is gone, however it ended. */
  readonly exited: Promise<ChildExit>

  constructor(options: SandboxChildOptions) {
    const { file, args } = childCommand({ ...options, maxFrameBytes: options.maxFrameBytesIn })
    this.#process = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env: {}, detached: false })
    this.#reader = new FrameReader(options.maxFrameBytesOut)
    // Descriptor 3 of a child spawned with 'pipe' is a duplex stream; the types say only "stream or null".
    this.#pipe = this.#process.stdio[3] as Duplex
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => this.#onExit({ code: null, signal: null, reason: error.message }, resolve))
      this.#process.once('exit', (code, signal) => this.#onExit({ code, signal }, resolve))
    })
    this.#pipe.on('data', (chunk: Buffer) => this.#onData(chunk))
    // A pipe that breaks shows as the exit of the child.
    this.#pipe.on('error', () => this.kill())
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_CHARACTERS)
    })
    this.#lowerPriority()
  }

  /** Process id; undefined when the process could not be started. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  /** Says who listens from now on; one at a time. */
  listen(listener: ChildListener | undefined): void {
    this.#listener = listener
  }

  /** Sends one message; `payload` is JSON text, spliced in as it is. */
  send(message: HostMessage, payload?: string): void {
    if (!this.#hasExited && this.#pipe.writable) this.#pipe.write(encodeFrame(message, payload))
  }

  /** Ends the process at once; `exited` tells when it is gone. */
  kill(): void {
    if (!this.#hasExited) this.#process.kill('SIGKILL')
  }

  /** Whether this child keeps the host's process alive. */
  hold(isHeld: boolean): void {
    const [process, pipe, stderr] = [this.#process, this.#pipe, this.#process.stderr]
    for (const handle of [process, pipe, stderr]) {
      // Sockets and processes both have ref and unref; the stream types do not say so.
      const counted = handle as { ref?(): void; unref?(): void } | null
      if (isHeld) counted?.ref?.()
      else counted?.unref?.()
    }
  }

  #onData(chunk: Buffer): void {
    try {
      for (const { header, payload } of this.#reader.push(chunk)) {
        this.#listener?.onMessage(readChildMessage(header), payload)
      }
    } catch (thrown) {
      this.kill()
      if (!(thrown instanceof ProtocolViolation)) throw thrown
      this.#listener?.onViolation(thrown)
    }
  }

  #onExit(
    exit: { code: number | null; signal: NodeJS.Signals | null; reason?: string },
    resolve: (exit: ChildExit) => void,
  ): void {
    if (this.#hasExited) return
    this.#hasExited = true
    this.#pipe.destroy()
    const { code, signal, reason = '' } = exit
    const ended = { code, signal, stderr: (this.#stderr + reason).trim() }
    this.#listener?.onExit(ended)
    resolve(ended)
  }

  #lowerPriority(): void {
    if (this.#process.pid === undefined) return
    try {
      setPriority(this.#process.pid, CHILD_PRIORITY)
    } catch {
      // Some systems forbid it; the watch holds at any priority.
    }
  }
}
