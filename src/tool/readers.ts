/** How a typed tool reads its arguments and its value, for both kinds of schemas that an author may write. */
import { PtcUsageError, ToolArgsError, ToolOutputError } from '../errors.ts'
import { holdsExactNumber } from '../json/number.ts'
import type { JsonSchemaNode } from '../json/schema.ts'
import { toSubset } from './schema-subset.ts'
import {
  type ParameterSchemaSpec,
  parameterSchemaSpecToJsonSchema,
  validateArgs,
  validateJsonArgs,
  validateValue,
  type ValueSchemaSpec,
  valueSchemaSpecToJsonSchema,
} from './spec.ts'
import {
  isStandardSchema,
  readStandard,
  readStandardAtOnce,
  standardJsonSchema,
  type StandardToolSchema,
} from './standard-schema.ts'

/** Reads the arguments of one tool. */
export interface ArgumentReader {
  /** The JSON Schema that models are given. */
  readonly schema: Record<string, unknown>
  /** What the body gets. @throws ToolArgsError (`INVALID_ARGS`) */
  read(args: unknown): Promise<unknown>
  /** What classifier and presenters get; undefined where the arguments do not fit, or nobody knows at once. */
  readAtOnce(args: unknown): { readonly args: unknown } | undefined
  /** What the renderer gets for arguments that the body had. */
  readAgain(args: unknown): unknown
}

/** Reads the value of one tool. */
export interface ValueReader {
  /** The schema that the pipeline enforces. */
  readonly schema: JsonSchemaNode
  /** The canonical value. @throws ToolOutputError (`INVALID_TOOL_OUTPUT`) */
  read(value: unknown): Promise<unknown>
}

/** @throws JsonSchemaError or PtcUsageError for a declaration that cannot be. */
export function argumentReader(tool: string, parameters: ParameterSchemaSpec | StandardToolSchema): ArgumentReader {
  if (isStandardSchema(parameters)) return standardArguments(tool, parameters)
  const schema = parameterSchemaSpecToJsonSchema(parameters)
  return {
    schema: { ...schema },
    read: async (args) => {
      const violations = validateJsonArgs(schema, args)
      if (violations.length > 0) throw new ToolArgsError(violations)
      return args
    },
    readAtOnce: (args) => (validateArgs(schema, args).length === 0 ? { args } : undefined),
    readAgain: (args) => args,
  }
}

/** @throws JsonSchemaError or PtcUsageError for a declaration that cannot be. */
export function valueReader(
  tool: string,
  output: { readonly schema: ValueSchemaSpec | StandardToolSchema } | undefined,
): ValueReader {
  if (isStandardSchema(output?.schema)) return standardValue(tool, output.schema)
  const schema = output === undefined ? {} : valueSchemaSpecToJsonSchema(output.schema)
  return {
    schema,
    read: async (value) => {
      // The pipeline checks every value; only the numbers of the typed DSL are stricter than the raw schema.
      const problems = holdsExactNumber(value) ? validateValue(schema, value) : []
      if (problems.length > 0) throw new ToolOutputError(tool, problems)
      return value
    },
  }
}

function standardArguments(tool: string, parameters: StandardToolSchema): ArgumentReader {
  const part = `defineTool(${tool}): parameters`
  const schema = standardJsonSchema(parameters, 'input', part)
  if (schema['type'] !== 'object') throw new PtcUsageError(`${part} must be the schema of an object`)
  /** Readings by the frozen arguments that they are of. */
  const known = new WeakMap<object, { readonly args: unknown }>()
  const readAtOnce = (args: unknown): { readonly args: unknown } | undefined => {
    const reading = readStandardAtOnce(parameters, args)
    return reading === undefined || 'violations' in reading ? undefined : { args: reading.value }
  }
  return {
    schema,
    read: async (args) => {
      const reading = await readStandard(parameters, args)
      if ('violations' in reading) throw new ToolArgsError(reading.violations)
      known.set(Object(args), { args: reading.value })
      return reading.value
    },
    readAtOnce,
    // A policy may have answered in place of the body.
    readAgain: (args) => (known.get(Object(args)) ?? readAtOnce(args) ?? { args }).args,
  }
}

function standardValue(tool: string, declared: StandardToolSchema): ValueReader {
  return {
    schema: toSubset(standardJsonSchema(declared, 'output', `defineTool(${tool}): output.schema`)),
    read: async (value) => {
      const reading = await readStandard(declared, value)
      if ('violations' in reading) throw new ToolOutputError(tool, reading.violations)
      return reading.value
    },
  }
}
