import type { LosslessNumber } from 'lossless-json'
import { describe, expectTypeOf, it } from 'vitest'
import {
  type Agent,
  type ContentBlock,
  defineTool,
  type InferArgs,
  type InferValue,
  type JsonSchemaNode,
  type JsonSchemaScalar,
  type JsonSchemaType,
  type JsonValue,
  type ModelSelection,
  type ObjectJsonSchema,
  type ParameterSchemaSpec,
  type PostToolDecision,
  type PreToolDecision,
  type PtcDispatchLog,
  type ResolvedToolSet,
  type ScopeKey,
  type ToolActivationContext,
  type ToolBatchInput,
  type ToolBatchResult,
  type ToolCallBlock,
  type ToolCallId,
  type ToolCallResult,
  type ToolCallView,
  type ToolCaller,
  type ToolDefinition,
  type ToolDispatchExecution,
  type ToolErrorInfo,
  type ToolExecution,
  type ToolExecutionFailure,
  type ToolExecutionInput,
  type ToolExecutionMode,
  type ToolExecutionResult,
  type ToolExecutionSuccess,
  type ToolExecutionToken,
  type ToolExecutor,
  type ToolFailure,
  type ToolGuard,
  type ToolGuardDenial,
  type ToolModelInput,
  type ToolOutputDefinition,
  type ToolPromptSection,
  type ToolRegistrationOptions,
  type ToolRestriction,
  type ToolResult,
  type ToolResultView,
  type ToolRunContext,
  type ToolSchema,
  type UserMessage,
  type ValueSchemaSpec,
} from '../src/index.ts'
import type {
  ArrayValueSchemaSpec,
  BooleanValueSchemaSpec,
  IntegerValueSchemaSpec,
  JsonValueSchemaSpec,
  NullValueSchemaSpec,
  NumberValueSchemaSpec,
  ObjectValueSchemaSpec,
  OneOfValueSchemaSpec,
  ParameterPropertySpec,
  StringValueSchemaSpec,
} from '../src/tool/spec.ts'

