/** What a thrown value says about itself, bounded, whatever getters and proxies it hides behind. */
import type { GuestFailure } from '../messages.ts'
import {
  captureStackTrace,
  defineProperty,
  getOwnPropertyDescriptor,
  indexOf,
  NewError,
  NewWeakMap,
  NumberOf,
  slice,
  StringOf,
  weakMapGet,
  weakMapSet,
} from './primordials.ts'

const MAX_NAME = 200
const MAX_TEXT = 16_384

/** The identity of a tool failure, kept apart from the error object that the program may change. */
interface ToolFailureIdentity {
  readonly toolName: string
  readonly code: string | undefined
}

const toolFailures = new NewWeakMap<object, ToolFailureIdentity>()

/** The class that rejected calls of one namespace throw, such as ToolCallError. */
export type CallErrorClass = new (message: string) => Error

/** Makes the error class of a namespace; a real class, so that `instanceof` works. */
export function makeCallErrorClass(className: string): CallErrorClass {
  const CallError = class extends NewError {}
  hide(CallError, 'name', className)
  hide(CallError.prototype, 'name', className)
  return CallError
}

/** Where a program called from; taken at the call, since a later rejection has no frame of the program. */
export interface CallSite {
  stack?: string
}

/** Notes the frames below `entry`. */
export function noteCallSite(entry: (...args: never[]) => unknown): CallSite {
  const site: CallSite = {}
  captureStackTrace(site, entry)
  return site
}

/** Builds the rejection of one call. */
export function callFailure(options: {
  readonly ErrorClass: CallErrorClass
  readonly memberNameProperty: string
  readonly toolName: string
  readonly message: string
  readonly code?: string | undefined
  readonly retryable?: boolean | undefined
  readonly site: CallSite
}): Error {
  const { ErrorClass, memberNameProperty, toolName, message, code, retryable, site } = options
  const error = new ErrorClass(message)
  hide(error, memberNameProperty, toolName)
  if (code !== undefined) hide(error, 'code', code)
  if (retryable !== undefined) hide(error, 'retryable', retryable)
  hide(error, 'stack', `${error.name}: ${message}${framesOf(site)}`)
  weakMapSet(toolFailures, error, { toolName, code })
  return error
}

/** The part of V8's call sites that a stack text needs. */
interface CallSiteFrame {
  getScriptNameOrSourceURL(): unknown
  getFunctionName(): unknown
  getLineNumber(): unknown
  getColumnNumber(): unknown
}

/** Stack texts show the program's own frames only, with lines counted from its first one. */
export function installStackTraces(filename: string, linesBefore: number): void {
  const prepareStackTrace = (error: unknown, frames: readonly CallSiteFrame[]): string => {
    let text = headOf(error)
    for (let index = 0; index < frames.length; index++) {
      const frame = frames[index]
      if (frame === undefined || frame.getScriptNameOrSourceURL() !== filename) continue
      const name = frame.getFunctionName()
      const line = NumberOf(frame.getLineNumber()) - linesBefore
      const place = `${filename}:${line}:${StringOf(frame.getColumnNumber())}`
      text +=
        typeof name === 'string' && name !== '' && name !== 'eval' ? `\n    at ${name} (${place})` : `\n    at ${place}`
    }
    return text
  }
  hide(NewError, 'prepareStackTrace', prepareStackTrace)
}

function headOf(error: unknown): string {
  const name = isObject(error) ? readText(error, 'name') : undefined
  const message = messageOf(error)
  return message === '' ? (name ?? 'Error') : `${name ?? 'Error'}: ${message}`
}

/** Describes whatever was thrown; total. */
export function describeThrown(thrown: unknown): GuestFailure & { readonly kind: 'exception' } {
  const identity = isObject(thrown) ? weakMapGet(toolFailures, thrown) : undefined
  const stack = isObject(thrown) ? readText(thrown, 'stack') : undefined
  return {
    kind: 'exception',
    name: slice((isObject(thrown) ? readText(thrown, 'name') : undefined) ?? `thrown ${typeof thrown}`, 0, MAX_NAME),
    message: bounded(messageOf(thrown)),
    ...(stack === undefined ? {} : { stack: slice(stack, 0, MAX_TEXT) }),
    ...(identity === undefined ? {} : { toolName: identity.toolName }),
    ...(identity?.code === undefined ? {} : { code: identity.code }),
  }
}

function messageOf(thrown: unknown): string {
  if (isObject(thrown)) {
    const message = readText(thrown, 'message')
    if (message !== undefined) return message
  }
  try {
    return StringOf(thrown)
  } catch {
    return '<unprintable thrown value>'
  }
}

function readText(value: object, key: 'message' | 'name' | 'stack'): string | undefined {
  try {
    const read: unknown = (value as Partial<Record<typeof key, unknown>>)[key]
    return typeof read === 'string' ? read : undefined
  } catch {
    return undefined
  }
}

function framesOf(site: CallSite): string {
  try {
    const stack: unknown = site.stack
    if (typeof stack !== 'string') return ''
    const first = indexOf(stack, '\n')
    return first === -1 ? '' : slice(stack, first, first + MAX_TEXT)
  } catch {
    return ''
  }
}

function bounded(text: string): string {
  return text.length <= MAX_TEXT ? text : `${slice(text, 0, MAX_TEXT)}… (${text.length - MAX_TEXT} characters left out)`
}

function hide(target: object, key: string, value: unknown): void {
  if (getOwnPropertyDescriptor(target, key)?.configurable === false) return
  defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true })
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
