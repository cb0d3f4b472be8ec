/** JSON text in and out with every digit of every number. */
import { isLosslessNumber } from 'lossless-json'
import { JsonTextError } from '../errors.ts'
import { numberFromToken } from './number.ts'
import { findInexactNumbers, type TokenRange } from './number-scan.ts'
import type { JsonValue } from './value.ts'

/** Levels of indentation; what lies deeper is written on one line. */
const MAX_INDENTED_LEVELS = 5
/** Nesting up to which JSON.stringify, which recurses, is safe on any stack. */
const MAX_NATIVE_DEPTH = 500

/**
 * Parses JSON text. Numbers that a double cannot hold become `bigint` or `LosslessNumber`;
 * of duplicate keys the last one wins.
 * @throws JsonTextError that says where the text breaks; JsonValueError for a number token of over 1,000 characters.
 */
export function parseJson(text: string): JsonValue {
  const value = parseNatively(text)
  const inexact = findInexactNumbers(text)
  return inexact.length === 0 ? value : withExactNumbers(value, parseNatively(quoteTokens(text, inexact)))
}

/**
 * Writes a value as JSON text; exact numbers as the tokens that they came from.
 * @param indent spaces of one level, default 0: everything on one line. At most five levels are indented.
 */
export function stringifyJson(value: JsonValue, indent: number = 0): string {
  const maxDepth = indent === 0 ? MAX_NATIVE_DEPTH : MAX_INDENTED_LEVELS
  return isNative(value, maxDepth) ? JSON.stringify(value, null, indent) : new TextWriter(indent).write(value)
}

function parseNatively(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new JsonTextError(`JSON was expected: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function quoteTokens(text: string, tokens: readonly TokenRange[]): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of tokens) {
    parts.push(text.slice(from, start), '"', text.slice(start, end), '"')
    from = end
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Where one parse has a number and the other, of the text with quoted tokens, a text, an exact number belongs. */
function withExactNumbers(rounded: JsonValue, quoted: JsonValue): JsonValue {
  if (typeof rounded === 'number' && typeof quoted === 'string') return numberFromToken(quoted)
  const pending: [JsonValue, JsonValue][] = [[rounded, quoted]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair
    if (!isContainer(left) || !isContainer(right)) continue
    for (const key of Object.keys(left)) {
      const [number, token] = [ownValue(left, key), ownValue(right, key)]
      if (typeof number === 'number' && typeof token === 'string') setOwn(left, key, numberFromToken(token))
      else if (number !== undefined && token !== undefined) pending.push([number, token])
    }
  }
  return rounded
}

type Container = JsonValue[] | { [key: string]: JsonValue }

function isContainer(value: JsonValue): value is Container {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value)
}

/** Value of one of the container's own keys, `__proto__` included. */
function ownValue(container: Container, key: string): JsonValue | undefined {
  // Keys of an array are texts too, which its type does not say.
  return Object.hasOwn(container, key) ? (container as { [key: string]: JsonValue })[key] : undefined
}

function setOwn(container: Container, key: string, value: JsonValue): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Whether JSON.stringify writes this value, of so many levels at most, without losing anything. */
function isNative(root: JsonValue, maxDepth: number): boolean {
  if (!isContainer(root)) return isNativeScalar(root)
  let level: Container[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxDepth) return false
    const next: Container[] = []
    for (const container of level) {
      if (Object.hasOwn(container, 'toJSON')) return false
      for (const value of Array.isArray(container) ? container : Object.values(container)) {
        if (isContainer(value)) next.push(value)
        else if (!isNativeScalar(value)) return false
      }
    }
    level = next
  }
  return true
}

function isNativeScalar(value: JsonValue): boolean {
  return typeof value === 'number' ? !Object.is(value, -0) : typeof value !== 'bigint' && !isLosslessNumber(value)
}

/** One open container while it is written. */
interface Level {
  readonly container: Container
  readonly keys: readonly string[] | undefined
  readonly length: number
  index: number
}

class TextWriter {
  readonly #indent: number
  readonly #parts: string[] = []
  readonly #levels: Level[] = []

  constructor(indent: number) {
    this.#indent = indent
  }

  write(root: JsonValue): string {
    this.#value(root)
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) this.#next(level)
    return this.#parts.join('')
  }

  #next(level: Level): void {
    if (level.index === level.length) {
      this.#levels.pop()
      if (level.length > 0) this.#breakLine(this.#levels.length + 1)
      this.#parts.push(level.keys === undefined ? ']' : '}')
      return
    }
    if (level.index > 0) this.#parts.push(',')
    this.#breakLine(this.#levels.length)
    const key = level.keys?.[level.index]
    if (key !== undefined) this.#parts.push(JSON.stringify(key), this.#isIndented(this.#levels.length) ? ': ' : ':')
    const value = ownValue(level.container, key ?? String(level.index))
    level.index++
    this.#value(value ?? null)
  }

  #value(value: JsonValue): void {
    if (!isContainer(value)) {
      this.#parts.push(scalarText(value))
      return
    }
    const keys = Array.isArray(value) ? undefined : Object.keys(value)
    this.#parts.push(keys === undefined ? '[' : '{')
    this.#levels.push({ container: value, keys, length: keys?.length ?? Object.keys(value).length, index: 0 })
  }

  /** Begins a line for an item of the container at `depth`, or for its end. */
  #breakLine(depth: number): void {
    const isEnd = depth > this.#levels.length
    if (this.#isIndented(depth)) this.#parts.push('\n', ' '.repeat(this.#indent * (isEnd ? depth - 1 : depth)))
  }

  #isIndented(depth: number): boolean {
    return this.#indent > 0 && depth <= MAX_INDENTED_LEVELS
  }
}

function scalarText(value: JsonValue): string {
  if (typeof value === 'bigint' || isLosslessNumber(value)) return String(value)
  return Object.is(value, -0) ? '-0' : JSON.stringify(value)
}
