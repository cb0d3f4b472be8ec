/** Readable text of any value for console lines; total and bounded. */
import {
  create,
  floor,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  includes,
  indexOf,
  isArray,
  isSame,
  mapForEach,
  mapSize,
  NewSet,
  objectTag,
  ownKeys,
  regExpText,
  setAdd,
  setDelete,
  setForEach,
  setHas,
  setSize,
  slice,
  stringify,
  StringOf,
  symbolText,
  toISOString,
} from './primordials.ts'

const MAX_DEPTH = 4
const MAX_ITEMS = 100
const MAX_STRING = 10_000
/** A nested text is cut here whatever it holds, so that width times depth stays bounded. */
const MAX_TEXT = 100_000
const ONE_LINE = 72

/** State of one inspection. */
interface Inspection {
  readonly filename: string
  readonly ancestors: Set<unknown>
  written: number
}

/** Text of one console argument: strings as they are, everything else inspected. */
export function inspect(value: unknown, filename: string): string {
  if (typeof value === 'string') return value
  return describe(value, 0, { filename, ancestors: new NewSet(), written: 0 })
}

function describe(value: unknown, depth: number, state: Inspection): string {
  const text = describeSafely(value, depth, state)
  state.written += text.length
  return text
}

function describeSafely(value: unknown, depth: number, state: Inspection): string {
  try {
    switch (typeof value) {
      case 'string':
        return quoted(value)
      case 'number':
        return isSame(value, -0) ? '-0' : StringOf(value)
      case 'bigint':
        return `${StringOf(value)}n`
      case 'symbol':
        return symbolText(value)
      case 'function':
        return functionLabel(value)
      case 'object':
        return value === null ? 'null' : describeObject(value, depth, state)
      default:
        return StringOf(value)
    }
  } catch {
    return '[unreadable]'
  }
}

function describeObject(value: object, depth: number, state: Inspection): string {
  if (setHas(state.ancestors, value)) return '[Circular]'
  const tag = slice(objectTag(value), 8, -1)
  if (tag === 'Error' || hasErrorStack(value)) return errorText(value, state.filename)
  if (tag === 'Date') return dateText(value)
  if (tag === 'RegExp') return regExpText(value)
  if (isLosslessNumber(value)) return StringOf(getOwnPropertyDescriptor(value, 'value')?.value)
  if (depth >= MAX_DEPTH || state.written > MAX_TEXT)
    return isArray(value) ? '[Array]' : `[${label(value) || 'Object'}]`
  setAdd(state.ancestors, value)
  try {
    return containerText(value, tag, { depth, state })
  } finally {
    setDelete(state.ancestors, value)
  }
}

function containerText(value: object, tag: string, at: { depth: number; state: Inspection }): string {
  const entries = new Entries(at.depth)
  const nested = (item: unknown): string => describe(item, at.depth + 1, at.state)
  if (isArray(value)) {
    arrayEntries(value, entries, nested)
    return entries.wrap(label(value) === 'Array' ? '' : `${label(value)}(${value.length}) `, '[', ']')
  }
  if (tag === 'Map') {
    mapForEach(value, (item, key) => {
      if (entries.hasRoom()) entries.add(`${nested(key)} => ${nested(item)}`)
    })
    return entries.wrap(`Map(${mapSize(value)}) `, '{', '}')
  }
  if (tag === 'Set') {
    setForEach(value, (item) => {
      if (entries.hasRoom()) entries.add(nested(item))
    })
    return entries.wrap(`Set(${setSize(value)}) `, '{', '}')
  }
  propertyEntries(value, entries, nested)
  const name = label(value)
  return entries.wrap(name === 'Object' ? '' : `${name === '' ? '[Object: null prototype]' : name} `, '{', '}')
}

function arrayEntries(value: readonly unknown[], entries: Entries, nested: (item: unknown) => string): void {
  for (let index = 0; index < value.length; index++) {
    if (!entries.hasRoom()) {
      entries.leftOut(value.length - index)
      return
    }
    entries.add(hasOwn(value, index) ? nested(value[index]) : '<empty>')
  }
}

function propertyEntries(value: object, entries: Entries, nested: (item: unknown) => string): void {
  const keys = ownKeys(value)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]
    if (key === undefined) continue
    if (!entries.hasRoom()) {
      entries.leftOut(keys.length - index)
      return
    }
    const slot = getOwnPropertyDescriptor(value, key)
    if (slot?.enumerable !== true) continue
    entries.add(`${keyText(key)}: ${hasOwn(slot, 'value') ? nested(slot.value) : '[Getter]'}`)
  }
}

