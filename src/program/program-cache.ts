import { createHash } from 'node:crypto'

/** What the cache may hold. */
export interface ProgramCacheLimits {
  readonly maxEntries: number
  /** Sum of the sizes given to `set`. */
  readonly maxBytes: number
}

/** Keeps the results of the most recently used sources; the key is the SHA-256 of the source. */
export class ProgramCache<Program> {
  readonly #limits: ProgramCacheLimits
  /** Least recently used first: a Map keeps the order of insertion. */
  readonly #entries = new Map<string, { readonly program: Program; readonly bytes: number }>()
  #bytes = 0

  constructor(limits: ProgramCacheLimits) {
    this.#limits = limits
  }

  /** Number of programs held. */
  get size(): number {
    return this.#entries.size
  }

  /** The program kept for this source, now the most recently used one. */
  get(source: string): Program | undefined {
    const key = keyOf(source)
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.program
  }

  /** Keeps a program; one that is larger than the whole cache is not kept. */
  set(source: string, program: Program, bytes: number): void {
    const key = keyOf(source)
    this.#drop(key)
    if (bytes > this.#limits.maxBytes) return
    this.#entries.set(key, { program, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.maxEntries && this.#bytes <= this.#limits.maxBytes) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}

function keyOf(source: string): string {
  return createHash('sha256').update(source, 'utf8').digest('base64')
}
