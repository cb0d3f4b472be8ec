/**
 * Values across the wall, program side: out as JSON text with the path of the first value that is
 * not JSON, in from JSON text with every digit of every number.
 */
import { LosslessNumber } from 'lossless-json'
import {
  BigIntOf,
  charCodeAt,
  create,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  IntrinsicArray,
  IntrinsicObject,
  isArray,
  isEnumerable,
  isFiniteNumber,
  isSame,
  NewSet,
  ownKeys,
  setAdd,
  setDelete,
  setHas,
  slice,
  stringify,
  StringOf,
} from './primordials.ts'
import { arrayProblem, isNumberToken, objectProblem, pathStep, scalarProblem } from './value-problem.ts'

/** A value cannot leave: it is not JSON, too deep, or too large. `message` names the path. */
export interface ValueRefusal {
  readonly code: 'NOT_JSON' | 'TOO_DEEP' | 'TOO_LARGE'
  readonly message: string
}

/** Either the text of a value or why there is none. */
export type ValueText = { readonly text: string; readonly refusal?: never } | { readonly refusal: ValueRefusal }

const MAX_DEPTH = 10_000
const MAX_NUMBER_CHARACTERS = 1_000
/** The first whole numbers, up and down, whose tokens are too long. */
const TOO_LARGE = BigIntOf(`1${'0'.repeat(MAX_NUMBER_CHARACTERS)}`)
const TOO_SMALL = BigIntOf(`-1${'0'.repeat(MAX_NUMBER_CHARACTERS - 1)}`)
const IntrinsicLosslessNumber: object = LosslessNumber.prototype

/** One open container; a linked list, so that no patched array method is on the way. */
interface Level {
  readonly parent: Level | undefined
  readonly container: object
  /** Keys of an object, undefined for an array. */
  readonly keys: readonly (string | symbol)[] | undefined
  readonly length: number
  index: number
}

/**
 * Writes a value as JSON text, iteratively and with one read per slot.
 * @param maxBytes largest text in bytes of UTF-8.
 */
export function toJsonText(root: unknown, maxBytes: number): ValueText {
  const writer = new Writer(maxBytes)
  try {
    writer.write(root)
  } catch (thrown) {
    if (writer.refusal === undefined)
      return { refusal: { code: 'NOT_JSON', message: `${writer.path()}: reading it threw` } }
    void thrown
  }
  return writer.refusal === undefined ? { text: writer.text } : { refusal: writer.refusal }
}

/** Bytes that a text takes as UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = charCodeAt(text, index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text, index + 1)) {
      bytes += 2
      index++
    } else bytes += 2
  }
  return bytes
}

/** Turns the tagged form of a delivered value back: `s:` strings, `n:` exact numbers. */
export function untag(root: unknown): unknown {
  const box: Record<string, unknown> = create(null)
  box['value'] = root
  const pending: Record<number, object> = create(null)
  pending[0] = box
  for (let size = 1; size > 0;) {
    const container = pending[--size]
    if (container === undefined) break
    const keys = ownKeys(container)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]
      if (typeof key !== 'string') continue
      const slot = getOwnPropertyDescriptor(container, key)
      if (slot === undefined || slot.enumerable !== true) continue
      const value: unknown = slot.value
      if (typeof value === 'object' && value !== null) pending[size++] = value
      if (typeof value === 'string') define(container, key, untagged(value))
    }
  }
  return box['value']
}

function untagged(text: string): unknown {
  const rest = slice(text, 2)
  if (charCodeAt(text, 0) !== 0x6e) return rest
  return isInteger(rest) ? BigIntOf(rest) : new LosslessNumber(rest)
}

function isInteger(token: string): boolean {
  for (let index = charCodeAt(token, 0) === 0x2d ? 1 : 0; index < token.length; index++) {
    const unit = charCodeAt(token, index)
    if (unit < 0x30 || unit > 0x39) return false
  }
  return true
}

