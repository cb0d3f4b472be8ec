/** What the model reads of a run. */
import { stringifyJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'
import type { RunOutcome, SubCallSummary } from './run-outcome.ts'

/** What the model reads at most, bytes of UTF-8; the log keeps everything. */
export const MAX_MODEL_BYTES = 50_000

const MAX_EFFECTS_LISTED = 20

/** A text that may have been cut. */
export interface ModelText {
  readonly text: string
  /** Set when text was left out: its whole size in bytes. */
  readonly originalBytes?: number
}

/** Console lines, then the value; says so when there is neither. */
export function successText(logs: readonly string[], value: JsonValue | undefined): string {
  const parts = [...logs, ...(value === undefined ? [] : [typeof value === 'string' ? value : stringifyJson(value, 2)])]
  return parts.length === 0 ? '(run_code completed with no output)' : parts.join('\n')
}

/** Kind, message, place, what already took effect, and what was printed. */
export function failureText({ error, logs, calls }: RunOutcome): string {
  if (error === undefined) return ''
  const place =
    error.line === undefined
      ? ''
      : ` (line ${error.line}${error.column === undefined ? '' : `, column ${error.column}`})`
  return [
    `code run failed (${error.kind}): ${error.message}${place}`,
    ...(error.frame === undefined ? [] : [error.frame]),
    ...effects(calls),
    ...(logs.length === 0 ? [] : ['Captured output:', ...logs]),
  ].join('\n')
}

/** Cuts the middle out of a text that is too long for a model, with a visible mark. */
export function cutForModel(text: string, whole: string): ModelText {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_MODEL_BYTES) return { text }
  const mark = `\n\n… ${bytes.length} bytes in all, the middle is left out here; ${whole} …\n\n`
  const budget = MAX_MODEL_BYTES - Buffer.byteLength(mark)
  const head = bytes.subarray(0, wholeCharacters(bytes, Math.ceil(budget / 2))).toString()
  const tail = bytes.subarray(wholeCharacters(bytes, bytes.length - Math.floor(budget / 2))).toString()
  return { text: `${head}${mark}${tail}`, originalBytes: bytes.length }
}

function effects(calls: readonly SubCallSummary[]): string[] {
  if (calls.length === 0) return []
  const listed = calls.slice(0, MAX_EFFECTS_LISTED).map(({ name, isError }) => `${name}${isError ? ' (failed)' : ''}`)
  const more = calls.length > listed.length ? `, and ${calls.length - listed.length} more` : ''
  return [`Tool calls that had already run, and will run again if the program does: ${listed.join(', ')}${more}.`]
}

/** Moves a cut back to the start of the character that it would split. */
function wholeCharacters(bytes: Buffer, at: number): number {
  let index = Math.min(Math.max(at, 0), bytes.length)
  while (index > 0 && index < bytes.length && isContinuation(bytes[index])) index--
  return index
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}
