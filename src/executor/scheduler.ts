/**
 * The ordered lane of one batch or one run: calls start in submission order, safe bodies overlap,
 * an exclusive call runs alone until its commit, and commits keep submission order. A call that
 * waits for a person leaves the lane: later safe calls may start meanwhile, exclusive ones may not.
 */

/** One call as the lane drives it; nothing of it may reject. */
export interface LaneCall {
  /** Whether its body may overlap with others; asked again at each attempt to start it. */
  mayOverlap(): boolean
  /** The start record and the listeners. */
  start(): Promise<void>
  /** The answer of the person that a listener wants asked; undefined when nobody is. Called after start. */
  approval(): Promise<void> | undefined
  /** The body. */
  dispatch(): Promise<void>
  /** Everything after the body. */
  commit(): Promise<void>
  /** The lane was stopped before this call started. */
  abandon(reason: string): void
}

/** A call that started and is not committed yet. */
interface Started {
  readonly call: LaneCall
  readonly isExclusive: boolean
  state: 'starting' | 'asking' | 'ready' | 'running' | 'settled'
}

/** Calls that take no time by themselves still take the host's: after so many milliseconds others get their turn. */
const MAX_TURN_MS = 10

/** Drives calls; one lane for each batch of a model and for each run. */
export class CallLane {
  readonly #maxParallel: number
  readonly #pending: LaneCall[] = []
  readonly #started: Started[] = []
  /** The exclusive call among those that started; there is at most one. */
  #barrier: Started | undefined
  #running = 0
  #asking = 0
  #ready = 0
  /** A call is being started or committed. */
  #isStepping = false
  #driving: Promise<void> | undefined
  #wake: () => void = () => undefined
  #turnStartedAt = 0

  /** @param maxParallel bodies that overlap at most, and approvals that are pending at most; a positive whole number. */
  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel
  }

  /** Whether people are asked and nothing else is going on. */
  get isParked(): boolean {
    return this.#asking > 0 && this.#running + this.#ready === 0 && !this.#isStepping
  }

  /** Queues one call. */
  submit(call: LaneCall): void {
    this.#pending.push(call)
    this.#wake()
    this.#driving ??= this.#drive().finally(() => (this.#driving = undefined))
  }

  /** Abandons what has not started. */
  stop(reason: string): void {
    for (const call of this.#pending.splice(0)) call.abandon(reason)
    this.#wake()
  }

  /** Resolves once everything that was submitted is committed or abandoned. */
  async settled(): Promise<void> {
    await this.#driving
  }

  async #drive(): Promise<void> {
    // Calls that were submitted at one time are all queued before the first one starts.
    await Promise.resolve()
    this.#turnStartedAt = performance.now()
    while (this.#pending.length > 0 || this.#started.length > 0) {
      if (performance.now() - this.#turnStartedAt > MAX_TURN_MS) await this.#yieldTurn()
      const step = this.#nextStep()
      // Nothing may come between finding no step and going to sleep, or its wake-up call would be lost.
      this.#isStepping = step !== undefined
      await (step === undefined ? this.#sleep() : step())
    }
  }

  #nextStep(): (() => Promise<void>) | undefined {
    const [head] = this.#started
    if (head?.state === 'settled') return () => this.#commit(head)
    const ready = this.#ready === 0 ? undefined : this.#answered()
    if (ready !== undefined) return async () => this.#run(ready)
    const [next] = this.#pending
    if (next === undefined || !this.#hasRoom()) return undefined
    const isExclusive = !next.mayOverlap()
    return isExclusive && this.#started.length > 0 ? undefined : () => this.#start(next, isExclusive)
  }

  /** A call whose approval is settled and which may run now. */
  #answered(): Started | undefined {
    return this.#started.find(
      (started) =>
        started.state === 'ready' &&
        (started.isExclusive ? this.#running === 0 : this.#running < this.#maxParallel && !this.#isBarred()),
    )
  }

  /** An exclusive call that waits for a person bars no one. */
  #isBarred(): boolean {
    return this.#barrier !== undefined && this.#barrier.state !== 'asking'
  }

  #hasRoom(): boolean {
    return this.#running < this.#maxParallel && this.#asking < this.#maxParallel && !this.#isBarred()
  }

  async #start(call: LaneCall, isExclusive: boolean): Promise<void> {
    this.#pending.shift()
    const started: Started = { call, isExclusive, state: 'starting' }
    this.#started.push(started)
    if (isExclusive) this.#barrier = started
    await call.start()
    const approval = call.approval()
    if (approval === undefined) {
      this.#run(started)
      return
    }
    started.state = 'asking'
    this.#asking++
    void approval.then(() => {
      this.#asking--
      this.#ready++
      started.state = 'ready'
      this.#wake()
    })
  }

  #run(started: Started): void {
    if (started.state === 'ready') this.#ready--
    started.state = 'running'
    this.#running++
    void started.call.dispatch().then(() => {
      this.#running--
      started.state = 'settled'
      this.#wake()
    })
  }

  async #commit(started: Started): Promise<void> {
    await started.call.commit()
    this.#started.shift()
    if (this.#barrier === started) this.#barrier = undefined
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }

  /** Jobs of promises alone would keep timers and input of the whole host waiting. */
  async #yieldTurn(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#turnStartedAt = performance.now()
  }
}