/** The lines of one container, on one line where they fit. */
class Entries {
  readonly #depth: number
  readonly #items: Record<number, string> = create(null)
  #count = 0
  #length = 0
  #isMultiline = false

  constructor(depth: number) {
    this.#depth = depth
  }

  hasRoom(): boolean {
    return this.#count < MAX_ITEMS
  }

  add(text: string): void {
    this.#items[this.#count++] = text
    this.#length += text.length + 2
    if (includes(text, '\n')) this.#isMultiline = true
  }

  leftOut(count: number): void {
    this.add(`… ${count} more`)
  }

  wrap(prefix: string, open: string, close: string): string {
    if (this.#count === 0) return `${prefix}${open}${close}`
    const isShort = !this.#isMultiline && this.#length <= ONE_LINE
    const indent = isShort ? ' ' : `\n${spaces(this.#depth + 1)}`
    let text = `${prefix}${open}`
    for (let index = 0; index < this.#count; index++) text += `${index === 0 ? '' : ','}${indent}${this.#items[index]}`
    return `${text}${isShort ? ' ' : `\n${spaces(this.#depth)}`}${close}`
  }
}

function spaces(depth: number): string {
  let text = ''
  for (let level = 0; level < depth; level++) text += '  '
  return text
}

/** Name, message and the frames of the program itself; other frames are ours. */
function errorText(value: object, filename: string): string {
  const { name, message, stack, cause } = value as {
    name?: unknown
    message?: unknown
    stack?: unknown
    cause?: unknown
  }
  const head = `${StringOf(name ?? 'Error')}${message === '' || message === undefined ? '' : `: ${StringOf(message)}`}`
  const frames = typeof stack === 'string' ? programFrames(stack, filename) : ''
  const because = hasOwn(value, 'cause')
    ? `\n  [cause]: ${typeof cause === 'object' && cause !== null ? errorHead(cause) : StringOf(cause)}`
    : ''
  return cut(`${head}${frames}${because}`)
}

function errorHead(value: object): string {
  const { name, message } = value as { name?: unknown; message?: unknown }
  return `${StringOf(name ?? 'Object')}: ${StringOf(message)}`
}

function programFrames(stack: string, filename: string): string {
  let text = ''
  let start = indexOf(stack, '\n')
  while (start !== -1 && text.length < MAX_STRING) {
    const end = indexOf(stack, '\n', start + 1)
    const line = slice(stack, start, end === -1 ? stack.length : end)
    if (includes(line, `${filename}:`)) text += line
    start = end
  }
  return text
}

function hasErrorStack(value: object): boolean {
  return hasOwn(value, 'stack') && hasOwn(value, 'message')
}

function isLosslessNumber(value: object): boolean {
  return getOwnPropertyDescriptor(value, 'isLosslessNumber')?.value === true
}

function dateText(value: object): string {
  try {
    return toISOString(value)
  } catch {
    return 'Invalid Date'
  }
}

function functionLabel(value: object): string {
  const name: unknown = getOwnPropertyDescriptor(value, 'name')?.value
  return typeof name === 'string' && name !== '' ? `[Function: ${name}]` : '[Function (anonymous)]'
}

/** Name of the class, empty for an object without a prototype. */
function label(value: object): string {
  const prototype: unknown = getPrototypeOf(value)
  if (typeof prototype !== 'object' || prototype === null) return ''
  const constructor: unknown = getOwnPropertyDescriptor(prototype, 'constructor')?.value
  if (typeof constructor !== 'function') return 'Object'
  const name: unknown = getOwnPropertyDescriptor(constructor, 'name')?.value
  return typeof name === 'string' ? name : 'Object'
}

function keyText(key: string | symbol): string {
  if (typeof key === 'symbol') return `[${symbolText(key)}]`
  const isPlain = key.length > 0 && key.length < 100 && isWord(key)
  return isPlain ? key : quoted(key)
}

function isWord(key: string): boolean {
  for (let index = 0; index < key.length; index++) {
    const letter = key[index]
    if (letter === undefined || !includes('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$', letter))
      return false
  }
  return true
}

function quoted(text: string): string {
  return cut(stringify(text.length > MAX_STRING ? slice(text, 0, MAX_STRING) : text), text.length)
}

function cut(text: string, length: number = text.length): string {
  return length <= MAX_STRING ? text : `${slice(text, 0, MAX_STRING)}… ${floor(length - MAX_STRING)} more characters`
}
