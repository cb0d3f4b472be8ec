/** Typed tools: one declaration gives the schema, the validation and the types of the body. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { PtcUsageError } from '../errors.ts'
import { stringifyJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'
import type { ContentBlock } from './content.ts'
import type { ToolDefinition, ToolRunContext } from './definition.ts'
import type { InferArgs, InferValue } from './infer.ts'
import type { ToolResult } from './outcome.ts'
import { type ArgumentReader, argumentReader, valueReader } from './readers.ts'
import type { ParameterSchemaSpec, ValueSchemaSpec } from './spec.ts'
import type { StandardToolSchema } from './standard-schema.ts'
import type { ToolCallView, ToolResultView } from './view.ts'

/** What a body gets: what the DSL's parameters accept, or what another library's schema makes of the arguments. */
export type ToolArgs<Parameters> =
  Parameters extends StandardSchemaV1<unknown, infer Args> ? Args : InferArgs<Parameters>

/** What a body returns. */
export type ToolReturn<Output> = Output extends StandardSchemaV1<infer Value, unknown> ? Value : InferValue<Output>

/** What a renderer gets: the canonical value. */
export type ToolValue<Output> = Output extends StandardSchemaV1<unknown, infer Value> ? Value : InferValue<Output>

/**
 * What {@link defineTool} takes; what is not named here passes through to the ToolDefinition.
 * The type parameters have no bounds: bounds that are recursive unions make inference run away.
 */
export interface ToolSpec<Parameters, Output> extends Pick<
  ToolDefinition,
  'projectContent' | 'finalizeContent' | 'timeoutMs' | 'allowedCallers'
> {
  readonly name: string
  readonly description: string
  /** The DSL, or the schema of an object from a library with Standard Schema and Standard JSON Schema. */
  readonly parameters: Parameters & (ParameterSchemaSpec | StandardToolSchema)
  /** Absent: the value may be whatever JSON there is. */
  readonly output?: {
    /** The DSL, or such a schema; of one, what it makes of the returned value is the value. */
    readonly schema: Output & (ValueSchemaSpec | StandardToolSchema)
    /** Default: a text as it is, any other value as indented JSON. */
    readonly render?: (args: ToolArgs<Parameters>, value: ToolValue<Output>) => ContentBlock[]
    readonly presentationMeta?: (args: ToolArgs<Parameters>, value: ToolValue<Output>) => JsonValue
  }
  readonly execute: (
    args: ToolArgs<Parameters>,
    exec: ToolRunContext,
  ) => ToolReturn<Output> | Promise<ToolReturn<Output>>
  readonly isConcurrencySafe?: (args: ToolArgs<Parameters>) => boolean
  readonly presentCall?: (args: ToolArgs<Parameters>) => ToolCallView | undefined
  readonly presentResult?: (args: ToolArgs<Parameters>, result: ToolResult) => ToolResultView | undefined
}

interface UntypedOutput {
  readonly schema: ValueSchemaSpec | StandardToolSchema
  readonly render?: (args: never, value: never) => ContentBlock[]
  readonly presentationMeta?: (args: never, value: never) => JsonValue
}

/** The same without its type parameters: what validation accepts is what they infer, which the compiler cannot know. */
interface UntypedToolSpec extends Pick<
  ToolDefinition,
  'projectContent' | 'finalizeContent' | 'timeoutMs' | 'allowedCallers'
> {
  readonly name: string
  readonly description: string
  readonly parameters: ParameterSchemaSpec | StandardToolSchema
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
  const { name, description, output, timeoutMs, allowedCallers, projectContent, finalizeContent } = spec
  const reader = argumentReader(name, spec.parameters)
  const values = valueReader(name, output)
  const { render, presentationMeta } = output ?? {}
  return {
    name,
    description,
    parameters: reader.schema,
    output: {
      schema: values.schema,
      render: (args, value) =>
        render === undefined ? defaultContent(value) : render(reader.readAgain(args) as never, value as never),
      ...(presentationMeta && {
        presentationMeta: (args, value) => presentationMeta(reader.readAgain(args) as never, value as never),
      }),
    },
    execute: async (args, exec) => values.read(await spec.execute((await reader.read(args)) as never, exec)),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(allowedCallers && { allowedCallers }),
    ...(projectContent && { projectContent }),
    ...(finalizeContent && { finalizeContent }),
    ...softCallbacks(spec, reader),
  }
}

type SoftCallbacks = Pick<ToolDefinition, 'isConcurrencySafe' | 'presentCall' | 'presentResult'>

/** Classifier and presenters never throw for arguments that do not fit: they answer no, or nothing. */
function softCallbacks(spec: UntypedToolSpec, reader: ArgumentReader): SoftCallbacks {
  const { isConcurrencySafe, presentCall, presentResult } = spec
  const fitting = <Result>(args: unknown, call: (args: never) => Result): Result | undefined => {
    const reading = reader.readAtOnce(args)
    return reading === undefined ? undefined : call(reading.args as never)
  }
  return {
    ...(isConcurrencySafe && { isConcurrencySafe: (args) => fitting(args, isConcurrencySafe) ?? false }),
    ...(presentCall && { presentCall: (args) => fitting(args, presentCall) }),
    ...(presentResult && {
      presentResult: (args, result) => fitting(args, (typed) => presentResult(typed, result)),
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
