/** Schemas of other libraries (zod, arktype, valibot …), taken through Standard Schema and Standard JSON Schema. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { messageOf, PtcUsageError } from '../errors.ts'

/** A schema that validates by itself and can say what it accepts as JSON Schema. */
export type StandardToolSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>

/** What the schema makes of a value, or what is wrong with the value. */
export type StandardReading = { readonly value: unknown } | { readonly violations: readonly string[] }

/** Whether a value is such a schema; a map of parameters that has a `~standard` of its own is not. */
export function isStandardSchema(schema: unknown): schema is StandardToolSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  const standard: unknown = Reflect.get(schema, '~standard')
  if (typeof standard !== 'object' || standard === null) return false
  return Reflect.get(standard, 'version') === 1 && typeof Reflect.get(standard, 'validate') === 'function'
}

/**
 * The JSON Schema of what goes in or comes out.
 * @param part whose schema it is, for messages.
 * @throws PtcUsageError when the library cannot tell.
 */
export function standardJsonSchema(
  schema: StandardToolSchema,
  side: 'input' | 'output',
  part: string,
): Record<string, unknown> {
  const { vendor, jsonSchema }: Partial<StandardToolSchema['~standard']> = schema['~standard']
  if (typeof jsonSchema?.[side] !== 'function') {
    const known = 'zod 4.2, arktype 2.1.28, valibot through toStandardJsonSchema of @valibot/to-json-schema'
    throw new PtcUsageError(
      `${part}: this schema of ${vendor} cannot say its JSON Schema; take one that can (${known})`,
    )
  }
  try {
    const { $schema: _dialect, ...rest } = jsonSchema[side]({ target: 'draft-2020-12' })
    return rest
  } catch (cause) {
    throw new PtcUsageError(`${part}: ${vendor} cannot write the JSON Schema: ${messageOf(cause)}`, { cause })
  }
}

/** Validates, and takes what the schema makes of the value: defaults, coercions, transforms. */
export async function readStandard(schema: StandardToolSchema, value: unknown): Promise<StandardReading> {
  return readingOf(await schema['~standard'].validate(value))
}

/** The same where nobody can wait; undefined for a schema that validates asynchronously, and for one that throws. */
export function readStandardAtOnce(schema: StandardToolSchema, value: unknown): StandardReading | undefined {
  try {
    const result = schema['~standard'].validate(value)
    if (!(result instanceof Promise)) return readingOf(result)
    result.catch(() => undefined)
    return undefined
  } catch {
    return undefined
  }
}

function readingOf(result: StandardSchemaV1.Result<unknown>): StandardReading {
  return result.issues === undefined ? { value: result.value } : { violations: result.issues.map(violationOf) }
}

function violationOf({ message, path = [] }: StandardSchemaV1.Issue): string {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
  const place = keys.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text === '' ? '' : '.'}${String(key)}`),
    '',
  )
  return place === '' ? message : `"${place}": ${message}`
}
