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
  type ObjectJsonSchema,
  type PostToolDecision,
  type PreToolDecision,
  type ResolvedToolSet,
  type ToolBatchInput,
  type ToolBatchResult,
  type ToolCallBlock,
  type ToolErrorInfo,
  type ToolExecution,
  type ToolExecutionInput,
  type ToolExecutionMode,
  type ToolExecutionResult,
  type ToolExecutionToken,
  type ToolExecutor,
  type ToolFailure,
  type ToolGuard,
  type ToolModelInput,
  type ToolOutputDefinition,
  type ToolPromptSection,
  type ToolRestriction,
  type ToolSchema,
  type UserMessage,
  type ValueSchemaSpec,
} from '../src/index.ts'

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
  })
})

describe('the types of the contract', () => {
  it('of schemas and results are these', () => {
    expectTypeOf<JsonSchemaScalar>().toEqualTypeOf<string | number | boolean | null>()
    expectTypeOf<JsonSchemaType>().toEqualTypeOf<
      'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
    >()
    expectTypeOf<ObjectJsonSchema>().toEqualTypeOf<JsonSchemaNode & { type: 'object' }>()
    expectTypeOf<ToolErrorInfo>().toEqualTypeOf<{ name: string; code: string; reason?: string }>()
    expectTypeOf<ToolFailure>().toEqualTypeOf<{ message: string; info?: ToolErrorInfo }>()
    expectTypeOf<ToolExecutionMode>().toEqualTypeOf<{ kind: 'parallel' } | { kind: 'exclusive' }>()
    expectTypeOf<Extract<ToolExecutionResult, { isError: false }>['value']>().toEqualTypeOf<JsonValue>()
    expectTypeOf<Extract<ToolExecutionResult, { isError: true }>['error']>().toEqualTypeOf<ToolFailure>()
    expectTypeOf<ToolOutputDefinition['render']>().toEqualTypeOf<(args: unknown, value: JsonValue) => ContentBlock[]>()
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
    expectTypeOf<ReturnType<ToolGuard>>().toEqualTypeOf<
      string | { readonly reason: string; readonly info?: ToolErrorInfo } | undefined
    >()
  })

  it('of calls and batches are these', () => {
    expectTypeOf<ToolExecutionInput>().toEqualTypeOf<{
      readonly callId: string
      readonly rootCallId?: string
      readonly name: string
      readonly schema?: ToolSchema
      readonly arguments: unknown
      readonly agent?: Agent
      readonly toolSet?: ResolvedToolSet
      readonly parent?: ToolExecutionToken
      readonly signal: AbortSignal
    }>()
    expectTypeOf<ToolExecution['token']>().toEqualTypeOf<ToolExecutionToken>()
    expectTypeOf<ToolBatchInput>().toEqualTypeOf<{
      readonly calls: readonly ToolCallBlock[]
      readonly signal: AbortSignal
      readonly maxParallelToolCalls?: number
      readonly agent?: Agent
      readonly toolSet?: ResolvedToolSet
      readonly log?: { readonly turn: number; readonly step: number }
    }>()
    expectTypeOf<ToolBatchResult>().toEqualTypeOf<{
      readonly results: readonly { readonly callId: string; readonly result: ToolExecutionResult }[]
      readonly additionalContexts: readonly UserMessage[]
      readonly concluded: boolean
    }>()
    expectTypeOf<ToolExecutor>().toEqualTypeOf<{
      readonly sections?: readonly ToolPromptSection[]
      describe(tools: Parameters<ToolExecutor['describe']>[0]): ToolModelInput
      execute(input: ToolBatchInput): Promise<ToolBatchResult>
    }>()
    expectTypeOf<ToolRestriction>().toEqualTypeOf<{
      readonly allow?: readonly string[]
      readonly deny?: readonly string[]
    }>()
  })
})
