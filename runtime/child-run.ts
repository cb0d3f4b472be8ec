/** One program inside the child: enters the isolate one message at a time and reports when it is idle. */
import type { GuestEntry, GuestIsolate } from './isolate.ts'
import type { ChildMessage } from './messages.ts'

/** Sends one message to the host; `payload` is JSON text. */
export type SendToHost = (message: ChildMessage, payload?: string) => void

/** One entry that waits for its turn. */
interface Entry {
  readonly name: GuestEntry
  readonly payload?: string
  /** Number of the host's message, for entries that the host asked for. */
  readonly seq?: number
}

/** A request of the guest to be woken begins with this; everything else that it posts are items. */
const WAKE = 'w'

/** Runs one program in its isolate. */
export class ChildRun {
  readonly #isolate: GuestIsolate
  readonly #run: number
  readonly #cpuMs: number
  readonly #send: SendToHost
  readonly #queue: Entry[] = []
  #timer: NodeJS.Timeout | undefined
  #seq = 0
  #isPumping = false
  #isOver = false

  /** @param options.cpuMs compute budget of the run in milliseconds. */
  constructor(options: { isolate: GuestIsolate; run: number; cpuMs: number; send: SendToHost }) {
    this.#isolate = options.isolate
    this.#run = options.run
    this.#cpuMs = options.cpuMs
    this.#send = options.send
    options.isolate.onPost = (text) => this.#onPost(text)
  }

  /** Queues an entry that the host asked for. */
  accept(entry: { readonly name: 'start' | 'deliver'; readonly payload: string; readonly seq: number }): void {
    this.#queue.push(entry)
    void this.#pump()
  }

  /** Ends the run: nothing enters any more, the isolate goes. */
  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#isolate.dispose()
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    for (let entry = this.#queue.shift(); entry !== undefined && !this.#isOver; entry = this.#queue.shift()) {
      await this.#enter(entry)
    }
    this.#isPumping = false
    if (this.#isOver) return
    this.#send({ type: 'idle', run: this.#run, seq: this.#seq, hasTimer: this.#timer !== undefined })
  }

  async #enter({ name, payload, seq }: Entry): Promise<void> {
    const remainingMs = this.#cpuMs - this.#isolate.activeMs
    const outcome =
      remainingMs < 1
        ? ({ kind: 'died', reason: 'cpu' } as const)
        : await this.#isolate.enter(name, payload, remainingMs)
    if (this.#isOver) return
    if (seq !== undefined) this.#seq = seq
    switch (outcome.kind) {
      case 'returned':
        return
      case 'unhandled':
        this.#send({ type: 'unhandled', run: this.#run, message: outcome.message })
        return
      case 'died':
        this.#send({ type: 'died', run: this.#run, reason: outcome.reason })
        this.end()
    }
  }

  #onPost(text: string): void {
    if (this.#isOver) return
    if (text.startsWith(WAKE)) this.#scheduleWake(Number(text.slice(WAKE.length)))
    else this.#send({ type: 'items', run: this.#run }, text)
  }

  #scheduleWake(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!(delayMs >= 0)) return
    this.#timer = setTimeout(() => this.#wake(), Math.ceil(delayMs))
  }

  #wake(): void {
    this.#timer = undefined
    if (!this.#isPumping) this.#send({ type: 'active', run: this.#run })
    this.#queue.push({ name: 'wake' })
    void this.#pump()
  }
}
