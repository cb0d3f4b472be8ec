/** Children, kept warm and handed out: one program per child at a time, one owner per child for good. */
import { availableParallelism } from 'node:os'
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
/** Children that boot at once: more would only miss their boot deadline together. */
const MAX_BOOTS = Math.max(2, availableParallelism())

/** Owns every child process of one runtime. */
export class ChildPool {
  readonly #options: ChildPoolOptions
  readonly #members = new Set<Member>()
  readonly #idle = new Set<Member>()
  /** Children whose run has ended and that are freeing it. */
  readonly #returning = new Set<Member>()
  readonly #waiters = new Set<Waiter>()
  /** Every child that is not gone yet, booting ones included. */
  readonly #children = new Set<SandboxChild>()
  #isWrapped = hasWrappers()
  #booting = 0
  #isDisposed = false

  constructor(options: ChildPoolOptions) {
    this.#options = options
  }

  /**
   * Lends a child to a run of this owner, waiting in line for one to be free or to start.
   * @throws SandboxUnavailableError when none can start or the line is full; the signal's reason when aborted.
   */
  async acquire(owner: string, signal: AbortSignal): Promise<ChildLease> {
    if (this.#isDisposed) throw closedError()
    signal.throwIfAborted()
    const member = this.#takeIdle(owner) ?? (await this.#wait(owner, signal))
    if (signal.aborted || this.#isDisposed) {
      this.#giveBack(member)
      signal.throwIfAborted()
      throw closedError()
    }
    return this.#lend(member, owner)
  }

  /** Kills every child and resolves once all of them are gone. */
  async dispose(): Promise<void> {
    this.#isDisposed = true
    for (const waiter of this.#waiters) waiter.fail(closedError())
    for (const { idleTimer } of this.#members) clearTimeout(idleTimer)
    for (const child of this.#children) {
      child.hold(true)
      child.kill()
    }
    while (this.#children.size > 0) await Promise.all([...this.#children].map(({ exited }) => exited))
  }

  #takeIdle(owner: string): Member | undefined {
    const candidates = [...this.#idle].filter(({ child }) => !child.hasExited)
    const found =
      candidates.find((member) => member.owner === owner) ?? candidates.find((member) => member.owner === undefined)
    if (found !== undefined) this.#unidle(found)
    return found
  }

  #wait(owner: string, signal: AbortSignal): Promise<Member> {
    if (this.#waiters.size >= this.#options.maxQueue) {
      const message = `${this.#options.maxChildren} programs run and ${this.#options.maxQueue} wait; try again later or raise the limits`
      throw new SandboxUnavailableError(message, 'QUEUE_FULL')
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => settle(() => reject(signal.reason))
      const settle = (finish: () => void): void => {
        this.#waiters.delete(waiter)
        signal.removeEventListener('abort', leave)
        finish()
      }
      const waiter: Waiter = {
        owner,
        take: (member) => settle(() => resolve(member)),
        fail: (error) => settle(() => reject(error)),
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiters.add(waiter)
      this.#grow()
    })
  }

  /** Starts the children that waiters need, a few at a time, and makes room for them where all places are taken. */
  #grow(): void {
    if (this.#isDisposed) return
    const owners = new Set([...this.#waiters].map(({ owner }) => owner))
    // Freeing a run takes milliseconds, starting a child a hundred times as long.
    const returning = [...this.#returning].filter(({ owner }) => owner !== undefined && owners.has(owner)).length
    for (let wanted = this.#waiters.size - this.#booting - returning; wanted > 0; wanted--) {
      if (this.#booting >= MAX_BOOTS) return
      if (this.#members.size + this.#booting >= this.#options.maxChildren) {
        this.#evictOne()
        return
      }
      this.#booting++
      this.#boot().then(
        (member) => this.#settleBoot(() => this.#giveBack(member)),
        (failure: Error) => this.#settleBoot(() => [...this.#waiters][0]?.fail(failure)),
      )
    }
  }

  #settleBoot(settle: () => void): void {
    this.#booting--
    settle()
    this.#grow()
  }

  /** Ends the child that was idle longest; once it is gone, its place is free. */
  #evictOne(): void {
    const [oldest] = [...this.#idle].sort((left, right) => left.idleSince - right.idleSince)
    if (oldest !== undefined) void this.#end(oldest)
  }

  async #boot(): Promise<Member> {
    try {
      return await this.#start()
    } catch (failure) {
      if (!this.#isWrapped || this.#isDisposed) throw failure
      // A system may have these programs without the options used here; the rest of the wall stands without them.
      this.#isWrapped = false
      return this.#start()
    }
  }

  async #start(): Promise<Member> {
    const child = new SandboxChild({ ...this.#options.child, isWrapped: this.#isWrapped })
    this.#children.add(child)
    void child.exited.then(() => this.#children.delete(child))
    const failure = this.#isDisposed ? 'the instance was closed' : await whenReady(child, this.#options.bootMs)
    if (failure !== undefined || this.#isDisposed) {
      child.kill()
      const { stderr } = await child.exited
      const message = `the sandbox cannot start: ${failure ?? 'the instance was closed'}`
      throw new SandboxUnavailableError(message, undefined, stderr === '' ? {} : { cause: stderr })
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
    this.#returning.add(member)
    child.listen({
      onMessage: (message) => {
        if (message.type !== 'released' || message.run !== run) return
        clearTimeout(deadline)
        child.listen(undefined)
        this.#returning.delete(member)
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
    const { owner, child } = member
    const waiter = [...this.#waiters].find((candidate) => owner === undefined || candidate.owner === owner)
    if (this.#isDisposed || child.hasExited) void this.#end(member)
    else if (waiter !== undefined) waiter.take(member)
    else this.#keepWarm(member)
    this.#grow()
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
    return member.child.exited
  }

  #forget(member: Member): void {
    this.#unidle(member)
    this.#returning.delete(member)
    this.#members.delete(member)
    this.#grow()
  }
}

function closedError(): PtcUsageError {
  return new PtcUsageError('this instance is closed: create a new one with createPtc')
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
