/** Children, kept warm and handed out: one program per child at a time, one owner per child for good. */
import { PtcUsageError, SandboxUnavailableError } from '../errors.ts'
import { hasWrappers } from './child-command.ts'
import { type ChildExit, SandboxChild, type SandboxChildOptions } from './child-process.ts'

/** Options of a pool. */
export interface ChildPoolOptions {
  /** How each child is started. */
  readonly child: Omit<SandboxChildOptions, 'isWrapped'>
  /** Children alive at once. */
  readonly maxChildren: number
  /** Runs that may wait for a child. */
  readonly maxQueue: number
  /** A child that is not ready after so many milliseconds is given up. */
  readonly bootMs: number
}

/** A child lent to one run; exactly one of `release` and `discard` ends the loan. */
export interface ChildLease {
  readonly child: SandboxChild
  /** Number of the run on this child. */
  readonly run: number
  /** Gives a healthy child back; it is ended instead when it does not free the run in time. */
  release(): void
  /** Kills the child and resolves once it is gone. */
  discard(): Promise<ChildExit>
}

/** One child and what it is doing. */
interface Member {
  readonly child: SandboxChild
  /** Undefined until the first run; never changes after. */
  owner: string | undefined
  runs: number
  idleSince: number
  idleTimer: NodeJS.Timeout | undefined
}

/** One run that waits for a child. */
interface Waiter {
  readonly owner: string
  readonly take: (member: Member) => void
  readonly fail: (error: Error) => void
}

/** A child that served so many runs is replaced, so that nothing can pile up in it. */
const MAX_RUNS = 100
/** An idle child goes after this long, milliseconds. */
const IDLE_MS = 60_000
/** A finished run must be freed within this time, milliseconds. */
const RELEASE_MS = 1_000

/** Owns every child process of one runtime. */
export class ChildPool {
  readonly #options: ChildPoolOptions
  readonly #members = new Set<Member>()
  readonly #idle = new Set<Member>()
  readonly #waiters: Waiter[] = []
  readonly #leaving = new Set<Promise<unknown>>()
  #isWrapped = hasWrappers()
  #starting = 0
  #isDisposed = false

  constructor(options: ChildPoolOptions) {
    this.#options = options
  }