describe('a value schema spec', () => {
  it('infers scalars, literals and exact numbers', () => {
    expectTypeOf<InferValue<{ type: 'string' }>>().toEqualTypeOf<string>()
    expectTypeOf<InferValue<{ type: 'integer' }>>().toEqualTypeOf<number>()
    expectTypeOf<InferValue<{ type: 'integer'; exact: true }>>().toEqualTypeOf<number | bigint>()
    expectTypeOf<InferValue<{ type: 'number'; exact: true }>>().toEqualTypeOf<number | bigint | LosslessNumber>()
    expectTypeOf<InferValue<{ type: 'boolean' }>>().toEqualTypeOf<boolean>()
    expectTypeOf<InferValue<{ type: 'null' }>>().toEqualTypeOf<null>()
    expectTypeOf<InferValue<{ type: 'json' }>>().toEqualTypeOf<JsonValue>()
    expectTypeOf<InferValue<{ type: 'string'; enum: readonly ['a', 'b'] }>>().toEqualTypeOf<'a' | 'b'>()
    expectTypeOf<InferValue<{ type: 'integer'; const: 7 }>>().toEqualTypeOf<7>()
    expectTypeOf<InferValue<{ type: 'boolean'; const: true }>>().toEqualTypeOf<true>()
    expectTypeOf<InferValue<{ type: 'string'; enum: readonly ['a', 'b']; const: 'a' }>>().toEqualTypeOf<'a'>()
    expectTypeOf<InferValue<{ type: 'number'; enum: readonly [1, 2.5]; exact: true }>>().toEqualTypeOf<1 | 2.5>()
    expectTypeOf<InferValue<{ type: 'string'; description: 'D'; default: 'x' }>>().toEqualTypeOf<string>()
  })

  it('infers containers and their openness', () => {
    expectTypeOf<InferValue<{ type: 'array' }>>().toEqualTypeOf<JsonValue[]>()
    expectTypeOf<InferValue<{ type: 'array'; items: { type: 'string' } }>>().toEqualTypeOf<string[]>()
    expectTypeOf<InferValue<{ type: 'object'; additionalProperties: true }>>().toEqualTypeOf<
      Record<string, JsonValue>
    >()
    expectTypeOf<InferValue<{ type: 'object'; additionalProperties: false }>>().toEqualTypeOf<Record<string, never>>()
    type Closed = {
      type: 'object'
      additionalProperties: false
      properties: { a: { type: 'string'; required: true }; b: { type: 'null' } }
    }
    expectTypeOf<InferValue<Closed>>().toEqualTypeOf<{ a: string; b?: null }>()
    type Open = { type: 'object'; additionalProperties: true; properties: Closed['properties'] }
    type Opened = { a: string; b?: null } & Record<string, JsonValue>
    expectTypeOf<InferValue<Open>>().toEqualTypeOf<Opened>()
    expectTypeOf<InferValue<{ type: 'array'; items: { type: 'array'; items: Closed } }>>().toEqualTypeOf<
      { a: string; b?: null }[][]
    >()
    expectTypeOf<
      InferValue<{ type: 'array'; items: { oneOf: readonly [{ type: 'null' }, { type: 'boolean' }] } }>
    >().toEqualTypeOf<(null | boolean)[]>()
    expectTypeOf<InferValue<{ oneOf: readonly [{ type: 'string' }, Closed] }>>().toEqualTypeOf<
      string | { a: string; b?: null }
    >()
  })

  it('that is known as some spec only infers some JSON value', () => {
    expectTypeOf<InferValue<ValueSchemaSpec>>().toEqualTypeOf<JsonValue>()
  })

  it('is exact through 16 container levels', () => {
    type Deep<Levels extends readonly unknown[]> = Levels extends readonly [unknown, ...infer Rest]
      ? { type: 'array'; items: Deep<Rest> }
      : { type: 'string' }
    type Sixteen = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    type Unwrap<Value, Levels extends readonly unknown[]> = Levels extends readonly [unknown, ...infer Rest]
      ? Value extends (infer Item)[]
        ? Unwrap<Item, Rest>
        : 'no array'
      : Value
    expectTypeOf<Unwrap<InferValue<Deep<Sixteen>>, Sixteen>>().toEqualTypeOf<string>()
    expectTypeOf<Unwrap<InferValue<Deep<[0, ...Sixteen]>>, Sixteen>>().toEqualTypeOf<JsonValue>()
  })

  it('counts objects as levels, and the properties of parameters as none', () => {
    type Boxed<Levels extends readonly unknown[]> = Levels extends readonly [unknown, ...infer Rest]
      ? { type: 'object'; additionalProperties: false; properties: { a: Boxed<Rest> & { required: true } } }
      : { type: 'null' }
    type Open<Value, Levels extends readonly unknown[]> = Levels extends readonly [unknown, ...infer Rest]
      ? Value extends { a: infer Inner }
        ? Open<Inner, Rest>
        : 'no object'
      : Value
    type Sixteen = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    expectTypeOf<Open<InferValue<Boxed<Sixteen>>, Sixteen>>().toEqualTypeOf<null>()
    expectTypeOf<Open<InferValue<Boxed<[0, ...Sixteen]>>, Sixteen>>().toEqualTypeOf<JsonValue>()
    type Args = InferArgs<{ a: Boxed<Sixteen> & { required: true } }>
    expectTypeOf<Open<Args, [0, ...Sixteen]>>().toEqualTypeOf<null>()
  })

  it('does not spend a level on branches', () => {
    type Either<Levels extends readonly unknown[]> = Levels extends readonly [unknown, ...infer Rest]
      ? { oneOf: readonly [Either<Rest>, { type: 'null' }] }
      : { type: 'string' }
    type Twenty = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    expectTypeOf<InferValue<Either<Twenty>>>().toEqualTypeOf<string | null>()
  })
})

