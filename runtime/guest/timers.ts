/** setTimeout and setInterval: kept here, woken by one request at a time to the child. */
import { apply, create, defineProperty, isFiniteNumber, NewTypeError, now, NumberOf, StringOf } from './primordials.ts'

/** The longest delay that timers know, as everywhere: 2^31 - 1 ms. */
const MAX_DELAY_MS = 2_147_483_647

/** One timer; a linked list sorted by `due`, so that no patched array method is on the way. */
interface Timer {
  readonly id: number
  readonly callback: (...args: readonly unknown[]) => unknown
  readonly args: readonly unknown[]
  /** Undefined for a timer that runs once. */
  readonly intervalMs: number | undefined
  due: number
  previous: Timer | undefined
  next: Timer | undefined
}

/** Timers of one run. */
export class Timers {
  readonly #requestWake: (delayMs: number) => void
  readonly #byId: Record<number, Timer> = create(null)
  #first: Timer | undefined
  #last: Timer | undefined
  #count = 0

  /** @param requestWake asks for one `runDue` after so many milliseconds; a negative delay takes the request back. */
  constructor(requestWake: (delayMs: number) => void) {
    this.#requestWake = requestWake
  }

  /** Defines the timer functions on the program's global object. */
  install(target: object): void {
    const clear = (id: unknown): void => this.#clear(id)
    define(target, 'setTimeout', (callback: unknown, delay: unknown, ...args: readonly unknown[]) =>
      this.#set(callback, { delay, args, repeats: false }),
    )
    define(target, 'setInterval', (callback: unknown, delay: unknown, ...args: readonly unknown[]) =>
      this.#set(callback, { delay, args, repeats: true }),
    )
    define(target, 'clearTimeout', clear)
    define(target, 'clearInterval', clear)
  }

  /** Runs the first timer that is due; one per entry, so that microtasks run in between. */
  runDue(): void {
    const timer = this.#first
    if (timer === undefined) return
    if (timer.due > now()) {
      this.#wake()
      return
    }
    this.#remove(timer)
    if (timer.intervalMs === undefined) delete this.#byId[timer.id]
    else {
      timer.due = now() + timer.intervalMs
      this.#insert(timer)
    }
    this.#wake()
    apply(timer.callback, undefined, timer.args)
  }

  #set(callback: unknown, options: { delay: unknown; args: readonly unknown[]; repeats: boolean }): number {
    if (typeof callback !== 'function') {
      throw new NewTypeError(
        `a timer callback must be a function, ${callback === null ? 'null' : typeof callback} came`,
      )
    }
    const delayMs = delayOf(options.delay)
    const timer: Timer = {
      id: ++this.#count,
      callback: callback as Timer['callback'], // typeof says function; its arguments are the program's affair
      args: options.args,
      intervalMs: options.repeats ? delayMs : undefined,
      due: now() + delayMs,
      previous: undefined,
      next: undefined,
    }
    this.#byId[timer.id] = timer
    this.#insert(timer)
    if (this.#first === timer) this.#wake()
    return timer.id
  }

  #clear(id: unknown): void {
    const timer = typeof id === 'number' ? this.#byId[id] : undefined
    if (timer === undefined) return
    const wasFirst = this.#first === timer
    delete this.#byId[timer.id]
    this.#remove(timer)
    if (wasFirst) this.#wake()
  }

  #wake(): void {
    if (this.#first === undefined) this.#requestWake(-1)
    else {
      const delayMs = this.#first.due - now()
      this.#requestWake(delayMs > 0 ? delayMs : 0)
    }
  }

  #insert(timer: Timer): void {
    let before = this.#last
    while (before !== undefined && before.due > timer.due) before = before.previous
    timer.previous = before
    timer.next = before === undefined ? this.#first : before.next
    if (before === undefined) this.#first = timer
    else before.next = timer
    if (timer.next === undefined) this.#last = timer
    else timer.next.previous = timer
  }

  #remove(timer: Timer): void {
    // A timer that is not linked has no neighbours and is not the first either.
    if (timer.previous === undefined && this.#first !== timer) return
    if (timer.previous === undefined) this.#first = timer.next
    else timer.previous.next = timer.next
    if (timer.next === undefined) this.#last = timer.previous
    else timer.next.previous = timer.previous
    timer.previous = undefined
    timer.next = undefined
  }
}

function delayOf(delay: unknown): number {
  const number = typeof delay === 'bigint' ? NumberOf(StringOf(delay)) : NumberOf(delay)
  return isFiniteNumber(number) && number >= 1 && number <= MAX_DELAY_MS ? number : 1
}

function define(target: object, key: string, value: unknown): void {
  defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true })
}
