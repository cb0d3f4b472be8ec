/** Paths into JSON values, as an operator writes them: `path`, `$.files[0].name`, `files[*].path`, `["odd key"]`. */
import { PtcUsageError } from '../errors.ts'
import type { JsonValue } from './value.ts'

/** One step of a path: a key, an index from 0, or each item of an array. */
export type JsonPathStep =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' }

/** What a path leads to. */
export interface Selection {
  readonly values: readonly JsonValue[]
  /** Whether nothing was missing on the way, and there is at least one value. */
  readonly isWhole: boolean
}

const STEP = /\.?(?<name>[^\s.[\]"*$]+)|\[(?<index>\d{1,9})\]|(?<each>\[\*\])|\[(?<quoted>"(?:[^"\\]|\\.)*")\]/y

/**
 * Reads a path; a leading `$` stands for the whole value and may be left out.
 * @throws PtcUsageError that says where the path breaks.
 */
export function parseJsonPath(text: string): readonly JsonPathStep[] {
  const steps: JsonPathStep[] = []
  let at = text.startsWith('$') ? 1 : 0
  if (text === '') throw new PtcUsageError('a path must not be empty')
  while (at < text.length) {
    STEP.lastIndex = at
    const match = STEP.exec(text)
    const step = match === null || isMissingDot(match, at) ? undefined : stepOf(match.groups ?? {})
    if (match === null || step === undefined) {
      const expected = 'a path is made of names, such as user.name, [0], [*] and ["odd name"]'
      throw new PtcUsageError(`the path ${JSON.stringify(text)} breaks at character ${at + 1}: ${expected}`)
    }
    steps.push(step)
    at += match[0].length
  }
  return steps
}

/** Follows a path; own keys only, and nothing is read that is not data. */
export function selectValues(root: JsonValue, path: readonly JsonPathStep[]): Selection {
  let values: JsonValue[] = [root]
  let isWhole = true
  for (const step of path) {
    const next: JsonValue[] = []
    for (const value of values) {
      const found = follow(value, step)
      if (found.length === 0) isWhole = false
      // Not by spreading: an array may have more items than a call may have arguments.
      for (const item of found) next.push(item)
    }
    values = next
  }
  return { values, isWhole }
}

function follow(value: JsonValue, step: JsonPathStep): readonly JsonValue[] {
  if (typeof value !== 'object' || value === null) return []
  switch (step.kind) {
    case 'each':
      return Array.isArray(value) ? value : []
    case 'index':
      return Array.isArray(value) && step.index < value.length ? [value[step.index] as JsonValue] : [] // bounds checked
    case 'key':
      return !Array.isArray(value) && Object.hasOwn(value, step.key) ? [Reflect.get(value, step.key) as JsonValue] : []
  }
}

/** Two names stand next to each other with a dot between them. */
function isMissingDot({ 0: text, groups }: RegExpExecArray, at: number): boolean {
  return groups?.['name'] !== undefined && at > 0 && !text.startsWith('.')
}

function stepOf({ name, index, each, quoted }: Partial<Record<string, string>>): JsonPathStep | undefined {
  if (name !== undefined) return { kind: 'key', key: name }
  if (index !== undefined) return { kind: 'index', index: Number(index) }
  if (each !== undefined) return { kind: 'each' }
  try {
    return quoted === undefined ? undefined : { kind: 'key', key: String(JSON.parse(quoted)) }
  } catch {
    return undefined
  }
}