  /**
   * Lends a child to a run of this owner, waiting in line at the cap.
   * @throws SandboxUnavailableError when none can start or the line is full; the signal's reason when aborted.
   */
  async acquire(owner: string, signal: AbortSignal): Promise<ChildLease> {
    if (this.#isDisposed) throw new PtcUsageError('run after close: create a new instance with createPtc')
    signal.throwIfAborted()
    const member = this.#takeIdle(owner) ?? (await this.#startOrWait(owner, signal))
    if (signal.aborted || this.#isDisposed) {
      this.#giveBack(member)
      signal.throwIfAborted()
      throw new PtcUsageError('the instance was closed while the run waited for a child')
    }
    return this.#lend(member, owner)
  }

  /** Kills every child and resolves once all of them are gone. */
  async dispose(): Promise<void> {
    this.#isDisposed = true
    for (const waiter of this.#waiters.splice(0)) waiter.fail(new PtcUsageError('the instance was closed'))
    for (const member of [...this.#members]) void this.#end(member)
    while (this.#leaving.size > 0) await Promise.all(this.#leaving)
  }

  #takeIdle(owner: string): Member | undefined {
    const candidates = [...this.#idle].filter((member) => !member.child.hasExited)
    const found =
      candidates.find((member) => member.owner === owner) ?? candidates.find((member) => member.owner === undefined)
    if (found !== undefined) this.#unidle(found)
    return found
  }

  async #startOrWait(owner: string, signal: AbortSignal): Promise<Member> {
    if (this.#members.size + this.#starting >= this.#options.maxChildren) await this.#evictOne()
    if (this.#members.size + this.#starting < this.#options.maxChildren) return this.#start()
    return this.#wait(owner, signal)
  }

  /** Ends the child that was idle longest, to make room for another owner. */
  async #evictOne(): Promise<void> {
    const [oldest] = [...this.#idle].sort((left, right) => left.idleSince - right.idleSince)
    if (oldest !== undefined) await this.#end(oldest)
  }

  #wait(owner: string, signal: AbortSignal): Promise<Member> {
    if (this.#waiters.length >= this.#options.maxQueue) {
      const message = `${this.#options.maxChildren} programs run and ${this.#options.maxQueue} wait; try again later or raise the limits`
      throw new SandboxUnavailableError(message, 'QUEUE_FULL')
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const index = this.#waiters.indexOf(waiter)
        if (index !== -1) this.#waiters.splice(index, 1)
        reject(signal.reason)
      }
      const settle = <Value>(finish: (value: Value) => void): ((value: Value) => void) => {
        return (value) => {
          signal.removeEventListener('abort', leave)
          finish(value)
        }
      }
      const waiter: Waiter = { owner, take: settle(resolve), fail: settle(reject) }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiters.push(waiter)
    })
  }

  async #start(): Promise<Member> {
    this.#starting++
    try {
      return await this.#boot()
    } catch (failure) {
      if (!this.#isWrapped || this.#isDisposed) throw failure
      // A system may have these programs without the options used here; the rest of the wall stands without them.
      this.#isWrapped = false
      return await this.#boot()
    } finally {
      this.#starting--
    }
  }

  async #boot(): Promise<Member> {
    const child = new SandboxChild({ ...this.#options.child, isWrapped: this.#isWrapped })
    const failure = await whenReady(child, this.#options.bootMs)
    if (failure !== undefined || this.#isDisposed) {
      child.kill()
      void this.#leave(child.exited)
      const exit = await child.exited
      const cause = exit.stderr === '' ? undefined : exit.stderr
      throw new SandboxUnavailableError(
        `the sandbox cannot start: ${failure ?? 'the instance was closed'}${cause === undefined ? '' : `; its last words: ${cause}`}`,
      )
    }
    const member: Member = { child, owner: undefined, runs: 0, idleSince: 0, idleTimer: undefined }
    this.#members.add(member)
    void child.exited.then(() => this.#forget(member))
    return member
  }

  #lend(member: Member, owner: string): ChildLease {
    member.owner = owner
    const run = ++member.runs
    member.child.hold(true)
    return {
      child: member.child,
      run,
      release: () => this.#whenReleased(member, run),
      discard: async () => {
        member.child.listen(undefined)
        await this.#end(member)
        return member.child.exited
      },
    }
  }

  #whenReleased(member: Member, run: number): void {
    const { child } = member
    const end = (): void => void this.#end(member)
    const deadline = setTimeout(end, RELEASE_MS)
    child.listen({
      onMessage: (message) => {
        if (message.type !== 'released' || message.run !== run) return
        clearTimeout(deadline)
        child.listen(undefined)
        if (member.runs >= MAX_RUNS) end()
        else this.#giveBack(member)
      },
      onViolation: end,
      onExit: () => clearTimeout(deadline),
    })
    child.send({ type: 'end', run, seq: 0 })
  }

  /** Hands a free child to the first waiter it may serve, or keeps it warm. */
  #giveBack(member: Member): void {
    if (this.#isDisposed || member.child.hasExited) {
      void this.#end(member)
      return
    }
    const index = this.#waiters.findIndex((waiter) => member.owner === undefined || waiter.owner === member.owner)
    const [waiter] = index === -1 ? [] : this.#waiters.splice(index, 1)
    if (waiter !== undefined) {
      waiter.take(member)
      return
    }
    if (this.#waiters.length > 0) {
      // Another owner waits: this child may not serve it, but its place may.
      void this.#end(member)
      return
    }
    this.#keepWarm(member)
  }

  #keepWarm(member: Member): void {
    member.idleSince = performance.now()
    member.idleTimer = setTimeout(() => void this.#end(member), IDLE_MS)
    member.idleTimer.unref()
    member.child.hold(false)
    this.#idle.add(member)
  }

  #unidle(member: Member): void {
    clearTimeout(member.idleTimer)
    this.#idle.delete(member)
  }

  #end(member: Member): Promise<unknown> {
    this.#unidle(member)
    member.child.hold(true)
    member.child.kill()
    return this.#leave(member.child.exited)
  }

  /** Keeps count of children that are on their way out, so that `dispose` can wait for them. */
  #leave(exited: Promise<unknown>): Promise<unknown> {
    const left = exited.finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
    return left
  }

  #forget(member: Member): void {
    this.#unidle(member)
    this.#members.delete(member)
    if (this.#isDisposed) return
    const waiter = this.#waiters.shift()
    if (waiter !== undefined) this.#start().then(waiter.take, waiter.fail)
  }
}

/** Resolves with why the child is not ready, or with nothing once it is. */
function whenReady(child: SandboxChild, bootMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (failure: string | undefined): void => {
      clearTimeout(deadline)
      child.listen(undefined)
      resolve(failure)
    }
    const deadline = setTimeout(() => settle(`its process was not ready after ${bootMs} ms`), bootMs)
    child.listen({
      onMessage: (message) => settle(message.type === 'ready' ? undefined : 'its process spoke before it was ready'),
      onViolation: (violation) => settle(violation.message),
      onExit: ({ code, signal }) => settle(`its process ended with ${signal ?? `code ${code}`} before it was ready`),
    })
  })
}
