/** What a definition must be before it is registered. */
import { messageOf, PtcUsageError } from '../errors.ts'
import { isPlainRecord } from '../json/plain.ts'
import { assertSupportedJsonSchema } from '../json/schema.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'

const OPTIONAL_CALLBACKS = [
  'projectContent',
  'finalizeContent',
  'isConcurrencySafe',
  'presentCall',
  'presentResult',
] as const satisfies readonly (keyof ToolDefinition)[]

/**
 * Refuses a definition that cannot be called later.
 * @throws PtcUsageError, or JsonSchemaError (`UNSUPPORTED_SCHEMA`) for its output schema.
 */
export function checkDefinition(definition: ToolDefinition): void {
  const given: unknown = definition
  if (typeof given !== 'object' || given === null) {
    throw new PtcUsageError(
      `a tool definition was expected, ${given === null ? 'null' : typeof given} came; see defineTool`,
    )
  }
  const { name, description, parameters, output, execute, timeoutMs } = definition
  if (typeof name !== 'string' || name === '') throw new PtcUsageError('a tool needs a name: a text that is not empty')
  if (typeof description !== 'string') throw new PtcUsageError(`tool "${name}" needs a description: a text`)
  if (typeof execute !== 'function') throw new PtcUsageError(`tool "${name}" needs execute: a function`)
  for (const callback of OPTIONAL_CALLBACKS) {
    if (!isOptionalFunction(definition[callback]))
      throw new PtcUsageError(`tool "${name}" ${callback} must be a function`)
  }
  if (typeof output?.render !== 'function' || !isOptionalFunction(output.presentationMeta)) {
    throw new PtcUsageError(`tool "${name}" must declare output { schema, render, presentationMeta? }`)
  }
  assertSupportedJsonSchema(output.schema)
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new PtcUsageError(`tool "${name}" timeoutMs must be a positive finite number`)
  }
  checkCallers(name, definition.allowedCallers)
  checkParameters(name, parameters)
  if (name === RUN_CODE_NAME) {
    const message = `tool "${name}" is reserved for the PTC mode presentation transport and cannot be registered or shadowed`
    throw new PtcUsageError(`${message}; choose another name`)
  }
}

function checkCallers(name: string, callers: unknown): void {
  if (callers === undefined) return
  const isKnown = (caller: unknown): boolean => caller === 'direct' || caller === 'program'
  if (Array.isArray(callers) && callers.length > 0 && callers.every(isKnown)) return
  throw new PtcUsageError(`tool "${name}" allowedCallers must be an array of 'direct' and 'program', at least one`)
}

function checkParameters(name: string, parameters: unknown): void {
  if (!isPlainRecord(parameters)) throw new PtcUsageError(`tool "${name}" needs parameters: a JSON Schema object`)
  try {
    snapshotJson(parameters)
  } catch (cause) {
    throw new PtcUsageError(`tool "${name}" parameters must be lossless JSON: ${messageOf(cause)}`, { cause })
  }
}

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function'
}
