/** Counts what a run puts out, exactly, in bytes of JSON: the list of console lines plus value or diagnostic. */

/** Lines that one run may print: a line costs the host more than the few bytes that it may have. */
export const MAX_CONSOLE_LINES = 50_000

/** JSON of an empty list. */
const BRACKETS = 2

/** The output budget of one run; the host's own count, whatever the guest counted. */
export class OutputLedger {
  readonly #maxBytes: number
  #used = BRACKETS
  #lines = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Counts one console line; false when it does not fit. */
  addLine(text: string): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(text)) + (this.#lines === 0 ? 0 : 1)
    if (this.#lines >= MAX_CONSOLE_LINES || !this.fits(bytes)) return false
    this.#used += bytes
    this.#lines++
    return true
  }

  /** Whether so many more bytes fit; exactly at the limit does. */
  fits(bytes: number): boolean {
    return this.#used + bytes <= this.#maxBytes
  }
}

/** What a run over its output budget says. */
export function outputLimitMessage(maxBytes: number): string {
  return `outer output exceeded ${maxBytes} bytes`
}
