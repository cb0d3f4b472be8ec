/** TypeScript types of the values that a schema spec accepts. */
import type { LosslessNumber } from 'lossless-json'
import type { JsonValue } from '../json/value.ts'
import type { ValueSchemaSpec } from './spec.ts'

/** Container levels that are inferred exactly; deeper ones are `JsonValue`. */
type MaxLevels = 16

/** The value that a value schema spec accepts: exact through 16 container levels, then `JsonValue`. */
export type InferValue<S> = InferValueAt<S, []>

/** The argument object that a parameter schema spec accepts. */
export type InferArgs<S> = InferProperties<S, []>

/** A spec that is not known any closer than "some spec" accepts some JSON value; its own recursion would never end. */
type InferValueAt<S, Levels extends readonly unknown[]> = [ValueSchemaSpec] extends [S]
  ? JsonValue
  : InferKnown<S, Levels>

type InferKnown<S, Levels extends readonly unknown[]> = S extends { readonly oneOf: readonly (infer Branch)[] }
  ? Branch extends unknown
    ? InferValueAt<Branch, Levels>
    : never
  : S extends { readonly type: 'string' }
    ? Literal<S, string>
    : S extends { readonly type: 'number' }
      ? Literal<S, S extends { readonly exact: true } ? number | bigint | LosslessNumber : number>
      : S extends { readonly type: 'integer' }
        ? Literal<S, S extends { readonly exact: true } ? number | bigint : number>
        : S extends { readonly type: 'boolean' }
          ? Literal<S, boolean>
          : S extends { readonly type: 'null' }
            ? null
            : InferContainer<S, Levels>

type InferContainer<S, Levels extends readonly unknown[]> = Levels['length'] extends MaxLevels
  ? JsonValue
  : S extends { readonly type: 'array'; readonly items: infer Items }
    ? InferValueAt<Items, [...Levels, 0]>[]
    : S extends { readonly type: 'array' }
      ? JsonValue[]
      : S extends { readonly type: 'object' }
        ? InferObject<S, [...Levels, 0]>
        : JsonValue

type InferObject<S, Levels extends readonly unknown[]> = S extends { readonly properties: infer Properties }
  ? S extends { readonly additionalProperties: false }
    ? InferProperties<Properties, Levels>
    : InferProperties<Properties, Levels> & Record<string, JsonValue>
  : S extends { readonly additionalProperties: false }
    ? Record<string, never>
    : Record<string, JsonValue>

/** Properties whose names are not known accept any; following their specs would never end. */
type InferProperties<S, Levels extends readonly unknown[]> = string extends keyof S
  ? Record<string, JsonValue>
  : InferNamed<S, Levels>

type InferNamed<S, Levels extends readonly unknown[]> = Flat<
  {
    -readonly [Key in keyof S as S[Key] extends { readonly required: true } ? Key : never]: InferValueAt<S[Key], Levels>
  } & {
    -readonly [Key in keyof S as S[Key] extends { readonly required: true } ? never : Key]?: InferValueAt<
      S[Key],
      Levels
    >
  }
>

type Literal<S, Widened> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Widened

type Flat<T> = { [Key in keyof T]: T[Key] }
