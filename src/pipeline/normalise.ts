/** From whatever a body returned to a canonical success: JSON, valid, frozen, rendered. */
import { messageOf, ToolOutputError } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { snapshotJson } from '../json/snapshot.ts'
import { validateJsonSchemaValue } from '../json/validate.ts'
import type { JsonValue } from '../json/value.ts'
import type { ContentBlock } from '../tool/content.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { ToolExecutionSuccess } from '../tool/outcome.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'

/**
 * Makes the success of one value.
 * @throws ToolOutputError (`INVALID_TOOL_OUTPUT`) when the value, the renderer or the projector broke the declaration.
 */
export function normaliseSuccess(definition: ToolDefinition, args: unknown, returned: unknown): ToolExecutionSuccess {
  const { name, output } = definition
  const value = attempt(name, 'value is not lossless JSON', () => snapshotJson(returned))
  const violations = validateJsonSchemaValue(output.schema, value, { isKnownJson: true })
  if (violations.length > 0) throw new ToolOutputError(name, violations)
  deepFreeze(value)
  const rendered = attempt(name, 'output.render failed', () => settledAtOnce(output.render(args, value)))
  const content = attempt(name, 'output.render returned non-lossless JSON', () => asContent(snapshotJson(rendered)))
  const meta = presentationMeta(definition, args, value)
  return { isError: false, value, content, ...(meta === undefined ? {} : { meta }) }
}

function presentationMeta({ name, output }: ToolDefinition, args: unknown, value: JsonValue): JsonValue | undefined {
  if (output.presentationMeta === undefined) return undefined
  const projected = attempt(name, 'output.presentationMeta failed', () =>
    settledAtOnce(output.presentationMeta?.(args, value)),
  )
  return attempt(name, 'output.presentationMeta returned non-lossless JSON', () => snapshotJson(projected))
}

/** A detached copy of what a result shows beside its value. @throws TypeError when it is not JSON. */
export function durableCopy(value: unknown): JsonValue {
  try {
    return snapshotJson(value)
  } catch (cause) {
    throw new TypeError(`tool result must be losslessly JSON-serializable: ${messageOf(cause)}`, { cause })
  }
}

/** Checks that a value is a list of content blocks. @throws TypeError */
export function asContent(value: unknown): ContentBlock[] {
  if (!Array.isArray(value)) throw new TypeError('an array of content blocks was expected')
  return value.map((block: unknown, index) => {
    if (!isContentBlock(block))
      throw new TypeError(`[${index}] is no content block: { type: 'text', text } or { type: 'image', mimeType, data }`)
    return block
  })
}

function isContentBlock(block: unknown): block is ContentBlock {
  if (typeof block !== 'object' || block === null || !('type' in block)) return false
  if (block.type === 'text') return 'text' in block && typeof block.text === 'string'
  return block.type === 'image' && 'data' in block && typeof block.data === 'string' && 'mimeType' in block
}

function attempt<Result>(tool: string, problem: string, step: () => Result): Result {
  try {
    return step()
  } catch (cause) {
    throw new ToolOutputError(tool, [`${problem}: ${messageOf(cause)}`], { cause })
  }
}
