/** The public API of ptc-executor. */

// An instance
export { createPtc, type ExecutorChoice, type Ptc, type PtcOptions, type PtcRunOptions } from './create-ptc.ts'
export type { RunError, RunEvent, RunEventListener, RunOutcome, SubCallSummary } from './executor/run-outcome.ts'
export { DEFAULT_LIMITS, type PtcLimits } from './sandbox/limits.ts'

// Tools
export { defineTool, type ToolSpec } from './tool/define-tool.ts'
export { type PresentedTool, presentToolCall, presentToolResult } from './tool/present.ts'
export type { StandardToolSchema } from './tool/standard-schema.ts'
export type * from './tool/content.ts'
export type * from './tool/definition.ts'
export type * from './tool/events.ts'
export type * from './tool/executor.ts'
export type * from './tool/outcome.ts'
export type * from './tool/view.ts'
export { ToolsService } from './registry/tools-service.ts'

// Policies
export type * from './policy/definition.ts'
export { loadPolicy } from './policy/load-policy.ts'
export type { Policy, PolicyExplanation } from './policy/policy.ts'

// Schemas
export {
  assertObjectJsonSchema,
  assertSupportedJsonSchema,
  type JsonSchemaNode,
  type JsonSchemaScalar,
  type JsonSchemaType,
  type ObjectJsonSchema,
} from './json/schema.ts'
export { validateJsonSchemaValue } from './json/validate.ts'
export type * from './tool/infer.ts'
export { parameterSchemaSpecToJsonSchema, validateArgs, valueSchemaSpecToJsonSchema } from './tool/spec.ts'
export type {
  ArrayValueSchemaSpec,
  BooleanValueSchemaSpec,
  IntegerValueSchemaSpec,
  JsonValueSchemaSpec,
  NullValueSchemaSpec,
  NumberValueSchemaSpec,
  ObjectValueSchemaSpec,
  OneOfValueSchemaSpec,
  ParameterPropertySpec,
  ParameterSchemaSpec,
  StringValueSchemaSpec,
  ValueSchemaSpec,
} from './tool/spec.ts'

// What models read
export { renderToolsSdk, type SdkTool } from './sdk/render.ts'
export { jsonSchemaToTs, type SchemaSide } from './sdk/schema-to-ts.ts'

// JSON with every digit
export { parseJson, stringifyJson } from './json/text.ts'
export type { JsonValue } from './json/value.ts'

// Parts, for hosts that put their own together
export type { ApprovalHandler, ApprovalOutcome, ApprovalRequest } from './pipeline/approval.ts'
export { ToolExecutionPipeline, type ToolExecutionPipelineOptions } from './pipeline/pipeline.ts'
export { NativeExecutor, type NativeExecutorOptions } from './executor/native-executor.ts'
export { PtcExecutor, type PtcExecutorOptions } from './executor/ptc-executor.ts'
export { IsolateRuntime, type IsolateRuntimeOptions } from './sandbox/isolate-runtime.ts'
export type * from './sandbox/ptc-runtime.ts'

// The log
export { type DispatchLog, openDispatchLog, type RunLog } from './log/dispatch-log.ts'
export type * from './log/events.ts'
export type * from './log/rows.ts'

// Errors
export * from './errors.ts'
