/** Bindings: the objects whose functions a program calls, and the promises that replies settle. */
import type { GuestLimits, GuestNamespace, GuestReply } from '../messages.ts'
import { type CallErrorClass, callFailure, type CallSite, makeCallErrorClass, noteCallSite } from './error.ts'
import type { Outbox } from './outbox.ts'
import { create, defineProperty, freeze, getOwnPropertyDescriptor, indexOf, NewPromise, slice } from './primordials.ts'
import { toJsonText, untag } from './value.ts'

/** One call in flight. */
interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly binding: Binding
  readonly site: CallSite
}

/** What a binding function needs to know about itself. */
interface Binding {
  readonly global: string
  readonly name: string
  readonly ErrorClass: CallErrorClass
  readonly memberNameProperty: string
}

type BindingFunction = (...args: readonly unknown[]) => Promise<unknown>

/** Keeps the calls of one run. */
export class Calls {
  readonly #outbox: Outbox
  readonly #limits: GuestLimits
  readonly #pending: Record<number, PendingCall> = create(null)
  #count = 0

  constructor(outbox: Outbox, limits: GuestLimits) {
    this.#outbox = outbox
    this.#limits = limits
  }

  /** Defines the namespace's global object and its error class. */
  install(target: object, namespace: GuestNamespace): void {
    const { name, memberNameProperty } = namespace.errorClass
    const ErrorClass = makeCallErrorClass(name)
    const root: object = create(null)
    for (let index = 0; index < namespace.names.length; index++) {
      const toolName = namespace.names[index]
      if (toolName === undefined) continue
      const binding = { global: namespace.global, name: toolName, ErrorClass, memberNameProperty }
      const call: BindingFunction = (...args) => this.#call(binding, { args, entry: call })
      define(root, toolName, call)
      place(root, toolName, call)
    }
    freeze(root)
    define(target, namespace.global, root)
    define(target, name, ErrorClass)
  }

  /** Settles calls in the order of the replies. */
  settle(replies: readonly GuestReply[]): void {
    for (let index = 0; index < replies.length; index++) {
      const reply = replies[index]
      const pending = reply === undefined ? undefined : this.#pending[reply.id]
      if (reply === undefined || pending === undefined) continue
      delete this.#pending[reply.id]
      if (reply.ok) pending.resolve(reply.tagged === true ? untag(reply.value) : reply.value)
      else pending.reject(failureOf(pending, reply.error))
    }
  }

  #call(binding: Binding, { args, entry }: { args: readonly unknown[]; entry: BindingFunction }): Promise<unknown> {
    const site = noteCallSite(entry)
    return new NewPromise((resolve, reject) => {
      const refusal = this.#send({ resolve, reject, binding, site }, args)
      if (refusal !== undefined) reject(failureOf({ binding, site }, refusal))
    })
  }

  #send(pending: PendingCall, args: readonly unknown[]): { message: string; code: string } | undefined {
    const { global, name } = pending.binding
    if (this.#outbox.isClosed) return { code: 'RUN_OVER', message: `the run is over; ${name} not dispatched` }
    if (args.length > 1) {
      return { code: 'INVALID_ARGS', message: `${name} takes one arguments object, ${args.length} arguments came` }
    }
    const written = toJsonText(args.length === 0 ? create(null) : args[0], this.#limits.maxMessageBytesOut)
    if (written.refusal !== undefined) return argumentRefusal(written.refusal)
    if (this.#count >= this.#limits.maxSubCalls) {
      const message = `the run's budget of ${this.#limits.maxSubCalls} calls is used up; ${name} not dispatched`
      return { code: 'SUB_CALL_BUDGET', message }
    }
    const id = ++this.#count
    this.#pending[id] = pending
    this.#outbox.call({ id, global, name, args: written.text })
    return undefined
  }
}

function argumentRefusal(refusal: { code: string; message: string }): { message: string; code: string } {
  if (refusal.code === 'TOO_LARGE') {
    return {
      code: 'MESSAGE_TOO_LARGE',
      message: `tool arguments are too large: ${refusal.message}; send less per call`,
    }
  }
  const hint = refusal.message === '$: undefined is not JSON; leave the property out or use null'
  return {
    code: refusal.code === 'TOO_DEEP' ? 'TOO_DEEP' : 'INVALID_ARGS',
    message: hint
      ? 'tool arguments must be lossless JSON (call the tool with an arguments object, e.g. `{}`)'
      : `tool arguments must be lossless JSON: ${refusal.message}`,
  }
}

function failureOf(
  pending: Pick<PendingCall, 'binding' | 'site'>,
  error: { readonly message: string; readonly code?: string; readonly retryable?: boolean },
): Error {
  const { ErrorClass, memberNameProperty, name } = pending.binding
  const { message, code, retryable } = error
  return callFailure({ ErrorClass, memberNameProperty, toolName: name, message, code, retryable, site: pending.site })
}

/** Puts `math.sum` at `math` → `sum`; a name that is both a tool and a prefix is a function with members. */
function place(root: object, toolName: string, call: BindingFunction): void {
  let owner = root
  let start = 0
  for (let dot = indexOf(toolName, '.'); dot !== -1; dot = indexOf(toolName, '.', start)) {
    owner = group(owner, slice(toolName, start, dot))
    start = dot + 1
  }
  define(owner, slice(toolName, start), call)
}

function group(owner: object, key: string): object {
  const slot = getOwnPropertyDescriptor(owner, key)
  const found: unknown = slot?.value
  // What we defined is enumerable; a function's own `name` and `length` are not.
  const isOurs = slot?.enumerable === true
  if (isOurs && ((typeof found === 'object' && found !== null) || typeof found === 'function')) return found
  const made: object = create(null)
  define(owner, key, made)
  return made
}

function define(owner: object, key: string, value: unknown): void {
  defineProperty(owner, key, { value, writable: true, enumerable: true, configurable: true })
}