describe('defineTool', () => {
  it('types arguments, value and renderer', () => {
    defineTool({
      name: 'tool',
      description: 'A tool.',
      parameters: { city: { type: 'string', required: true }, units: { type: 'string', enum: ['c', 'f'] } },
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: { degrees: { type: 'number', required: true } },
        },
        render: (args, value) => {
          expectTypeOf(args).toEqualTypeOf<{ city: string; units?: 'c' | 'f' }>()
          expectTypeOf(value).toEqualTypeOf<{ degrees: number }>()
          return []
        },
      },
      execute: async ({ city, units }) => {
        expectTypeOf(city).toEqualTypeOf<string>()
        expectTypeOf(units).toEqualTypeOf<'c' | 'f' | undefined>()
        return { degrees: 7 }
      },
    })
  })

  it('refuses a body that returns something else, and a spec that is none', () => {
    defineTool({
      name: 't',
      description: '',
      parameters: {},
      output: { schema: { type: 'integer' } },
      // @ts-expect-error the value is declared as an integer
      execute: async () => 'seven',
    })
    defineTool({
      name: 't',
      description: '',
      // @ts-expect-error there is no such type
      parameters: { a: { type: 'text' } },
      execute: async () => null,
    })
    defineTool({
      name: 't',
      description: '',
      parameters: {},
      // @ts-expect-error a Date is not JSON
      execute: async () => new Date(),
    })
  })

  it('infers required and optional keys', () => {
    type Args = InferArgs<{ a: { type: 'string'; required: true }; b: { type: 'array'; items: { type: 'integer' } } }>
    expectTypeOf<Args>().toEqualTypeOf<{ a: string; b?: number[] }>()
    expectTypeOf<keyof InferArgs<Record<never, never>>>().toEqualTypeOf<never>()
    expectTypeOf<InferArgs<ParameterSchemaSpec>>().toEqualTypeOf<Record<string, JsonValue>>()
  })
})

