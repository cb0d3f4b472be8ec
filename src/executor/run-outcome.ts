import type { JsonValue } from '../json/value.ts'
import type { RunFailureKind } from '../sandbox/ptc-runtime.ts'
import type { ToolCallId } from '../tool/content.ts'

/** One sub-call of a run that was started, denied ones included. */
export interface SubCallSummary {
  /** `<parent>:ptc:<n>`, n counting from 1 in submission order. */
  readonly subCallId: ToolCallId
  readonly name: string
  readonly isError: boolean
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Milliseconds until it was settled; null when it never was. */
  readonly durationMs: number | null
}

/** Why a run has no value, in the program's own coordinates. */
export interface RunError {
  readonly kind: RunFailureKind
  readonly code?: string
  readonly message: string
  /** For the operator: paths and last words of processes; a model never reads it. */
  readonly detail?: string
  /** 1-based line of the program. */
  readonly line?: number
  /** 1-based column. */
  readonly column?: number
  /** The lines around it, with a mark below the column. */
  readonly frame?: string
  /** True when no sub-call had started, so that nothing can happen twice. */
  readonly retryable: boolean
}

/** What became of one program. */
export interface RunOutcome {
  readonly runId: string
  readonly ok: boolean
  /** Absent when the program failed or returned nothing. */
  readonly value?: JsonValue
  readonly logs: readonly string[]
  readonly error?: RunError
  /** In submission order. */
  readonly calls: readonly SubCallSummary[]
}

/** What happens during a run, as it happens. */
export type RunEvent =
  | { readonly type: 'program-start'; readonly runId: string; readonly source: string; readonly description: string }
  | { readonly type: 'console'; readonly level: string; readonly text: string }
  | {
      readonly type: 'sub-call-start'
      readonly subCallId: ToolCallId
      readonly name: string
      readonly arguments: JsonValue
    }
  | { readonly type: 'sub-call-settle'; readonly call: SubCallSummary; readonly message?: string }
  | { readonly type: 'program-end'; readonly outcome: RunOutcome }

/** Takes the events of one run; what it throws is ignored. */
export type RunEventListener = (event: RunEvent) => void
