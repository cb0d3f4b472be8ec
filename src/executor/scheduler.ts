/**
 * The ordered lane of one run: calls start in submission order, safe bodies overlap, an
 * exclusive call runs alone until its commit, and commits keep submission order.
 */

/** One call as the lane drives it. */
export interface LaneCall {
  /** Whether its body may overlap with others; asked again at each attempt to start it. */
  mayOverlap(): boolean
  /** Everything before the body: the start record and the policies. */
  start(): Promise<void>
  /** The body. */
  dispatch(): Promise<void>
  /** Everything after the body; must not reject. */
  commit(): Promise<void>
  /** The lane was closed before this call started. */
  abandon(reason: string): void
}

/** A call that started and is not committed yet. */
interface Started {
  readonly call: LaneCall
  readonly isExclusive: boolean
  isDispatched: boolean
}

/** Calls that take no time by themselves still take the host's: after so many milliseconds others get their turn. */
const MAX_TURN_MS = 10

/** Drives the calls of one run. */
export class SubCallLane {
  readonly #maxParallel: number
  readonly #pending: LaneCall[] = []
  readonly #started: Started[] = []
  #running = 0
  #driving: Promise<void> | undefined
  #wake: () => void = () => undefined
  #turnStartedAt = 0

  /** @param maxParallel bodies that overlap at most, a positive whole number. */
  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel
  }

  /** Queues one call. */
  submit(call: LaneCall): void {
    this.#pending.push(call)
    this.#wake()
    this.#driving ??= this.#drive().finally(() => (this.#driving = undefined))
  }

  /** Abandons what has not started and resolves once everything that has is committed. */
  async close(reason: string): Promise<void> {
    for (const call of this.#pending.splice(0)) call.abandon(reason)
    this.#wake()
    await this.#driving
  }

  async #drive(): Promise<void> {
    // Calls that one batch of the program submitted are all queued before the first one starts.
    await Promise.resolve()
    this.#turnStartedAt = performance.now()
    while (this.#pending.length > 0 || this.#started.length > 0) {
      if (performance.now() - this.#turnStartedAt > MAX_TURN_MS) await this.#yieldTurn()
      const [head] = this.#started
      const [next] = this.#pending
      if (head?.isDispatched === true) {
        await head.call.commit()
        this.#started.shift()
      } else if (next !== undefined && this.#hasRoom()) {
        const isExclusive = !next.mayOverlap()
        if (isExclusive && this.#started.length > 0) await this.#sleep()
        else {
          this.#pending.shift()
          await this.#start(next, isExclusive)
        }
      } else await this.#sleep()
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }

  /** Jobs of promises alone would keep timers and input of the whole host waiting. */
  async #yieldTurn(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#turnStartedAt = performance.now()
  }

  #hasRoom(): boolean {
    return this.#running < this.#maxParallel && !this.#started.some(({ isExclusive }) => isExclusive)
  }

  async #start(call: LaneCall, isExclusive: boolean): Promise<void> {
    const started: Started = { call, isExclusive, isDispatched: false }
    this.#started.push(started)
    await call.start()
    this.#running++
    void call.dispatch().then(() => {
      this.#running--
      started.isDispatched = true
      this.#wake()
    })
  }
}
