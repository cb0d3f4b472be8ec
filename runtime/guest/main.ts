/**
 * The program's side of the wall, evaluated once in each fresh isolate. It gets one function
 * that posts a text to the child, and gives the child three entries: start, deliver, wake.
 */
import { LosslessNumber } from 'lossless-json'
import type { GuestReply, GuestStart } from '../messages.ts'
import { installConsole } from './console.ts'
import { describeThrown, installStackTraces } from './error.ts'
import { later, whenSettled } from './jobs.ts'
import { Outbox } from './outbox.ts'
import { AsyncFunction, defineProperty, getOwnPropertyDescriptor, parse, rawJSON, StringOf } from './primordials.ts'
import { Timers } from './timers.ts'
import { Calls } from './tools.ts'
import { toJsonText } from './value.ts'

/** The entries of one isolate; each runs under the child's compute budget. */
export interface GuestEntries {
  /** Starts the program described by a GuestStart as JSON text. */
  start(payload: string): void
  /** Settles calls: an array of GuestReply as JSON text. */
  deliver(payload: string): void
  /** Runs the timer that is due. */
  wake(): void
}

/** Ways to memory, threads and native code that no limit of the isolate covers. */
const REMOVED_GLOBALS = ['WebAssembly', 'SharedArrayBuffer', 'Atomics']

/** Makes the program strict; the engine puts two lines of its own before it. */
const PROGRAM_HEAD = '"use strict";\n'
const LINES_BEFORE_PROGRAM = 3

/** Makes the entries; `post` stays in this closure. */
export function boot(post: (text: string) => void): GuestEntries {
  for (const name of REMOVED_GLOBALS) Reflect.deleteProperty(globalThis, name)
  writeNumbersExactly()
  let outbox: Outbox | undefined
  let calls: Calls | undefined
  const timers = new Timers((delayMs) => post(`w${StringOf(delayMs)}`))

  return {
    start(payload) {
      // JSON that the host wrote from its own GuestStart.
      const { code, filename, namespaces, limits } = parse(payload) as GuestStart
      outbox = new Outbox(post, limits)
      calls = new Calls(outbox, limits)
      for (let index = 0; index < namespaces.length; index++) {
        const namespace = namespaces[index]
        if (namespace !== undefined) calls.install(globalThis, namespace)
      }
      installStackTraces(filename, LINES_BEFORE_PROGRAM)
      installConsole(globalThis, outbox, filename)
      timers.install(globalThis)
      installMicrotasks(outbox)
      outbox.enter()
      runProgram({ code, filename, outbox, maxBytes: limits.maxMessageBytesOut })
    },
    deliver(payload) {
      outbox?.enter()
      // JSON that the host wrote from its own replies.
      calls?.settle(parse(payload) as GuestReply[])
    },
    wake() {
      outbox?.enter()
      try {
        timers.runDue()
      } catch (thrown) {
        outbox?.fail(describeThrown(thrown))
      }
    },
  }
}

function runProgram(run: { code: string; filename: string; outbox: Outbox; maxBytes: number }): void {
  const { code, filename, outbox, maxBytes } = run
  let program: () => Promise<unknown>
  try {
    program = AsyncFunction(`${PROGRAM_HEAD}${code}\n//# sourceURL=${filename}`)
  } catch (thrown) {
    outbox.fail({ ...describeThrown(thrown), code: 'SYNTAX_ERROR' })
    return
  }
  whenSettled(program(), {
    fulfilled: (value) => finish(value, outbox, maxBytes),
    rejected: (thrown) => outbox.fail(describeThrown(thrown)),
  })
}

function finish(value: unknown, outbox: Outbox, maxBytes: number): void {
  if (value === undefined) {
    outbox.done(undefined)
    return
  }
  const written = toJsonText(value, maxBytes)
  if (written.refusal === undefined) {
    outbox.done(written.text)
    return
  }
  const { code, message } = written.refusal
  if (code === 'TOO_LARGE')
    outbox.fail({ kind: 'output-limit', message: `the returned value is too large: ${message}` })
  else outbox.fail({ kind: 'invalid-output', message: `program completion must be lossless JSON: ${message}` })
}

function installMicrotasks(outbox: Outbox): void {
  const value = (callback: unknown): void => {
    if (typeof callback !== 'function') throw new TypeError(`a callback function was expected, ${typeof callback} came`)
    later(() => {
      try {
        callback()
      } catch (thrown) {
        outbox.fail(describeThrown(thrown))
      }
    })
  }
  defineProperty(globalThis, 'queueMicrotask', { value, writable: true, enumerable: false, configurable: true })
}

/** JSON.stringify of the program keeps every digit of a bigint and of a LosslessNumber. */
function writeNumbersExactly(): void {
  const toJSON = function (this: unknown): object {
    return rawJSON(typeof this === 'bigint' ? StringOf(this) : StringOf(losslessToken(this)))
  }
  defineProperty(BigInt.prototype, 'toJSON', { value: toJSON, writable: true, enumerable: false, configurable: true })
  defineProperty(LosslessNumber.prototype, 'toJSON', {
    value: toJSON,
    writable: true,
    enumerable: false,
    configurable: true,
  })
}

function losslessToken(number: unknown): unknown {
  return typeof number === 'object' && number !== null ? getOwnPropertyDescriptor(number, 'value')?.value : number
}
