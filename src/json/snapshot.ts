/** A detached copy of a value that is JSON, or the path of the first thing in it that is not. */
import { isLosslessNumber } from 'lossless-json'
import { JsonValueError } from '../errors.ts'
import { exactText, MAX_NUMBER_CHARACTERS, numberFromToken } from './number.ts'
import { containerKind } from './plain.ts'
import type { JsonValue } from './value.ts'

/** Deepest nesting that any value may have. */
export const MAX_DEPTH = 10_000

/** One open container; its copy is filled while its original is read, one slot at a time. */
interface Level {
  readonly source: object
  readonly copy: JsonValue[] | { [key: string]: JsonValue }
  readonly keys: readonly (string | symbol)[] | undefined
  readonly length: number
  index: number
}

/** A path of more steps is shown without its middle. */
const MAX_STEPS = 40

/** The first whole number that takes too many characters; a negative one takes one more for its sign. */
const HUGE = 10n ** BigInt(MAX_NUMBER_CHARACTERS)
const NEGATIVE_HUGE = -HUGE / 10n

/**
 * Copies a value, reading each slot once. Iterative: up to 10,000 levels.
 * @throws JsonValueError `NOT_JSON` or `TOO_DEEP`, with the path of the first offender.
 */
export function snapshotJson(value: unknown): JsonValue {
  return new Snapshot().take(value)
}

class Snapshot {
  readonly #levels: Level[] = []
  readonly #ancestors = new Set<object>()

  take(root: unknown): JsonValue {
    const copy = this.#copy(root)
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) this.#step(level)
    return copy
  }

  #step(level: Level): void {
    if (level.index === level.length) {
      this.#ancestors.delete(level.source)
      this.#levels.pop()
      return
    }
    const key = level.keys === undefined ? level.index : level.keys[level.index]
    level.index++
    if (typeof key === 'symbol' || key === undefined) this.#refuse('a symbol key is not JSON; use a string key')
    const value = this.#copy(this.#read(level.source, key))
    if (Array.isArray(level.copy)) level.copy.push(value)
    else setOwn(level.copy, String(key), value)
  }

  #read(source: object, key: string | number): unknown {
    const slot = this.#guarded(() => Object.getOwnPropertyDescriptor(source, key))
    if (slot === undefined) this.#refuse('an empty array slot is not JSON; fill it or use null')
    if (slot.enumerable !== true) this.#refuse('a hidden property is not JSON')
    if (!Object.hasOwn(slot, 'value')) this.#refuse('a getter is not JSON; copy its value')
    return slot.value
  }

  #copy(value: unknown): JsonValue {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value) ? value : this.#refuse(`${String(value)} is not JSON; use null or a text`)
      case 'bigint':
        return this.#exactInteger(value)
      case 'object':
        return value === null ? null : this.#open(value)
      default:
        return this.#refuse(scalarProblem(value))
    }
  }

  #exactInteger(value: bigint): number | bigint {
    if (value >= HUGE || value <= NEGATIVE_HUGE) {
      this.#refuse(`a number of over ${MAX_NUMBER_CHARACTERS} characters is refused`)
    }
    const number = numberFromToken(String(value))
    return typeof number === 'number' ? number : value
  }

  #open(value: object): JsonValue {
    if (this.#ancestors.has(value)) this.#refuse('a cycle is not JSON; it refers back to an object around it')
    if (this.#guarded(() => isLosslessNumber(value))) return this.#losslessNumber(value)
    const kind = this.#guarded(() => containerKind(value))
    if (kind === undefined) this.#refuse(this.#guarded(() => objectProblem(value)))
    if (this.#levels.length >= MAX_DEPTH) {
      throw new JsonValueError(
        this.#path(),
        `a value of at most ${MAX_DEPTH} levels was expected; flatten it`,
        'TOO_DEEP',
      )
    }
    const keys = this.#guarded(() => Reflect.ownKeys(value))
    const level =
      kind === 'array'
        ? this.#arrayLevel(value, keys.length)
        : { source: value, copy: {}, keys, length: keys.length, index: 0 }
    this.#ancestors.add(value)
    this.#levels.push(level)
    return level.copy
  }

  #arrayLevel(source: object, keyCount: number): Level {
    const length = this.#guarded(() => Number(Object.getOwnPropertyDescriptor(source, 'length')?.value))
    if (keyCount !== length + 1) {
      this.#refuse(
        keyCount <= length
          ? 'a sparse array is not JSON; fill its gaps or use null'
          : 'an array with extra properties is not JSON; use an object',
      )
    }
    return { source, copy: [], keys: undefined, length, index: 0 }
  }

  #losslessNumber(value: object): JsonValue {
    const token = exactText(value) ?? this.#refuse('a LosslessNumber with a number token was expected')
    if (token.length > MAX_NUMBER_CHARACTERS)
      this.#refuse(`a number of over ${MAX_NUMBER_CHARACTERS} characters is refused`)
    return numberFromToken(token)
  }

  /** Proxies and getters may throw anything at any look. */
  #guarded<Result>(look: () => Result): Result {
    try {
      return look()
    } catch {
      return this.#refuse('reading it threw')
    }
  }

  #refuse(problem: string): never {
    throw new JsonValueError(this.#path(), problem)
  }

  #path(): string {
    const steps = this.#levels.map((level) =>
      step(level.keys === undefined ? level.index - 1 : level.keys[level.index - 1]),
    )
    return `$${(steps.length <= MAX_STEPS ? steps : [...steps.slice(0, MAX_STEPS / 2), '…', ...steps.slice(-MAX_STEPS / 2)]).join('')}`
  }
}

/** Whether a value is JSON, exact numbers included. */
export function isJson(value: unknown): value is JsonValue {
  try {
    snapshotJson(value)
    return true
  } catch (refusal) {
    if (refusal instanceof JsonValueError) return false
    throw refusal
  }
}

function scalarProblem(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined is not JSON; leave the property out or use null'
    case 'function':
      return 'a function is not JSON; call it or leave it out'
    default:
      return 'a symbol is not JSON; use a text'
  }
}

function objectProblem(value: object): string {
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  switch (tag) {
    case 'Date':
      return 'Date is not JSON; use .toISOString()'
    case 'Map':
      return 'Map is not JSON; use Object.fromEntries(map)'
    case 'Set':
      return 'Set is not JSON; use [...set]'
    case 'Promise':
      return 'a Promise is not JSON; await it'
    case 'Error':
      return 'an Error is not JSON; use its .message'
    case 'RegExp':
      return 'RegExp is not JSON; use its .source'
    default: {
      const name = tag === 'Object' || tag === 'Array' ? className(value) : tag
      return `an instance of ${name.slice(0, 80)} is not JSON; copy what you need into a plain object`
    }
  }
}

function className(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (typeof prototype !== 'object' || prototype === null) return 'a class'
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  const name: unknown =
    typeof constructor === 'function' ? Object.getOwnPropertyDescriptor(constructor, 'name')?.value : ''
  return typeof name === 'string' && name !== '' ? name : 'a class'
}

function step(key: string | symbol | number | undefined): string {
  if (typeof key === 'number') return `[${key}]`
  if (typeof key !== 'string') return ''
  return /^[A-Za-z_$][\w$]{0,79}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 80))}]`
}

/** `__proto__` is a key like any other. */
function setOwn(target: { [key: string]: JsonValue }, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else target[key] = value
}
