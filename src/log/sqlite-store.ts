/** Events in a SQLite file: appends that are committed when they resolve, readers at any time. */
import { statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { LogError, messageOf } from '../errors.ts'
import { prepareFile } from './open-file.ts'
import { APPLICATION_ID, INSERT_EVENT, MIGRATIONS } from './schema.ts'

/** One event as it is stored. */
export interface StoredEvent {
  readonly runId: string | null
  readonly subCallId: string | null
  readonly sessionId: string | null
  readonly type: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Flat extract for the views, JSON text. */
  readonly facts: string
  /** The whole event, JSON text. */
  readonly body: string
}

interface QueuedEvent {
  readonly event: StoredEvent
  readonly resolve: () => void
  readonly reject: (failure: LogError) => void
}

const IN_MEMORY = ':memory:'
/** Another process holds the lock, or the schema is changing under us. */
const BUSY_CODES: readonly number[] = [5, 6]
const CORRUPT = 11
const NOT_A_DATABASE = 26
const LOCK_WAIT_MS = 10_000
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 50

/** The store of one log file. */
export class SqliteStore {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync | undefined
  readonly #location: string
  #queue: QueuedEvent[] = []
  #writing: Promise<void> | undefined
  #isClosed = false

  private constructor(database: DatabaseSync, location: string, isReadOnly: boolean) {
    this.#database = database
    this.#location = location
    this.#insert = isReadOnly ? undefined : database.prepare(INSERT_EVENT)
  }

  /**
   * Opens or creates a store.
   * @throws LogError (`LOG_UNAVAILABLE`) for a file that cannot be a log of this version.
   */
  static async open(location: string, isReadOnly: boolean): Promise<SqliteStore> {
    if (location !== IN_MEMORY) prepareFile(location, !isReadOnly)
    let database: DatabaseSync | undefined
    try {
      if (location !== IN_MEMORY) refuseForeign(location)
      database = new DatabaseSync(location, { readOnly: isReadOnly, timeout: 0 })
      const opened = database
      await patiently(() => prepareSchema(opened, isReadOnly))
      return new SqliteStore(database, location, isReadOnly)
    } catch (cause) {
      database?.close()
      const problem = codeOf(cause) === NOT_A_DATABASE ? 'it is not a SQLite file; name another one' : messageOf(cause)
      throw new LogError(`the log ${location} cannot be opened: ${problem}`, 'LOG_UNAVAILABLE', { cause })
    }
  }

  get location(): string {
    return this.#location
  }

  /**
   * Appends one event; resolves once it is committed. What is queued together is committed together.
   * Rejects with LogError (`LOG_WRITE_FAILED`); nothing of a failed group is in the file.
   */
  append(event: StoredEvent): Promise<void> {
    if (this.#isClosed) return Promise.reject(new LogError('the log is closed', 'LOG_WRITE_FAILED'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ event, resolve, reject })
      this.#writing ??= this.#write()
    })
  }

  /** Rows of a query; reading never waits for a writer. */
  all(sql: string, ...values: readonly SQLInputValue[]): Readonly<Record<string, unknown>>[] {
    if (this.#isClosed) throw new LogError('the log is closed', 'LOG_UNAVAILABLE')
    return this.#database.prepare(sql).all(...values)
  }

  /** Writes what is queued and closes the file. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    if (this.#isClosed) return
    this.#isClosed = true
    this.#database.close()
  }

  async #write(): Promise<void> {
    // Everything that this turn of the loop appends shares the transaction.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    while (this.#queue.length > 0) {
      const group = this.#queue
      this.#queue = []
      try {
        await patiently(() => this.#commit(group))
        for (const { resolve } of group) resolve()
      } catch (cause) {
        const advice = 'free some space or make it writable, then run again'
        const message = `the log ${this.#location} cannot be written: ${messageOf(cause)}; ${advice}`
        const failure = new LogError(message, 'LOG_WRITE_FAILED', { cause })
        for (const { reject } of group) reject(failure)
      }
    }
    // In the same turn as the look at the queue: what is appended from now on starts a new write.
    this.#writing = undefined
  }

  #commit(group: readonly QueuedEvent[]): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const { event } of group) {
        const { runId, subCallId, sessionId, type, at, facts, body } = event
        this.#insert?.run(runId, subCallId, sessionId, type, at, facts, body)
      }
      this.#database.exec('COMMIT')
    } catch (failure) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw failure
    }
  }
}

/**
 * Reads the mark in the header of a file. To open a database for real may already change it: what its
 * last writer left in a journal would be carried out. A file descriptor of our own is no way either:
 * closing it would drop the locks that this process holds on the file.
 */
function refuseForeign(location: string): void {
  if (statSync(location).size === 0) return
  const address = pathToFileURL(location)
  address.search = '?immutable=1'
  const database = new DatabaseSync(address, { readOnly: true })
  try {
    refuseOtherMark(database)
  } catch (failure) {
    // A file that is being written may not fit its header; it is looked at again once it is open.
    if (codeOf(failure) !== CORRUPT) throw failure
  } finally {
    database.close()
  }
}

function refuseOtherMark(database: DatabaseSync): void {
  if (pragma(database, 'application_id') === APPLICATION_ID) return
  throw new Error('it is a database of another program; name another file')
}

function prepareSchema(database: DatabaseSync, isReadOnly: boolean): void {
  const isNew = pragma(database, 'page_count') === 0
  if (!isNew) refuseOtherMark(database)
  const version = pragma(database, 'user_version')
  if (version > MIGRATIONS.length) {
    throw new Error(`it has version ${version}, this program knows ${MIGRATIONS.length}; use a newer ptc-executor`)
  }
  if (isReadOnly) {
    if (version === 0) throw new Error('it holds no log yet; run a program first')
    return
  }
  // The mark comes first, so that it is in the file itself, not only in its write-ahead log.
  if (isNew) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  if (version < MIGRATIONS.length) migrate(database)
}

function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been first.
    const version = pragma(database, 'user_version')
    for (const step of MIGRATIONS.slice(version)) database.exec(step)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`)
  } catch (failure) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw failure
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
}

/** Repeats a step while others hold the lock; the thread is free in between. */
async function patiently(step: () => void): Promise<void> {
  const deadline = performance.now() + LOCK_WAIT_MS
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      step()
      return
    } catch (failure) {
      if (!BUSY_CODES.includes(codeOf(failure)) || performance.now() > deadline) throw failure
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))
  }
}

/** SQLite's primary result code of a failure. */
function codeOf(failure: unknown): number {
  const code = failure instanceof Error && 'errcode' in failure ? Number(failure.errcode) : 0
  return code & 0xff
}
