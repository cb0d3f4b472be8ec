/** The one knot of types: a definition names its run context, which names the step's tools. */
import type { JsonSchemaNode } from '../json/schema.ts'
import type { JsonValue } from '../json/value.ts'
import type { Agent, ContentBlock, ScopeKey, ToolCallId, ToolSchema, UserMessage } from './content.ts'
import type { ToolErrorInfo, ToolExecutionResult, ToolResult } from './outcome.ts'
import type { ToolCallView, ToolResultView } from './view.ts'

/** `direct`: a model by itself; `program`: a program that a model wrote. */
export type ToolCaller = 'direct' | 'program'

/** What a tool's successful value looks like and how models read it. */
export interface ToolOutputDefinition {
  /** Raw JSON Schema (enforced subset) that every successful value must satisfy. */
  readonly schema: JsonSchemaNode
  /** Pure projection from validated arguments and value to model-facing content. */
  render(args: unknown, value: JsonValue): ContentBlock[]
  /** Pure projection for presentation, for native and nested calls. */
  presentationMeta?(args: unknown, value: JsonValue): JsonValue
}

/** A registered tool: its model-facing schema and what the host runs. */
export interface ToolDefinition extends ToolSchema {
  readonly output: ToolOutputDefinition
  /**
   * Runs one accepted call and returns only its canonical value. Async work observes or
   * forwards `exec.signal` and settles only after the work it owns has stopped.
   * @param args losslessly snapshotted, frozen arguments.
   */
  execute(args: unknown, exec: ToolRunContext): Promise<unknown>
  /**
   * Replaces the rendered content before `tools/post-execute`; captured when the call starts,
   * runs once for a normalised outcome. Undefined keeps the content.
   */
  projectContent?(exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): ContentBlock[] | undefined
  /**
   * Synchronous last transform of model-facing content, exactly once for every outcome,
   * pipeline failures included. Must be total. Undefined keeps the content.
   */
  finalizeContent?(exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): ContentBlock[] | undefined
  /** Cooperative budget of one call in milliseconds, positive and finite; absent means no deadline. */
  timeoutMs?: number
  /**
   * Who may call the tool, at least one. Default: programs under the PTC executor, models under the native
   * one, both where an executor takes both. A caller that is left out gets UNKNOWN_TOOL with the way that is open.
   */
  readonly allowedCallers?: readonly ToolCaller[]
  /** Pure classifier: only `true` lets this call overlap with its siblings. */
  isConcurrencySafe?(args: unknown): boolean
  /** Presents a pending call; pure, undefined falls back to the generic card. */
  presentCall?(args: unknown): ToolCallView | undefined
  /** Presents a settled call; pure, undefined keeps the pending title. */
  presentResult?(args: unknown, result: ToolResult): ToolResultView | undefined
}

declare const toolExecutionTokenBrand: unique symbol

/** Opaque identity of one execution, for comparison only. */
export type ToolExecutionToken = symbol & { readonly [toolExecutionTokenBrand]: true }

/** Parsed input of the pipeline; the pipeline adds the token. */
export interface ToolExecutionInput {
  readonly callId: ToolCallId
  /** The root call that owns this execution tree; absent for a root. */
  readonly rootCallId?: ToolCallId
  readonly name: string
  /** Schema as it was when the program's binding was made; frozen, never logged. */
  readonly schema?: ToolSchema
  /** Parsed arguments; must be lossless JSON. */
  readonly arguments: unknown
  readonly agent?: Agent
  /** Tools admitted for the step; conditional tools require it. */
  readonly toolSet?: ResolvedToolSet
  /** Token of the enclosing `run_code` execution; marks a sub-call. */
  readonly parent?: ToolExecutionToken
  /** The caller's cancellation. */
  readonly signal: AbortSignal
}

/** One call inside the pipeline: frozen arguments and an identity. */
export interface ToolExecution extends ToolExecutionInput {
  readonly rootCallId: ToolCallId
  readonly token: ToolExecutionToken
}

/** What a tool body receives. */
export interface ToolRunContext extends ToolExecution {
  /** Attaches one message to this execution's own result, in call order. */
  deferContext(context: UserMessage): void
  /** Marks a successful final result as the end of the agent's turn. */
  concludeTurn(): void
}

/** A `tools/execute` wrapper's view: it may replace the signal, never remove it. */
export interface ToolDispatchExecution extends Omit<ToolExecution, 'signal'> {
  signal: AbortSignal
}

/** `parallel` may overlap with siblings; `exclusive` runs alone and is a barrier. */
export type ToolExecutionMode = { kind: 'parallel' } | { kind: 'exclusive' }

/** One step's admitted registrations, also used by a program's sub-calls. */
export interface ResolvedToolSet {
  /** Closes admission once the step's batch has settled. */
  dispose(): void
  /** Admitted definitions still visible in their scope; another scope is never admitted. */
  view(scope: ScopeKey | undefined): ReadonlyMap<string, ToolDefinition>
}

/** Decision of `tools/pre-execute`. */
export type PreToolDecision =
  | { kind: 'allow' }
  | { kind: 'deny'; reason: string; info?: ToolErrorInfo }
  | { kind: 'cancel' }
  | { kind: 'ask'; reason?: string; displayReason?: { readonly en: string; readonly [locale: string]: string } }

/** Decision of `tools/post-execute`: content or value may be replaced, never both. */
export type PostToolDecision =
  | { kind: 'accept'; content?: ContentBlock[]; value?: never; additionalContexts?: UserMessage[] }
  | { kind: 'accept'; value: JsonValue; content?: never; additionalContexts?: UserMessage[] }
  | { kind: 'block'; feedback: ContentBlock[]; info?: ToolErrorInfo; additionalContexts?: UserMessage[] }

/** A guard's denial. */
export interface ToolGuardDenial {
  readonly reason: string
  readonly info?: ToolErrorInfo
}

/** Final check before dispatch; it can only deny. */
export type ToolGuard = (execution: Readonly<ToolExecution>) => string | ToolGuardDenial | undefined

/** A settled sub-call about to be logged; only the durable copy of `content` can be changed. */
export interface PtcDispatchLog {
  /** The outer `run_code` execution. */
  readonly exec: ToolExecution
  readonly agent?: Agent
  /** `<parent>:ptc:<n>`. */
  readonly subCallId: ToolCallId
  readonly name: string
  readonly isError: boolean
  readonly content: ContentBlock[]
}
