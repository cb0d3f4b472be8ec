/** The one way out of the isolate: items leave in order, as one text per tick, metered. */
import type { GuestFailure, GuestLimits } from '../messages.ts'
import { later } from './jobs.ts'
import { floor, slice, stringify } from './primordials.ts'
import { utf8Length } from './value.ts'

/** Console lines of one entry that leave at once, so that a program killed in a loop still shows them. */
const EAGER_LINES = 64
/** A batch of this many characters leaves without waiting for the end of the tick. */
const FULL_BATCH = 65_536
/** JSON of an empty list of console lines. */
const BRACKETS = 2
/** A character takes at most six bytes of JSON: `\u0000`. */
const MAX_BYTES_PER_CHARACTER = 6

/** Collects what the program sends and keeps its output budget. */
export class Outbox {
  readonly #post: (text: string) => void
  readonly #limits: GuestLimits
  #batch = ''
  #isFlushing = false
  #eagerLines = 0
  #outputBytes = BRACKETS
  #lines = 0
  #isClosed = false

  /** @param post sends one text across; the only reference to the host that exists in here. */
  constructor(post: (text: string) => void, limits: GuestLimits) {
    this.#post = post
    this.#limits = limits
  }

  /** True once the program ended; nothing more leaves. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Begins one entry into the isolate. */
  enter(): void {
    this.#eagerLines = 0
  }

  /** Sends one call; `args` is JSON text. */
  call(call: { readonly id: number; readonly global: string; readonly name: string; readonly args: string }): void {
    const { id, global, name, args } = call
    this.#add(`{"type":"call","id":${id},"global":${stringify(global)},"name":${stringify(name)},"args":${args}}`)
  }

  /** Sends one console line, or ends the run when it does not fit the output budget. */
  log(level: string, text: string): void {
    if (this.#isClosed) return
    if (this.#lines >= this.#limits.maxConsoleLines) {
      this.fail({ kind: 'output-limit', message: `more than ${this.#limits.maxConsoleLines} console lines` })
      return
    }
    const separator = this.#outputBytes === BRACKETS ? 0 : 1
    const room = this.#limits.maxOutputBytes - this.#outputBytes - separator
    const json = text.length > room ? undefined : stringify(text)
    const bytes = json === undefined ? room + 1 : utf8Length(json)
    if (json === undefined || bytes > room) {
      this.#overflow(level, text, room)
      return
    }
    this.#outputBytes += separator + bytes
    this.#lines++
    this.#addLog(level, json)
  }

  /** Ends the run with a value as JSON text, or with nothing. */
  done(value: string | undefined): void {
    if (this.#isClosed) return
    if (value !== undefined && this.#outputBytes + utf8Length(value) > this.#limits.maxOutputBytes) {
      this.fail({ kind: 'output-limit', message: overflowMessage(this.#limits.maxOutputBytes) })
      return
    }
    this.#close(value === undefined ? '{"type":"done"}' : `{"type":"done","value":${value}}`)
  }

  /** Ends the run with a failure. */
  fail(failure: GuestFailure): void {
    if (!this.#isClosed) this.#close(`{"type":"failed","failure":${failureText(failure)}}`)
  }

  /** Hands the child a request that is not an item, such as a wake-up. */
  control(text: string): void {
    this.#post(text)
  }

  #addLog(level: string, json: string): void {
    this.#add(`{"type":"log","level":${stringify(level)},"text":${json}}`)
    if (this.#eagerLines++ < EAGER_LINES) this.#flush()
  }

  /** Keeps what still fits of the line that broke the budget. */
  #overflow(level: string, text: string, room: number): void {
    const message = overflowMessage(this.#limits.maxOutputBytes)
    const characters = floor((room - message.length - BRACKETS * 2) / MAX_BYTES_PER_CHARACTER)
    if (characters > 0) this.#addLog(level, stringify(slice(text, 0, characters)))
    this.fail({ kind: 'output-limit', message })
  }

  #close(item: string): void {
    this.#add(item)
    this.#flush()
    this.#isClosed = true
  }

  #add(item: string): void {
    this.#batch += this.#batch === '' ? item : `,${item}`
    if (this.#batch.length > FULL_BATCH) this.#flush()
    else this.#flushLater()
  }

  #flushLater(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    later(() => {
      this.#isFlushing = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#batch === '' || this.#isClosed) return
    const batch = this.#batch
    this.#batch = ''
    this.#post(`[${batch}]`)
  }
}

function overflowMessage(maxOutputBytes: number): string {
  return `outer output exceeded ${maxOutputBytes} bytes`
}

/** Written field by field: a failure must not pass through a patched `toJSON`. */
function failureText(failure: GuestFailure): string {
  let text = `{"kind":${stringify(failure.kind)},"message":${stringify(failure.message)}`
  if (failure.kind === 'exception') {
    text += `,"name":${stringify(failure.name)}`
    if (failure.stack !== undefined) text += `,"stack":${stringify(failure.stack)}`
    if (failure.code !== undefined) text += `,"code":${stringify(failure.code)}`
    if (failure.toolName !== undefined) text += `,"toolName":${stringify(failure.toolName)}`
  }
  return `${text}}`
}