class Writer {
  readonly #maxBytes: number
  readonly #ancestors = new NewSet<unknown>()
  #level: Level | undefined
  #depth = 0
  text = ''
  refusal: ValueRefusal | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  write(root: unknown): void {
    this.#value(root)
    while (this.#level !== undefined) this.#next(this.#level)
    if (this.text.length * 3 > this.#maxBytes && utf8Length(this.text) > this.#maxBytes) this.#tooLarge()
  }

  path(): string {
    let path = ''
    for (let level = this.#level; level !== undefined; level = level.parent) {
      const key = level.keys === undefined ? level.index - 1 : level.keys[level.index - 1]
      path = pathStep(key) + path
    }
    return `$${path}`
  }

  #next(level: Level): void {
    if (level.index === level.length) {
      this.text += level.keys === undefined ? ']' : '}'
      setDelete(this.#ancestors, level.container)
      this.#level = level.parent
      this.#depth--
      return
    }
    if (level.index > 0) this.text += ','
    const key = level.keys === undefined ? level.index : level.keys[level.index]
    level.index++
    this.#slot(level.container, key)
  }

  #slot(container: object, key: string | symbol | number | undefined): void {
    if (key === undefined) return
    if (typeof key === 'symbol') this.#refuse('a symbol key is not JSON; use a string key')
    const slot = getOwnPropertyDescriptor(container, key)
    if (slot === undefined) this.#refuse('an empty array slot is not JSON; fill it or use null')
    if (!isEnumerable(container, key)) this.#refuse('a hidden property is not JSON')
    if (!hasOwn(slot, 'value')) this.#refuse('a getter is not JSON; copy its value')
    if (typeof key === 'string') {
      if (key.length > this.#maxBytes) this.#tooLarge()
      this.text += `${stringify(key)}:`
    }
    this.#value(slot.value)
  }

  #value(value: unknown): void {
    this.#scalarOrContainer(value)
    if (this.text.length > this.#maxBytes) this.#tooLarge()
  }

  #scalarOrContainer(value: unknown): void {
    switch (typeof value) {
      case 'string':
        if (value.length > this.#maxBytes) this.#tooLarge()
        this.text += stringify(value)
        return
      case 'boolean':
        this.text += value ? 'true' : 'false'
        return
      case 'number':
        if (!isFiniteNumber(value)) this.#refuse(`${StringOf(value)} is not JSON; use null or a text`)
        this.text += isSame(value, -0) ? '-0' : StringOf(value)
        return
      case 'bigint':
        if (value >= TOO_LARGE || value <= TOO_SMALL)
          this.#refuse(`a number of over ${MAX_NUMBER_CHARACTERS} characters is refused`)
        this.text += StringOf(value)
        return
      case 'object':
        if (value === null) this.text += 'null'
        else this.#open(value)
        return
      default:
        this.#refuse(scalarProblem(value))
    }
  }

  #open(value: object): void {
    if (setHas(this.#ancestors, value)) this.#refuse('a cycle is not JSON; it refers back to an object around it')
    const prototype: unknown = getPrototypeOf(value)
    if (isArray(value) && prototype === IntrinsicArray) {
      if (ownKeys(value).length !== value.length + 1) this.#refuse(arrayProblem(value))
      this.text += '['
      this.#enter({ parent: this.#level, container: value, keys: undefined, length: value.length, index: 0 })
    } else if (prototype === IntrinsicObject || prototype === null) {
      const keys = ownKeys(value)
      this.text += '{'
      this.#enter({ parent: this.#level, container: value, keys, length: keys.length, index: 0 })
    } else if (prototype === IntrinsicLosslessNumber) {
      this.text += this.#numberToken(value)
    } else this.#refuse(objectProblem(value))
  }

  #enter(level: Level): void {
    if (++this.#depth > MAX_DEPTH) {
      this.refusal = { code: 'TOO_DEEP', message: `a value of at most ${MAX_DEPTH} levels was expected; flatten it` }
      throw this.refusal
    }
    setAdd(this.#ancestors, level.container)
    this.#level = level
  }

  #numberToken(value: object): string {
    const token: unknown = getOwnPropertyDescriptor(value, 'value')?.value
    if (typeof token !== 'string' || token.length > MAX_NUMBER_CHARACTERS || !isNumberToken(token)) {
      this.#refuse('a LosslessNumber with a number token was expected')
    }
    return token
  }

  #refuse(problem: string): never {
    this.refusal = { code: 'NOT_JSON', message: `${this.path()}: ${problem}` }
    throw this.refusal
  }

  #tooLarge(): never {
    this.refusal = { code: 'TOO_LARGE', message: `at most ${this.#maxBytes} bytes of JSON were expected` }
    throw this.refusal
  }
}

function define(container: object, key: string, value: unknown): void {
  defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = charCodeAt(text, index)
  return unit >= 0xdc00 && unit <= 0xdfff
}
