/** Reads runs back, in the shapes that the command line prints. */
import { LogError } from '../errors.ts'
import { parseJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'
import type { CallRow, ConsoleRow, RunRecord, RunRow } from './rows.ts'
import type { SqliteStore } from './sqlite-store.ts'

/** By the order in which runs came on record: clocks stand still and jump. */
const NEWEST_FIRST = 'ORDER BY events.seq DESC LIMIT ?'
const STARTED_RUNS = "SELECT runs.* FROM events JOIN runs USING (run_id) WHERE events.type = 'program/start'"
const MAX_MATCHES_SHOWN = 5

/** Runs, newest first. */
export function listRuns(store: SqliteStore, limit: number): RunRow[] {
  return store.all(`${STARTED_RUNS} ${NEWEST_FIRST}`, limit).map(runRow)
}

/** One run by its id, the beginning of it, or `last`. @throws LogError (`RUN_NOT_FOUND`) */
export function findRun(store: SqliteStore, id: string): RunRecord {
  const run = onlyRun(store, id)
  const start = bodyOf(store, run.run_id, 'program/start')
  const end = bodyOf(store, run.run_id, 'program/end')
  return {
    run: {
      ...run,
      ...(end['value'] === undefined ? {} : { value: end['value'] }),
      ...(end['error'] === undefined ? {} : { error: end['error'] }),
      limits: start['limits'] ?? {},
    },
    calls: callsOf(store, run.run_id),
    console: consoleOf(run.run_id, end['console']),
  }
}

function onlyRun(store: SqliteStore, id: string): RunRow {
  if (id === 'last') {
    const [newest] = listRuns(store, 1)
    if (newest === undefined) throw new LogError(`the log ${store.location} has no runs yet`, 'RUN_NOT_FOUND')
    return newest
  }
  const pattern = `${id.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  const query = `${STARTED_RUNS} AND events.run_id LIKE ? ESCAPE '\\' ${NEWEST_FIRST}`
  const rows = store.all(query, pattern, MAX_MATCHES_SHOWN + 1).map(runRow)
  const [first] = rows
  const found = rows.find(({ run_id }) => run_id === id) ?? (rows.length === 1 ? first : undefined)
  if (found !== undefined) return found
  const message =
    rows.length === 0
      ? `the log ${store.location} has no run whose id begins with "${id}"; ptc log ls lists them`
      : `several runs begin with "${id}": ${rows
          .slice(0, MAX_MATCHES_SHOWN)
          .map(({ run_id }) => run_id)
          .join(', ')}; give more of the id`
  throw new LogError(message, 'RUN_NOT_FOUND')
}

function callsOf(store: SqliteStore, runId: string): CallRow[] {
  const bodies = new Map<string, CallBodies>()
  const events =
    "SELECT sub_call_id, body FROM events WHERE run_id = ? AND type IN ('tool/ptc-dispatch-start', 'tool/ptc-dispatch', 'tool/presentation')"
  for (const { sub_call_id: subCallId, body } of store.all(events, runId)) {
    const { arguments: args, content, cards } = asObject(parseJson(String(body)))
    const known = bodies.get(String(subCallId)) ?? {}
    bodies.set(String(subCallId), {
      ...known,
      ...(args === undefined ? {} : { arguments: args }),
      ...(content === undefined ? {} : { content }),
      ...(cards === undefined ? {} : { cards }),
    })
  }
  return store.all('SELECT * FROM calls WHERE run_id = ?', runId).map((row) => {
    return callRow(row, bodies.get(String(row['sub_call_id'])) ?? {})
  })
}

interface CallBodies {
  readonly arguments?: JsonValue
  readonly content?: JsonValue
  readonly cards?: JsonValue
}

function callRow(row: Readonly<Record<string, unknown>>, bodies: CallBodies): CallRow {
  const { arguments: args = null, content, cards } = bodies
  return {
    run_id: String(row['run_id']),
    sub_call_id: String(row['sub_call_id']),
    parent_call_id: String(row['parent_call_id']),
    root_call_id: String(row['root_call_id']),
    name: String(row['name']),
    started_at: Number(row['started_at']),
    settled_at: optionalNumber(row['settled_at']),
    duration_ms: optionalNumber(row['duration_ms']),
    is_error: row['is_error'] === null ? null : row['is_error'] === 1,
    error_code: optionalText(row['error_code']),
    bytes_in: Number(row['bytes_in']),
    bytes_out: optionalNumber(row['bytes_out']),
    arguments: args,
    ...(content === undefined ? {} : { content }),
    ...(cards === undefined ? {} : { cards }),
  }
}

function runRow(row: Readonly<Record<string, unknown>>): RunRow {
  return {
    run_id: String(row['run_id']),
    started_at: Number(row['started_at']),
    ended_at: optionalNumber(row['ended_at']),
    outcome: optionalText(row['outcome']),
    owner: String(row['owner']),
    description: String(row['description']),
    source: String(row['source']),
  }
}

function consoleOf(runId: string, lines: JsonValue | undefined): ConsoleRow[] {
  if (!Array.isArray(lines)) return []
  return lines.map((line) => {
    const { at, level, text } = asObject(line)
    return { run_id: runId, at: Number(at), level: String(level), text: String(text) }
  })
}

function bodyOf(store: SqliteStore, runId: string, type: string): { readonly [key: string]: JsonValue } {
  const [row] = store.all('SELECT body FROM events WHERE run_id = ? AND type = ?', runId, type)
  return row === undefined ? {} : asObject(parseJson(String(row['body'])))
}

function asObject(value: JsonValue): { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { [key: string]: JsonValue })
    : {}
}

function optionalNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

function optionalText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
