/** Typed tools: one declaration gives the schema, the validation and the types of the body. */
import { PtcUsageError, ToolArgsError, ToolOutputError } from '../errors.ts'
import { holdsExactNumber } from '../json/number.ts'
import { stringifyJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'
import type { ContentBlock } from './content.ts'
import type { ToolDefinition, ToolRunContext } from './definition.ts'
import type { InferArgs, InferValue } from './infer.ts'
import type { ToolResult } from './outcome.ts'
import {
  type ParameterSchemaSpec,
  parameterSchemaSpecToJsonSchema,
  validateArgs,
  validateJsonArgs,
  validateValue,
  type ValueSchemaSpec,
  valueSchemaSpecToJsonSchema,
} from './spec.ts'
import type { ToolCallView, ToolResultView } from './view.ts'

/**
 * What {@link defineTool} takes; what is not named here passes through to the ToolDefinition.
 * The type parameters have no bounds: bounds that are recursive unions make inference run away.
 */
export interface ToolSpec<Parameters, Output> extends Pick<
  ToolDefinition,
  'projectContent' | 'finalizeContent' | 'timeoutMs'
> {
  readonly name: string
  readonly description: string
  readonly parameters: Parameters & ParameterSchemaSpec
  /** Absent: the value may be whatever JSON there is. */
  readonly output?: {
    readonly schema: Output & ValueSchemaSpec
    /** Default: a text as it is, any other value as indented JSON. */
    readonly render?: (args: InferArgs<Parameters>, value: InferValue<Output>) => ContentBlock[]
    readonly presentationMeta?: (args: InferArgs<Parameters>, value: InferValue<Output>) => JsonValue
  }
  readonly execute: (
    args: InferArgs<Parameters>,
    exec: ToolRunContext,
  ) => InferValue<Output> | Promise<InferValue<Output>>
  readonly isConcurrencySafe?: (args: InferArgs<Parameters>) => boolean
  readonly presentCall?: (args: InferArgs<Parameters>) => ToolCallView | undefined
  readonly presentResult?: (args: InferArgs<Parameters>, result: ToolResult) => ToolResultView | undefined
}

interface UntypedOutput {
  readonly schema: ValueSchemaSpec
  readonly render?: (args: never, value: never) => ContentBlock[]
  readonly presentationMeta?: (args: never, value: never) => JsonValue
}

/** The same without its type parameters: what validation accepts is what they infer, which the compiler cannot know. */
interface UntypedToolSpec extends Pick<ToolDefinition, 'projectContent' | 'finalizeContent' | 'timeoutMs'> {
  readonly name: string
  readonly description: string
  readonly parameters: ParameterSchemaSpec
  readonly output?: UntypedOutput | undefined
  readonly execute: (args: never, exec: ToolRunContext) => unknown
  readonly isConcurrencySafe?: (args: never) => boolean
  readonly presentCall?: (args: never) => ToolCallView | undefined
  readonly presentResult?: (args: never, result: ToolResult) => ToolResultView | undefined
}

/**
 * Defines a tool with inferred types. At a call, arguments that do not fit throw ToolArgsError
 * (`INVALID_ARGS`) before the body, a value that does not fit ToolOutputError (`INVALID_TOOL_OUTPUT`) after it.
 * @throws PtcUsageError or JsonSchemaError at once, when the declaration itself cannot be.
 */
export function defineTool<const Parameters, const Output>(spec: ToolSpec<Parameters, Output>): ToolDefinition
export function defineTool(spec: UntypedToolSpec): ToolDefinition {
  checkSpec(spec)
  const { name, description, output, timeoutMs, projectContent, finalizeContent } = spec
  const parameters = parameterSchemaSpecToJsonSchema(spec.parameters)
  const schema = output === undefined ? {} : valueSchemaSpecToJsonSchema(output.schema)
  const { render, presentationMeta } = output ?? {}
  return {
    name,
    description,
    parameters: { ...parameters },
    output: {
      schema,
      render: (args, value) => (render === undefined ? defaultContent(value) : render(args as never, value as never)),
      ...(presentationMeta && { presentationMeta: (args, value) => presentationMeta(args as never, value as never) }),
    },
    execute: async (args, exec) => {
      const violations = validateJsonArgs(parameters, args)
      if (violations.length > 0) throw new ToolArgsError(violations)
      const value = await spec.execute(args as never, exec)
      // The pipeline checks every value; only the numbers of the typed DSL are stricter than the raw schema.
      const problems = holdsExactNumber(value) ? validateValue(schema, value) : []
      if (problems.length > 0) throw new ToolOutputError(name, problems)
      return value
    },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(projectContent && { projectContent }),
    ...(finalizeContent && { finalizeContent }),
    ...softCallbacks(spec, (args) => validateArgs(parameters, args).length === 0),
  }
}

type SoftCallbacks = Pick<ToolDefinition, 'isConcurrencySafe' | 'presentCall' | 'presentResult'>

/** Classifier and presenters never throw for arguments that do not fit: they answer no, or nothing. */
function softCallbacks(spec: UntypedToolSpec, fits: (args: unknown) => boolean): SoftCallbacks {
  const { isConcurrencySafe, presentCall, presentResult } = spec
  return {
    ...(isConcurrencySafe && { isConcurrencySafe: (args) => fits(args) && isConcurrencySafe(args as never) }),
    ...(presentCall && { presentCall: (args) => (fits(args) ? presentCall(args as never) : undefined) }),
    ...(presentResult && {
      presentResult: (args, result) => (fits(args) ? presentResult(args as never, result) : undefined),
    }),
  }
}

function defaultContent(value: JsonValue): ContentBlock[] {
  return [{ type: 'text', text: typeof value === 'string' ? value : stringifyJson(value, 2) }]
}

const OPTIONAL_CALLBACKS = [
  'projectContent',
  'finalizeContent',
  'isConcurrencySafe',
  'presentCall',
  'presentResult',
] as const satisfies readonly (keyof UntypedToolSpec)[]

/** Callbacks are checked here, since the definition has wrappers around them. */
function checkSpec(spec: UntypedToolSpec): void {
  const { name, description, execute, timeoutMs, output }: { readonly [Key in keyof UntypedToolSpec]: unknown } = spec
  if (typeof name !== 'string' || name === '')
    throw new PtcUsageError('defineTool: name must be a text that is not empty')
  const refuse = (problem: string): never => {
    throw new PtcUsageError(`defineTool(${name}): ${problem}`)
  }
  if (typeof description !== 'string') refuse('description must be a text')
  if (typeof execute !== 'function') refuse('execute must be a function')
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    refuse('timeoutMs must be a positive finite number')
  }
  for (const callback of OPTIONAL_CALLBACKS) {
    if (!isOptionalFunction(spec[callback])) refuse(`${callback} must be a function`)
  }
  if (output === undefined) return
  if (typeof output !== 'object' || output === null)
    return refuse('output must be { schema, render?, presentationMeta? }')
  for (const callback of ['render', 'presentationMeta']) {
    if (!isOptionalFunction(Reflect.get(output, callback))) refuse(`output.${callback} must be a function`)
  }
}

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function'
}
