/** The durable record of runs and their sub-calls. */
import { HarnessError } from '../errors.ts'
import { stringifyJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'
import type { Session } from '../tool/content.ts'
import type { ToolPresentation } from '../tool/present.ts'
import { EVENT, type RunEnd, type RunStart, type SubCallSettle, type SubCallStart } from './events.ts'
import { findRun, listRuns } from './read-runs.ts'
import type { RunRecord, RunRow } from './rows.ts'
import { SqliteStore } from './sqlite-store.ts'

/** Cards are for people: one that is longer would not be read. */
const MAX_CARD_CHARACTERS = 262_144

/** A log that is open. */
export interface DispatchLog {
  /** Path of the file, or `:memory:`. */
  readonly location: string
  /** Puts a run on record; resolves once that is committed. @throws LogError */
  openRun(start: RunStart): Promise<RunLog>
  /** A session whose events go to this log. */
  session(id: string): Session
  /** Runs, newest first; default limit 20. */
  runs(options?: { readonly limit?: number }): RunRow[]
  /**
   * One run with its calls and console.
   * @param id a whole id, the beginning of one, or `last`.
   * @throws LogError (`RUN_NOT_FOUND`)
   */
  run(id: string): RunRecord
  /** Writes what is queued and closes the file. */
  close(): Promise<void>
}

/** The record of one run; a second settle record, or one without a start record, is a fault of the host and throws. */
export interface RunLog {
  readonly runId: string
  /** Commits the start of a sub-call; nothing of it may happen before. @throws LogError */
  start(call: SubCallStart): Promise<void>
  /** Commits how a sub-call settled. @throws LogError */
  settle(call: SubCallSettle): Promise<void>
  /**
   * Commits the cards that a tool makes of its settled call; more than 262,144 characters of JSON are left out.
   * @throws LogError
   */
  present(subCallId: string, cards: ToolPresentation): Promise<void>
  /** Commits the end of the run. @throws LogError */
  end(end: RunEnd): Promise<void>
}

/**
 * Opens a log file, creating it when it may be written.
 * @param path a file, or `:memory:` for a log that ends with its process.
 * @throws LogError (`LOG_UNAVAILABLE`)
 */
export async function openDispatchLog(
  path: string,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<DispatchLog> {
  return new SqliteDispatchLog(await SqliteStore.open(path, readOnly))
}

class SqliteDispatchLog implements DispatchLog {
  readonly #store: SqliteStore

  constructor(store: SqliteStore) {
    this.#store = store
  }

  get location(): string {
    return this.#store.location
  }

  async openRun(start: RunStart): Promise<RunLog> {
    const { runId, sessionId, owner, description, source } = start
    await this.#store.append({
      runId,
      subCallId: null,
      sessionId: sessionId ?? null,
      type: EVENT.programStart,
      at: Date.now(),
      facts: JSON.stringify({ owner, description, source }),
      body: JSON.stringify(start),
    })
    return new SqliteRunLog(this.#store, runId, sessionId ?? null)
  }

  session(id: string): Session {
    return {
      id,
      append: ({ type, body }) =>
        this.#store.append({
          runId: null,
          subCallId: null,
          sessionId: id,
          type,
          at: Date.now(),
          facts: '{}',
          // The contract's root events are JSON; the executor makes them of snapshots.
          body: stringifyJson(body as { [key: string]: JsonValue }),
        }),
    }
  }

  runs({ limit = 20 }: { readonly limit?: number } = {}): RunRow[] {
    return listRuns(this.#store, limit)
  }

  run(id: string): RunRecord {
    return findRun(this.#store, id)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

class SqliteRunLog implements RunLog {
  readonly runId: string
  readonly #store: SqliteStore
  readonly #sessionId: string | null
  /** Arguments, as JSON text, of the sub-calls that have not settled. */
  readonly #open = new Map<string, string>()

  constructor(store: SqliteStore, runId: string, sessionId: string | null) {
    this.#store = store
    this.runId = runId
    this.#sessionId = sessionId
  }

  async start({ at, arguments: args, ...ids }: SubCallStart): Promise<void> {
    const { rootCallId, parentCallId, subCallId, name } = ids
    const argsText = stringifyJson(args)
    const facts = { rootCallId, parentCallId, name, bytes: Buffer.byteLength(argsText) }
    const body = withText({ rootCallId, parentCallId, subCallId, name }, 'arguments', argsText)
    await this.#append(EVENT.dispatchStart, { at, subCallId, body, facts })
    this.#open.set(subCallId, argsText)
  }

  async settle(call: SubCallSettle): Promise<void> {
    const { at, rootCallId, parentCallId, subCallId, name, isError, content, error, meta } = call
    const argsText = this.#open.get(subCallId)
    if (argsText === undefined) {
      throw new HarnessError(`sub-call ${subCallId} has no open start record to settle`, 'LOG_INVARIANT')
    }
    this.#open.delete(subCallId)
    const contentText = stringifyJson(content.map((block) => ({ ...block })))
    const rest = { isError, ...(error === undefined ? {} : { error }) }
    const ids = withText({ rootCallId, parentCallId, subCallId, name, ...rest }, 'arguments', argsText)
    const withContent = `${ids.slice(0, -1)},"content":${contentText}}`
    const body = meta === undefined ? withContent : `${withContent.slice(0, -1)},"meta":${stringifyJson(meta)}}`
    const facts = { isError: isError ? 1 : 0, errorCode: error?.code ?? null, bytes: Buffer.byteLength(contentText) }
    await this.#append(EVENT.dispatch, { at, subCallId, body, facts })
  }

  async present(subCallId: string, cards: ToolPresentation): Promise<void> {
    const text = stringifyJson({ ...cards } as JsonValue) // checked cards are JSON
    const body = withText({ subCallId }, 'cards', text)
    if (body.length > MAX_CARD_CHARACTERS) return
    await this.#append(EVENT.presentation, { at: Date.now(), subCallId, body, facts: {} })
  }

  async end({ outcome, value, error, console }: RunEnd): Promise<void> {
    const body = stringifyJson({
      outcome,
      console: console.map((line) => ({ ...line })),
      ...(value === undefined ? {} : { value }),
      ...(error === undefined ? {} : { error: { ...error } }),
    })
    await this.#append(EVENT.programEnd, { at: Date.now(), subCallId: null, body, facts: { outcome } })
  }

  #append(type: string, event: { at: number; subCallId: string | null; body: string; facts: object }): Promise<void> {
    const { at, subCallId, body, facts } = event
    const { runId } = this
    return this.#store.append({
      runId,
      subCallId,
      sessionId: this.#sessionId,
      type,
      at,
      facts: JSON.stringify(facts),
      body,
    })
  }
}

/** JSON of flat fields with one more, whose text is spliced in as it is. */
function withText(fields: object, key: string, text: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},${JSON.stringify(key)}:${text}}`
}
