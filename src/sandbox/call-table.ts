/** Calls of one run as they come off the wire: known names, strictly sequential ids, replies in batches. */
import { HarnessError, messageOf } from '../errors.ts'
import type { JsonValue } from '../json/value.ts'
import type { PtcFunction, PtcNamespace } from './ptc-runtime.ts'
import { replyText } from './reply-text.ts'
import { type GuestItem, ProtocolViolation } from './wire.ts'

/** Options of a table. */
export interface CallTableOptions {
  readonly namespaces: readonly PtcNamespace[]
  /** Largest value into the program, bytes of JSON. */
  readonly maxMessageBytes: number
  /** Takes the JSON text of a batch of replies. */
  readonly sendReplies: (payload: string) => void
}

type GuestCall = Extract<GuestItem, { type: 'call' }>

/** Dispatches calls to the functions of a run's namespaces. */
export class CallTable {
  readonly #options: CallTableOptions
  readonly #functions: ReadonlyMap<string, ReadonlyMap<string, PtcFunction>>
  #lastId = 0
  #inFlight = 0
  #replies: string[] = []
  #isClosed = false

  constructor(options: CallTableOptions) {
    this.#options = options
    this.#functions = new Map(options.namespaces.map(({ global, functions }) => [global, functions]))
  }

  /** Calls without a reply that was sent. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Starts one call. @throws ProtocolViolation for an id out of order or a name that was not declared. */
  dispatch(call: GuestCall): void {
    if (call.id !== this.#lastId + 1) {
      throw new ProtocolViolation(`call ${this.#lastId + 1} was expected, call ${call.id} came`)
    }
    const callee = this.#functions.get(call.global)?.get(call.name)
    if (callee === undefined)
      throw new ProtocolViolation(`a call of a declared name was expected, "${call.name.slice(0, 200)}" came`)
    this.#lastId = call.id
    this.#inFlight++
    void this.#call(call, callee).then((reply) => this.#reply(reply))
  }

  /** Drops every reply from now on. */
  close(): void {
    this.#isClosed = true
  }

  async #call(call: GuestCall, callee: PtcFunction): Promise<string> {
    try {
      // The frame was parsed by parseJson, which makes nothing but JSON values.
      return this.#success(call.id, await callee(call.args as JsonValue))
    } catch (failure) {
      return failureReply(call.id, failure)
    }
  }

  #success(id: number, value: JsonValue): string {
    const { text, isTagged } = replyText(value)
    const { maxMessageBytes } = this.#options
    const isSurelySmall = text.length * 3 <= maxMessageBytes
    if (!isSurelySmall && Buffer.byteLength(text) > maxMessageBytes) {
      const message = `the tool's value has more than ${maxMessageBytes} bytes of JSON; ask the tool for less at once`
      return failureReply(id, new HarnessError(message, 'MESSAGE_TOO_LARGE'))
    }
    return `{"id":${id},"ok":true,${isTagged ? '"tagged":true,' : ''}"value":${text}}`
  }

  #reply(reply: string): void {
    if (this.#isClosed) return
    this.#replies.push(reply)
    if (this.#replies.length === 1) process.nextTick(() => this.#flush())
  }

  #flush(): void {
    const replies = this.#replies
    this.#replies = []
    this.#inFlight -= replies.length
    if (!this.#isClosed) this.#options.sendReplies(`[${replies.join(',')}]`)
  }
}

/** A longer message of a tool is cut: it is read by a model, not by a program. */
const MAX_MESSAGE_CHARACTERS = 65_536

function failureReply(id: number, failure: unknown): string {
  const whole = messageOf(failure)
  const rest = whole.length - MAX_MESSAGE_CHARACTERS
  const message = rest > 0 ? `${whole.slice(0, MAX_MESSAGE_CHARACTERS)}… (${rest} characters left out)` : whole
  const code = failure instanceof HarnessError ? failure.code : undefined
  const isRetryable =
    failure instanceof HarnessError && 'retryable' in failure && typeof failure.retryable === 'boolean'
      ? failure.retryable
      : undefined
  return JSON.stringify({ id, ok: false, error: { message, code, retryable: isRetryable } })
}
