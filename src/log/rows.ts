/** Rows of the log, in the shapes that the command line prints. */
import type { JsonValue } from '../json/value.ts'

/** A row of the view `runs`. Times are epoch milliseconds; what has not happened yet is null. */
export interface RunRow {
  readonly run_id: string
  readonly started_at: number
  readonly ended_at: number | null
  readonly outcome: string | null
  readonly owner: string
  readonly description: string
  readonly source: string
}

/** A row of the view `calls`, with what was sent and what came back. */
export interface CallRow {
  readonly run_id: string
  readonly sub_call_id: string
  readonly parent_call_id: string
  readonly root_call_id: string
  readonly name: string
  readonly started_at: number
  readonly settled_at: number | null
  readonly duration_ms: number | null
  readonly is_error: boolean | null
  readonly error_code: string | null
  readonly bytes_in: number
  readonly bytes_out: number | null
  readonly arguments: JsonValue
  /** Absent while the call has not settled. */
  readonly content?: JsonValue
  /** The tool's own cards, `{ call?, result? }`; absent where it made none. */
  readonly cards?: JsonValue
}

/** One console line. */
export interface ConsoleRow {
  readonly run_id: string
  readonly at: number
  readonly level: string
  readonly text: string
}

/** Everything of one run. */
export interface RunRecord {
  readonly run: RunRow & { readonly value?: JsonValue; readonly error?: JsonValue; readonly limits: JsonValue }
  readonly calls: readonly CallRow[]
  readonly console: readonly ConsoleRow[]
}
