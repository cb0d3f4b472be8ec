import type { JsonValue } from '../json/value.ts'

/** Identity of one tool call; providers choose it, so it is unique within a batch only. */
export type ToolCallId = string

/** Text that the model reads. */
export interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

/** An image that the model sees; `data` is base64. */
export interface ImageBlock {
  readonly type: 'image'
  readonly mimeType: string
  readonly data: string
}

/** One piece of model-facing content. */
export type ContentBlock = TextBlock | ImageBlock

/** A message of the user side that a result asks to be added to the next request. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: ContentBlock[]
  /** Who wrote it, for example `{ kind: 'ptc-mode' }`. */
  readonly source: JsonValue
}

/** One call as the model wrote it; `arguments` is the raw JSON text. */
export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly id: ToolCallId
  readonly name: string
  readonly arguments: string
}

/** The fields of a tool that a model request carries. */
export interface ToolSchema {
  readonly name: string
  readonly description: string
  /** Raw JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** The model that a step is prepared for. */
export interface ModelSelection {
  readonly provider: string
  readonly model: string
  readonly reasoning?: string
}

/** One named part of the prompt that an executor owns. */
export interface ToolPromptSection {
  readonly name: string
  readonly text: string
}

/** Where an Agent's durable events go. */
export interface Session {
  readonly id: string
  /**
   * Appends one event and resolves once it is durable.
   * @throws LogError when it could not be written; the caller stops before the next effect.
   */
  append(event: SessionEvent): Promise<void>
}

/** One durable event of a session; `type` is the contract's event name, such as `tool/call`. */
export interface SessionEvent {
  readonly type: string
  readonly body: Readonly<Record<string, unknown>>
}

/** On whose behalf calls run: the unit that scopes, policies and logs are keyed by. */
export interface Agent {
  readonly id: string
  readonly parent?: Agent
  readonly session: Session
}

/** The key of one scope of registrations: an Agent, compared by identity. */
export type ScopeKey = Agent
