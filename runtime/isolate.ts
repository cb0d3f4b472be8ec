/** The only file that loads isolated-vm: one isolate with the guest evaluated in it. */
import { createRequire } from 'node:module'
import type ivm from 'isolated-vm'

/** Entries of the guest, see guest/main.ts. */
export type GuestEntry = 'start' | 'deliver' | 'wake'

/** How one entry into an isolate ended. */
export type EntryOutcome =
  | { readonly kind: 'returned' }
  /** The program left a rejected promise behind; the entry itself did its work. */
  | { readonly kind: 'unhandled'; readonly message: string }
  | { readonly kind: 'died'; readonly reason: 'memory' | 'cpu' }

/** Options of one isolate. */
export interface GuestIsolateOptions {
  /** Text of the bundled guest. */
  readonly guestSource: string
  /** Heap of the isolate in MiB, at least 8. */
  readonly memoryMb: number
  /** Called when V8 gives the isolate up; the process must end soon after. */
  readonly onCatastrophe: () => void
}

/** Path of isolated-vm's native part; the host names it, since only the host may search for it. */
const [, , nativePath = ''] = process.argv
const native: { readonly ivm: typeof ivm } = createRequire(import.meta.url)(nativePath)

type EntryTable = ReadonlyMap<GuestEntry, ivm.Reference<(payload?: string) => void>>

const MAX_MESSAGE = 500
/** An entry that ends this close to its timeout (ms) ended by it. */
const TIMEOUT_TOLERANCE_MS = 5
const NANOSECONDS_PER_MS = 1_000_000n

/** One fresh isolate; used for one program, then disposed. */
export class GuestIsolate {
  readonly #isolate: ivm.Isolate
  readonly #entries: EntryTable
  readonly #bornAtWallMs: number
  /** Receives each text that the guest posts. */
  onPost: (text: string) => void

  private constructor(isolate: ivm.Isolate, entries: EntryTable, post: { deliver: (text: string) => void }) {
    this.#isolate = isolate
    this.#entries = entries
    this.#bornAtWallMs = wallMsOf(isolate)
    this.onPost = () => undefined
    post.deliver = (text) => this.onPost(text)
  }

  /** Makes an isolate and evaluates the guest in it. */
  static async create({ guestSource, memoryMb, onCatastrophe }: GuestIsolateOptions): Promise<GuestIsolate> {
    const isolate = new native.ivm.Isolate({ memoryLimit: memoryMb, onCatastrophicError: onCatastrophe })
    const context = await isolate.createContext()
    // Inside a function, so that nothing of the guest becomes a global of the program.
    const boot: ivm.Reference = await context.eval(`(() => { "use strict"; ${guestSource}\nreturn guest.boot })()`, {
      reference: true,
    })
    const post = { deliver: (_text: string): void => undefined }
    const callback = new native.ivm.Callback(
      (text: unknown) => {
        if (typeof text === 'string') post.deliver(text)
      },
      { ignored: true },
    )
    const table: ivm.Reference = await boot.apply(undefined, [callback], { result: { reference: true } })
    const entries = new Map<GuestEntry, ivm.Reference<(payload?: string) => void>>()
    for (const name of ['start', 'deliver', 'wake'] as const) {
      entries.set(name, await table.get(name, { reference: true }))
    }
    return new GuestIsolate(isolate, entries, post)
  }

  /** Milliseconds that the program has run in here. */
  get activeMs(): number {
    return wallMsOf(this.#isolate) - this.#bornAtWallMs
  }

  /** Runs one entry under a timeout in milliseconds; never rejects. */
  async enter(entry: GuestEntry, payload: string | undefined, timeoutMs: number): Promise<EntryOutcome> {
    const reference = this.#entries.get(entry)
    const started = this.activeMs
    try {
      await reference?.apply(undefined, payload === undefined ? [] : [payload], { timeout: Math.ceil(timeoutMs) })
      return { kind: 'returned' }
    } catch (thrown) {
      if (this.#isolate.isDisposed) return { kind: 'died', reason: 'memory' }
      if (this.activeMs - started >= timeoutMs - TIMEOUT_TOLERANCE_MS) return { kind: 'died', reason: 'cpu' }
      return { kind: 'unhandled', message: messageOf(thrown) }
    }
  }

  /** Ends the isolate, running or not. */
  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
  }
}

function wallMsOf(isolate: ivm.Isolate): number {
  return isolate.isDisposed ? 0 : Number(isolate.wallTime / NANOSECONDS_PER_MS)
}

/** isolated-vm rejects with copies: errors, plain texts, or null. */
function messageOf(thrown: unknown): string {
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  return message.slice(0, MAX_MESSAGE)
}
