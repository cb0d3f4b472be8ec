import type {
  Agent,
  ModelSelection,
  ToolCallBlock,
  ToolCallId,
  ToolPromptSection,
  ToolSchema,
  UserMessage,
} from './content.ts'
import type { ResolvedToolSet, ToolDefinition } from './definition.ts'
import type { ToolExecutionResult } from './outcome.ts'

/** Inputs of a tool's step-time condition. */
export interface ToolActivationContext {
  readonly agent: Agent
  readonly modelSelection: Readonly<ModelSelection>
  /** Cancellation of step preparation. */
  readonly signal: AbortSignal
}

/** Conditions of one registration. */
export interface ToolRegistrationOptions {
  /** Whether the step may call the tool; absent enables it, a rejection fails step preparation. */
  readonly when?: (context: ToolActivationContext) => boolean | Promise<boolean>
}

/** Filter of one scope over what it inherits; own registrations are exempt. */
export interface ToolRestriction {
  /** Inherited names that stay visible; every other one is hidden. */
  readonly allow?: readonly string[]
  /** Inherited names that are hidden. */
  readonly deny?: readonly string[]
}

/** What an executor contributes to a model request. */
export interface ToolModelInput {
  readonly schemas: readonly ToolSchema[]
  /** Every name that tool ordering may mention. */
  readonly knownNames: readonly string[]
}

/** What a model request needs: schemas, and the sections of the prompt. */
export interface ToolRequestParts extends ToolModelInput {
  readonly sections: readonly ToolPromptSection[]
}

/** Raw model calls, with optional Agent and model step. */
export interface ToolBatchInput {
  readonly calls: readonly ToolCallBlock[]
  readonly signal: AbortSignal
  /** Positive integer; overrides the executor's limit for concurrency-safe root calls. */
  readonly maxParallelToolCalls?: number
  readonly agent?: Agent
  readonly toolSet?: ResolvedToolSet
  /** The committed model step that receives root events; requires `agent`. */
  readonly log?: { readonly turn: number; readonly step: number }
}

/** One settled result and the call it answers. */
export interface ToolCallResult {
  readonly callId: ToolCallId
  readonly result: ToolExecutionResult
}

/** Outcomes in the order of the calls, and context for the next step. */
export interface ToolBatchResult {
  readonly results: readonly ToolCallResult[]
  readonly additionalContexts: readonly UserMessage[]
  readonly concluded: boolean
}

/** Owns argument parsing, dispatch, scheduling, cancellation and logging of a batch. */
export interface ToolExecutor {
  /** Guidance for the prompt, registered and disposed with this executor. */
  readonly sections?: readonly ToolPromptSection[]
  /** Guidance that depends on the tools, in place of `sections`; the same text for the same tools. */
  sectionsFor?(tools: readonly ToolDefinition[]): readonly ToolPromptSection[]
  /** @param tools visible definitions, after scoped restrictions. */
  describe(tools: readonly ToolDefinition[]): ToolModelInput
  /**
   * Executes a whole batch: one outcome per call in input order, skipped calls included.
   * Never settles while started work runs.
   * @throws ToolBatchExecutionError on an internal failure, after draining.
   */
  execute(input: ToolBatchInput): Promise<ToolBatchResult>
}
