import type { JsonValue } from '../json/value.ts'
import type { ContentBlock, UserMessage } from './content.ts'

/** Structured identity of a failed call, beside the text that the model reads. */
export interface ToolErrorInfo {
  name: string
  code: string
  /** Raw user-facing detail; durable records keep it, model-facing content does not include it. */
  reason?: string
}

/** Canonical failure detail. */
export interface ToolFailure {
  /** Readable message without the `Error: ` envelope. */
  message: string
  /** Class and code used by policies and durable records. */
  info?: ToolErrorInfo
}

/** A successful call: the value that programs get and the content that models read. */
export interface ToolExecutionSuccess {
  readonly isError: false
  /** Lives as long as the call; durable events leave it out. */
  readonly value: JsonValue
  readonly content: ContentBlock[]
  readonly error?: never
  readonly meta?: JsonValue
  readonly additionalContexts?: UserMessage[]
  /** The agent loop stops after committing this batch. */
  readonly concludesTurn?: true
}

/** A failed call; it never carries a value. */
export interface ToolExecutionFailure {
  readonly isError: true
  readonly error: ToolFailure
  readonly value?: never
  readonly content: ContentBlock[]
  readonly meta?: JsonValue
  readonly additionalContexts?: UserMessage[]
  readonly concludesTurn?: never
}

/** The outcome of one tool call. */
export type ToolExecutionResult = ToolExecutionSuccess | ToolExecutionFailure

/** What a replayed or presented result still has: no value, only its durable projection. */
export interface ToolResult {
  readonly content: ContentBlock[]
  readonly isError: boolean
  readonly meta?: JsonValue
}
