/** What the log keeps: contract events, and the start and end of each program. */
import type { JsonValue } from '../json/value.ts'
import type { ContentBlock, ToolCallId } from '../tool/content.ts'
import type { ToolErrorInfo } from '../tool/outcome.ts'

/** Types of the events that this log writes itself; a session may add the contract's root events. */
export const EVENT: Readonly<
  Record<'programStart' | 'programEnd' | 'dispatchStart' | 'dispatch' | 'presentation', string>
> = Object.freeze({
  programStart: 'program/start',
  programEnd: 'program/end',
  dispatchStart: 'tool/ptc-dispatch-start',
  dispatch: 'tool/ptc-dispatch',
  presentation: 'tool/presentation',
})

/** A program is about to run. */
export interface RunStart {
  readonly runId: string
  readonly callId: ToolCallId
  readonly sessionId?: string | undefined
  readonly agentId?: string | undefined
  readonly owner: string
  readonly description: string
  readonly source: string
  /** SHA-256 of the source, hexadecimal. */
  readonly sourceHash: string
  readonly toolNames: readonly string[]
  readonly limits: Readonly<Record<string, number>>
}

/** One console line with its time, epoch milliseconds. */
export interface ConsoleRecord {
  readonly at: number
  readonly level: string
  readonly text: string
}

/** A program ended. */
export interface RunEnd {
  /** `ok` or the kind of the failure. */
  readonly outcome: string
  readonly value?: JsonValue
  readonly error?: Readonly<Record<string, string | number | boolean>>
  readonly console: readonly ConsoleRecord[]
}

/** A sub-call starts; nothing of it has happened yet. */
export interface SubCallStart {
  readonly rootCallId: ToolCallId
  readonly parentCallId: ToolCallId
  readonly subCallId: ToolCallId
  readonly name: string
  readonly arguments: JsonValue
  /** Epoch milliseconds. */
  readonly at: number
}

/** A sub-call settled. */
export interface SubCallSettle extends SubCallStart {
  readonly isError: boolean
  readonly content: readonly ContentBlock[]
  readonly error?: ToolErrorInfo
  readonly meta?: JsonValue
}