describe('the types of the contract', () => {
  it('of tools are these', () => {
    expectTypeOf<ToolOutputDefinition>().toEqualTypeOf<{
      readonly schema: JsonSchemaNode
      render(args: unknown, value: JsonValue): ContentBlock[]
      presentationMeta?(args: unknown, value: JsonValue): JsonValue
    }>()
    // Wider by one optional field: who may call the tool.
    expectTypeOf<ToolDefinition['allowedCallers']>().toEqualTypeOf<readonly ToolCaller[] | undefined>()
    expectTypeOf<Omit<ToolDefinition, 'allowedCallers'>>().toEqualTypeOf<{
      readonly name: string
      readonly description: string
      readonly parameters: Readonly<Record<string, unknown>>
      readonly output: ToolOutputDefinition
      execute(args: unknown, exec: ToolRunContext): Promise<unknown>
      projectContent?(exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): ContentBlock[] | undefined
      finalizeContent?(exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): ContentBlock[] | undefined
      timeoutMs?: number
      isConcurrencySafe?(args: unknown): boolean
      presentCall?(args: unknown): ToolCallView | undefined
      presentResult?(args: unknown, result: ToolResult): ToolResultView | undefined
    }>()
    expectTypeOf<ToolDefinition>().toExtend<ToolSchema>()
  })

  it('of authors are these', () => {
    expectTypeOf<ValueSchemaSpec>().toEqualTypeOf<
      | StringValueSchemaSpec
      | NumberValueSchemaSpec
      | IntegerValueSchemaSpec
      | BooleanValueSchemaSpec
      | NullValueSchemaSpec
      | ArrayValueSchemaSpec
      | ObjectValueSchemaSpec
      | JsonValueSchemaSpec
      | OneOfValueSchemaSpec
    >()
    type Property = ValueSchemaSpec & { required?: true }
    expectTypeOf<Property>().toExtend<ParameterPropertySpec>()
    expectTypeOf<ParameterPropertySpec>().toExtend<Property>()
    type Properties = { [key: string]: ParameterPropertySpec; [key: symbol]: never }
    expectTypeOf<Properties>().toExtend<ParameterSchemaSpec>()
    expectTypeOf<ParameterSchemaSpec>().toExtend<Properties>()
  })

  it('of schemas are these', () => {
    expectTypeOf<JsonSchemaScalar>().toEqualTypeOf<string | number | boolean | null>()
    expectTypeOf<JsonSchemaType>().toEqualTypeOf<
      'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
    >()
    expectTypeOf<JsonSchemaNode>().toEqualTypeOf<{
      type?: JsonSchemaType
      oneOf?: JsonSchemaNode[]
      properties?: Record<string, JsonSchemaNode>
      required?: string[]
      additionalProperties?: boolean
      items?: JsonSchemaNode
      enum?: JsonSchemaScalar[]
      const?: JsonSchemaScalar
      description?: string
      title?: string
      default?: JsonValue
      examples?: JsonValue
    }>()
    expectTypeOf<ObjectJsonSchema>().toEqualTypeOf<JsonSchemaNode & { type: 'object' }>()
  })

  it('of outcomes are these', () => {
    expectTypeOf<ToolErrorInfo>().toEqualTypeOf<{ name: string; code: string; reason?: string }>()
    expectTypeOf<ToolFailure>().toEqualTypeOf<{ message: string; info?: ToolErrorInfo }>()
    expectTypeOf<ToolExecutionSuccess>().toEqualTypeOf<{
      readonly isError: false
      readonly value: JsonValue
      readonly content: ContentBlock[]
      readonly error?: never
      readonly meta?: JsonValue
      readonly additionalContexts?: UserMessage[]
      readonly concludesTurn?: true
    }>()
    expectTypeOf<ToolExecutionFailure>().toEqualTypeOf<{
      readonly isError: true
      readonly error: ToolFailure
      readonly value?: never
      readonly content: ContentBlock[]
      readonly meta?: JsonValue
      readonly additionalContexts?: UserMessage[]
      readonly concludesTurn?: never
    }>()
    expectTypeOf<ToolExecutionResult>().toEqualTypeOf<ToolExecutionSuccess | ToolExecutionFailure>()
    expectTypeOf<Extract<ToolExecutionResult, { isError: false }>>().toEqualTypeOf<ToolExecutionSuccess>()
  })

  it('of decisions are these', () => {
    type Ask = {
      kind: 'ask'
      reason?: string
      displayReason?: { readonly en: string; readonly [locale: string]: string }
    }
    expectTypeOf<PreToolDecision>().toEqualTypeOf<
      { kind: 'allow' } | { kind: 'deny'; reason: string; info?: ToolErrorInfo } | { kind: 'cancel' } | Ask
    >()
    expectTypeOf<PostToolDecision>().toEqualTypeOf<
      | { kind: 'accept'; content?: ContentBlock[]; value?: never; additionalContexts?: UserMessage[] }
      | { kind: 'accept'; value: JsonValue; content?: never; additionalContexts?: UserMessage[] }
      | { kind: 'block'; feedback: ContentBlock[]; info?: ToolErrorInfo; additionalContexts?: UserMessage[] }
    >()
    expectTypeOf<ToolGuardDenial>().toEqualTypeOf<{ readonly reason: string; readonly info?: ToolErrorInfo }>()
    expectTypeOf<ToolGuard>().toEqualTypeOf<
      (execution: Readonly<ToolExecution>) => string | ToolGuardDenial | undefined
    >()
  })

  it('of scopes and steps are these', () => {
    expectTypeOf<ToolRestriction>().toEqualTypeOf<{
      readonly allow?: readonly string[]
      readonly deny?: readonly string[]
    }>()
    expectTypeOf<ToolActivationContext>().toEqualTypeOf<{
      readonly agent: Agent
      readonly modelSelection: Readonly<ModelSelection>
      readonly signal: AbortSignal
    }>()
    expectTypeOf<ToolRegistrationOptions>().toEqualTypeOf<{
      readonly when?: (context: ToolActivationContext) => boolean | Promise<boolean>
    }>()
    expectTypeOf<ResolvedToolSet>().toEqualTypeOf<{
      dispose(): void
      view(scope: ScopeKey | undefined): ReadonlyMap<string, ToolDefinition>
    }>()
  })

  it('of calls are these', () => {
    type Input = {
      readonly callId: ToolCallId
      readonly rootCallId?: ToolCallId
      readonly name: string
      readonly schema?: ToolSchema
      readonly arguments: unknown
      readonly agent?: Agent
      readonly toolSet?: ResolvedToolSet
      readonly parent?: ToolExecutionToken
      readonly signal: AbortSignal
    }
    type Execution = Omit<Input, 'rootCallId'> & { readonly rootCallId: ToolCallId; readonly token: ToolExecutionToken }
    type Merged<Value> = { [Key in keyof Value]: Value[Key] }
    expectTypeOf<ToolExecutionInput>().toEqualTypeOf<Input>()
    expectTypeOf<Merged<ToolExecution>>().toEqualTypeOf<Merged<Execution>>()
    expectTypeOf<Merged<ToolRunContext>>().toEqualTypeOf<
      Merged<Execution & { deferContext(context: UserMessage): void; concludeTurn(): void }>
    >()
    expectTypeOf<Merged<ToolDispatchExecution>>().toEqualTypeOf<
      Merged<Omit<Execution, 'signal'> & { signal: AbortSignal }>
    >()
    expectTypeOf<ToolExecutionToken>().toExtend<symbol>()
    expectTypeOf<symbol>().not.toExtend<ToolExecutionToken>()
    expectTypeOf<ToolExecutionMode>().toEqualTypeOf<{ kind: 'parallel' } | { kind: 'exclusive' }>()
    expectTypeOf<PtcDispatchLog>().toEqualTypeOf<{
      readonly exec: ToolExecution
      readonly agent?: Agent
      readonly subCallId: ToolCallId
      readonly name: string
      readonly isError: boolean
      readonly content: ContentBlock[]
    }>()
  })

  it('of batches are these', () => {
    expectTypeOf<ToolBatchInput>().toEqualTypeOf<{
      readonly calls: readonly ToolCallBlock[]
      readonly signal: AbortSignal
      readonly maxParallelToolCalls?: number
      readonly agent?: Agent
      readonly toolSet?: ResolvedToolSet
      readonly log?: { readonly turn: number; readonly step: number }
    }>()
    expectTypeOf<ToolCallResult>().toEqualTypeOf<{
      readonly callId: ToolCallId
      readonly result: ToolExecutionResult
    }>()
    expectTypeOf<ToolBatchResult>().toEqualTypeOf<{
      readonly results: readonly ToolCallResult[]
      readonly additionalContexts: readonly UserMessage[]
      readonly concluded: boolean
    }>()
    expectTypeOf<ToolModelInput>().toEqualTypeOf<{
      readonly schemas: readonly ToolSchema[]
      readonly knownNames: readonly string[]
    }>()
    // Wider by one optional method: sections that depend on the tools.
    expectTypeOf<ToolExecutor['sectionsFor']>().toEqualTypeOf<
      ((tools: readonly ToolDefinition[]) => readonly ToolPromptSection[]) | undefined
    >()
    expectTypeOf<Omit<ToolExecutor, 'sectionsFor'>>().toEqualTypeOf<{
      readonly sections?: readonly ToolPromptSection[]
      describe(tools: readonly ToolDefinition[]): ToolModelInput
      execute(input: ToolBatchInput): Promise<ToolBatchResult>
    }>()
  })
})
