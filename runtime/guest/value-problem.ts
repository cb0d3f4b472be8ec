/** Words about values that are not JSON, and the grammar of numbers; without regular expressions, which a program could patch. */
import {
  charCodeAt,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  objectTag,
  slice,
  stringify,
} from './primordials.ts'

/** Whether a text is a number token of JSON. */
export function isNumberToken(token: string): boolean {
  let index = charCodeAt(token, 0) === 0x2d ? 1 : 0
  const whole = digits(token, index)
  if (whole === index || (charCodeAt(token, index) === 0x30 && whole > index + 1)) return false
  index = whole
  if (charCodeAt(token, index) === 0x2e) {
    const fraction = digits(token, index + 1)
    if (fraction === index + 1) return false
    index = fraction
  }
  if ((charCodeAt(token, index) | 0x20) === 0x65) {
    const sign = charCodeAt(token, index + 1)
    const start = sign === 0x2b || sign === 0x2d ? index + 2 : index + 1
    const exponent = digits(token, start)
    if (exponent === start) return false
    index = exponent
  }
  return index === token.length
}

function digits(token: string, from: number): number {
  let index = from
  while (index < token.length && charCodeAt(token, index) >= 0x30 && charCodeAt(token, index) <= 0x39) index++
  return index
}

/** One step of a path: `.name`, `[0]` or `["odd name"]`. */
export function pathStep(key: string | symbol | number | undefined): string {
  if (typeof key === 'number') return `[${key}]`
  if (typeof key !== 'string') return ''
  return isIdentifier(key) ? `.${key}` : `[${stringify(slice(key, 0, 80))}]`
}

function isIdentifier(key: string): boolean {
  if (key.length === 0 || key.length > 80) return false
  for (let index = 0; index < key.length; index++) {
    const unit = charCodeAt(key, index)
    const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a
    const isDigit = unit >= 0x30 && unit <= 0x39
    if (!isLetter && unit !== 0x5f && unit !== 0x24 && !(isDigit && index > 0)) return false
  }
  return true
}

/** Why this value is not JSON and what to do. */
export function scalarProblem(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined is not JSON; leave the property out or use null'
    case 'function':
      return 'a function is not JSON; call it or leave it out'
    default:
      return 'a symbol is not JSON; use a text'
  }
}

/** Why this value is not JSON and what to do. */
export function arrayProblem(value: readonly unknown[]): string {
  for (let index = 0; index < value.length; index++) {
    if (!hasOwn(value, index)) return 'a sparse array is not JSON; fill its gaps or use null'
  }
  return 'an array with extra properties is not JSON; use an object'
}

/** Why this value is not JSON and what to do. */
export function objectProblem(value: object): string {
  const tag = slice(objectTag(value), 8, -1)
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
    default:
      return `an instance of ${slice(tag === 'Object' ? className(value) : tag, 0, 80)} is not JSON; copy what you need into a plain object`
  }
}

function className(value: object): string {
  const constructor: unknown = getOwnPropertyDescriptor(getPrototypeOf(value), 'constructor')?.value
  if (typeof constructor !== 'function') return 'a class'
  const name: unknown = getOwnPropertyDescriptor(constructor, 'name')?.value
  return typeof name === 'string' && name !== '' ? name : 'a class'
}
