/**
 * The wire between host and child: one guard for each message type. Both sides treat what
 * arrives as hostile text: unknown types and wrong shapes are violations, extra fields are dropped.
 */
import { ProtocolViolation } from './frames.ts'
import type { ChildMessage, DeathReason, GuestFailure, GuestItem, HostMessage } from './messages.ts'

export { encodeFrame, FrameReader, ProtocolViolation, type Frame } from './frames.ts'
export type { ChildMessage, GuestItem, GuestStart, HostMessage } from './messages.ts'

type Fields = Readonly<Record<string, unknown>>

/** Reads a header that the child wrote. @throws ProtocolViolation */
export function readChildMessage(header: string): ChildMessage {
  const fields = record(parse(header), 'a child message')
  const type = own(fields, 'type')
  if (type === 'ready') return { type }
  const run = count(fields, 'run')
  switch (type) {
    case 'active':
    case 'items':
    case 'released':
      return { type, run }
    case 'idle':
      return { type, run, seq: count(fields, 'seq'), hasTimer: own(fields, 'hasTimer') === true }
    case 'unhandled':
      return { type, run, message: text(fields, 'message') }
    case 'died':
      return { type, run, reason: deathReason(own(fields, 'reason')) }
    default:
      throw new ProtocolViolation('a child message of a known type was expected')
  }
}

/** Reads a header that the host wrote. @throws ProtocolViolation */
export function readHostMessage(header: string): HostMessage {
  const fields = record(parse(header), 'a host message')
  const type = own(fields, 'type')
  const [run, seq] = [count(fields, 'run'), count(fields, 'seq')]
  switch (type) {
    case 'run':
      return { type, run, seq, memoryMb: count(fields, 'memoryMb'), cpuMs: count(fields, 'cpuMs') }
    case 'replies':
    case 'end':
      return { type, run, seq }
    default:
      throw new ProtocolViolation('a host message of a known type was expected')
  }
}

/** Checks the parsed payload of an `items` message. @throws ProtocolViolation */
export function readGuestItems(payload: unknown): GuestItem[] {
  if (!Array.isArray(payload)) throw new ProtocolViolation('an array of items was expected')
  return payload.map((item: unknown) => readGuestItem(record(item, 'an item')))
}

function readGuestItem(fields: Fields): GuestItem {
  const type = own(fields, 'type')
  switch (type) {
    case 'call':
      if (!Object.hasOwn(fields, 'args')) throw new ProtocolViolation('a call with arguments was expected')
      return {
        type,
        id: count(fields, 'id'),
        global: text(fields, 'global'),
        name: text(fields, 'name'),
        args: own(fields, 'args'),
      }
    case 'log':
      return { type, level: text(fields, 'level'), text: text(fields, 'text') }
    case 'done':
      return Object.hasOwn(fields, 'value') ? { type, value: own(fields, 'value') } : { type }
    case 'failed':
      return { type, failure: readFailure(record(own(fields, 'failure'), 'a failure')) }
    default:
      throw new ProtocolViolation('an item of a known type was expected')
  }
}

function readFailure(fields: Fields): GuestFailure {
  const kind = own(fields, 'kind')
  const message = text(fields, 'message')
  if (kind === 'invalid-output' || kind === 'output-limit') return { kind, message }
  if (kind !== 'exception') throw new ProtocolViolation('a failure of a known kind was expected')
  return {
    kind,
    message,
    name: text(fields, 'name'),
    ...optionalText(fields, 'stack'),
    ...optionalText(fields, 'code'),
    ...optionalText(fields, 'toolName'),
  }
}

function parse(header: string): unknown {
  try {
    return JSON.parse(header)
  } catch (cause) {
    throw new ProtocolViolation('a header of JSON was expected', { cause })
  }
}

function record(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolViolation(`${what} was expected to be an object`)
  }
  return Object.fromEntries(Object.entries(value))
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

function count(fields: Fields, key: string): number {
  const value = own(fields, key)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new ProtocolViolation(`"${key}" was expected to be a whole number`)
  }
  return value
}

function text(fields: Fields, key: string): string {
  const value = own(fields, key)
  if (typeof value !== 'string') throw new ProtocolViolation(`"${key}" was expected to be a text`)
  return value
}

function optionalText<Key extends string>(fields: Fields, key: Key): Partial<Record<Key, string>> {
  if (own(fields, key) === undefined) return {}
  const found: Partial<Record<Key, string>> = {}
  found[key] = text(fields, key)
  return found
}

function deathReason(value: unknown): DeathReason {
  if (value === 'memory' || value === 'cpu' || value === 'broken') return value
  throw new ProtocolViolation('a known reason was expected')
}
