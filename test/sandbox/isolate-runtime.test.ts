import { afterAll, describe, expect, it } from 'vitest'
import { HarnessError } from '../../src/errors.ts'
import { IsolateRuntime } from '../../src/sandbox/isolate-runtime.ts'
import { runIn, valueOf } from '../helpers/sandbox.ts'

const runtime = new IsolateRuntime()
afterAll(() => runtime.dispose())

describe('values cross the wall whole', () => {
  it.each([
    ['nothing', 'return', undefined],
    ['null', 'return null', null],
    ['negative zero', 'return -0', -0],
    ['a big integer', 'return 12345678901234567890n', 12345678901234567890n],
    ['a text with everything in it', 'return "\\u0000\\ud800 \\u2028 🦊 é"', '\u0000\ud800 \u2028 🦊 é'],
    ['a key named __proto__', 'return JSON.parse(\'{"__proto__":1}\')', JSON.parse('{"__proto__":1}')],
    [
      'an object without a prototype',
      'return Object.assign(Object.create(null), { a: [1, { b: false }] })',
      { a: [1, { b: false }] },
    ],
  ])('%s', async (_title, program, expected) => {
    expect(await valueOf(runIn(runtime, program))).toStrictEqual(expected)
  })

  it('exact numbers of a tool keep every digit through the program and its own JSON.stringify', async () => {
    const program = `
      const { id, ratio, list } = await tools.numbers({})
      return { id, ratio, text: JSON.stringify({ id, ratio }), kinds: [typeof id, typeof ratio, typeof list[0]], sent: await tools.echo({ id }) }`
    const { parseJson, stringifyJson } = await import('../../src/json/text.ts')
    const functions = {
      numbers: async () => parseJson('{"id":725653563933458432123,"ratio":0.1234567890123456789,"list":[7]}'),
      echo: async (args: Parameters<typeof stringifyJson>[0]) => args,
    }
    const value = await valueOf(runIn(runtime, program, { functions }))
    expect(stringifyJson(value ?? null)).toBe(
      '{"id":725653563933458432123,"ratio":0.1234567890123456789,' +
        '"text":"{\\"id\\":725653563933458432123,\\"ratio\\":0.1234567890123456789}",' +
        '"kinds":["bigint","object","number"],"sent":{"id":725653563933458432123}}',
    )
  })

  it('10,000 levels go in, come back and end up in the result', async () => {
    const program =
      'let deep = 1; for (let i = 0; i < 9_990; i++) deep = [deep]; return (await tools.echo({ deep })).deep'
    let value = await valueOf(runIn(runtime, program))
    let levels = 0
    for (; Array.isArray(value); value = value[0]) levels++
    expect(levels).toBe(9_990)
  })

  it('a 10 MB value of a tool reaches the program', async () => {
    const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, name: `row ${id}`, text: 'x'.repeat(64) }))
    const functions = { rows: async () => rows }
    const program = 'const rows = await tools.rows({}); return rows.length + rows[99_999].id'
    expect(await valueOf(runIn(runtime, program, { functions }))).toBe(199_999)
  })
})

describe('what is not JSON is refused with its path', () => {
  it.each([
    ['return { a: [new Date(0)] }', '$.a[0]: Date is not JSON; use .toISOString()'],
    ['return { when: undefined }', '$.when: undefined is not JSON; leave the property out or use null'],
    ['return [1, , 3]', '$: a sparse array is not JSON; fill its gaps or use null'],
    ['return new Map()', '$: Map is not JSON; use Object.fromEntries(map)'],
    ['return { p: tools.echo({}) }', '$.p: a Promise is not JSON; await it'],
    ['const a = {}; a.self = { a }; return a', '$.self.a: a cycle is not JSON; it refers back to an object around it'],
    [
      'class Row { x = 1 } return [new Row()]',
      '$[0]: an instance of Row is not JSON; copy what you need into a plain object',
    ],
    ['return { get x() { return 1 } }', '$.x: a getter is not JSON; copy its value'],
    ['return NaN', '$: NaN is not JSON; use null or a text'],
    ['return () => 1', '$: a function is not JSON; call it or leave it out'],
    ['return { "odd key": Symbol("s") }', '$["odd key"]: a symbol is not JSON; use a text'],
  ])('%s', async (program, message) => {
    const { error } = await runIn(runtime, program)
    expect(error).toEqual({
      kind: 'invalid-output',
      code: 'INVALID_OUTPUT',
      message: `program completion must be lossless JSON: ${message}`,
    })
    const thrown = program.replace('return ', 'const value = ').replace(/;? *$/, '')
    const asArgument = `${thrown}; try { await tools.echo(value) } catch (error) { return [error.name, error.code, error.message] }`
    const refused = await valueOf(runIn(runtime, asArgument))
    const isUndefinedArgument = message.startsWith('$: undefined')
    expect(refused).toEqual([
      'ToolCallError',
      'INVALID_ARGS',
      isUndefinedArgument ? expect.any(String) : `tool arguments must be lossless JSON: ${message}`,
    ])
  })
})

describe('a failing call is an ordinary rejection', () => {
  const functions = {
    fail: async () => {
      throw Object.assign(new HarnessError('no such city', 'UNKNOWN_CITY'), { retryable: false })
    },
    'math.sum': async (args: unknown) => (args as { values: number[] }).values.reduce((sum, value) => sum + value, 0),
    math: async () => 'the function that is also a prefix',
    __proto__x: async () => 1,
    constructor: async () => 'a tool named constructor',
    then: async () => 'a tool named then',
  }

  it('it carries tool name, message, code and whether a retry makes sense', async () => {
    const program = `try { await tools.fail({}) } catch (error) {
      return [error instanceof ToolCallError, error instanceof Error, error.name, error.toolName, error.message, error.code, error.retryable] }`
    expect(await valueOf(runIn(runtime, program, { functions }))).toEqual([
      true,
      true,
      'ToolCallError',
      'fail',
      'no such city',
      'UNKNOWN_CITY',
      false,
    ])
  })

  it('uncaught it ends the program with its own code, tool and place', async () => {
    const { error } = await runIn(runtime, 'const a = 1\n  await tools.fail({})', { functions })
    expect(error).toMatchObject({ kind: 'exception', code: 'UNKNOWN_CITY', toolName: 'fail', message: 'no such city' })
    expect(error?.stack).toContain('program.ts:2:')
  })

  it('every name stays callable: dots nest, prefixes are functions, odd names are quoted', async () => {
    const program = `return [await tools.math.sum({ values: [1, 2] }), await tools["math.sum"]({ values: [3] }), await tools.math({}),
      await tools["constructor"]({}), await tools["then"]({}), typeof tools.toString]`
    expect(await valueOf(runIn(runtime, program, { functions }))).toEqual([
      3,
      3,
      'the function that is also a prefix',
      'a tool named constructor',
      'a tool named then',
      'undefined',
    ])
  })

  it('a call without arguments sends an empty object, a second argument is refused', async () => {
    const program =
      'const none = await tools.echo(); try { await tools.echo({}, 2) } catch (e) { return [none, e.message] }'
    expect(await valueOf(runIn(runtime, program))).toEqual([{}, 'echo takes one arguments object, 2 arguments came'])
  })
})

describe('each budget ends a run with its own kind', () => {
  it.each([
    ['a loop', 'for (;;);', { cpuMs: 300 }, 'timeout', 'CPU_BUDGET'],
    ['a loop behind a call that is pending', 'void tools.slow({}); for (;;);', { cpuMs: 300 }, 'timeout', 'CPU_BUDGET'],
    ['a promise that a tool never settles in time', 'await tools.slow({})', { wallMs: 400 }, 'timeout', 'WALL_BUDGET'],
    [
      'a timer that is never due in time',
      'await new Promise((r) => setTimeout(r, 60_000))',
      { wallMs: 400 },
      'timeout',
      'WALL_BUDGET',
    ],
    ['a promise that nothing can settle', 'await new Promise(() => {})', {}, 'exception', 'NEVER_FINISHES'],
    [
      'a heap that fills up',
      'const all = []; for (;;) all.push({ text: "x".repeat(100) })',
      { memoryMb: 32 },
      'worker-exit',
      'OUT_OF_MEMORY',
    ],
    ['a console flood', 'for (;;) console.log("line")', { maxOutputBytes: 4_096 }, 'output-limit', 'OUTPUT_LIMIT'],
    [
      'a result that is too large',
      'return "x".repeat(5_000)',
      { maxOutputBytes: 4_096 },
      'output-limit',
      'OUTPUT_LIMIT',
    ],
    [
      'an uncaught error in a timer',
      'setTimeout(() => { throw new RangeError("late") }, 1); await tools.slow({})',
      {},
      'exception',
      'CODE_RUN_FAILED',
    ],
    [
      'a hostile thrown proxy',
      'throw new Proxy(new Error(), { get() { for (;;); }, getPrototypeOf() { for (;;); } })',
      { cpuMs: 300 },
      'timeout',
      'CPU_BUDGET',
    ],
    [
      'text that closes the function around it',
      '} globalThis.out = 1; async function more() {',
      {},
      'exception',
      'SYNTAX_ERROR',
    ],
  ] as const)('%s', async (_title, program, limits, kind, code) => {
    const functions = { slow: () => new Promise<null>((resolve) => setTimeout(resolve, 3_000, null)) }
    const { error } = await runIn(runtime, program, { functions, limits })
    expect(error).toMatchObject({ kind, code })
    expect(await valueOf(runIn(runtime, 'return "next"'))).toBe('next')
  })

  it('waiting for tools costs no compute', async () => {
    const functions = { slow: () => new Promise<string>((resolve) => setTimeout(resolve, 1_200, 'done')) }
    expect(await valueOf(runIn(runtime, 'return await tools.slow({})', { functions, limits: { cpuMs: 300 } }))).toBe(
      'done',
    )
  })

  it('a flood of calls is refused one by one, catchably, past the budget', async () => {
    const program = `const settled = await Promise.allSettled(Array.from({ length: 30 }, () => tools.echo({})))
      return settled.map((s) => s.status === 'fulfilled' ? 'ok' : s.reason.code)`
    const value = await valueOf(runIn(runtime, program, { limits: { maxSubCalls: 25 } }))
    expect(value).toEqual([...Array<string>(25).fill('ok'), ...Array<string>(5).fill('SUB_CALL_BUDGET')])
  })

  it('arguments over their limit are refused catchably and nothing is called', async () => {
    let calls = 0
    const functions = { count: async () => ++calls }
    const program = 'try { await tools.count({ text: "x".repeat(2_000) }) } catch (e) { return e.code }'
    expect(await valueOf(runIn(runtime, program, { functions, limits: { maxMessageBytesOut: 1_024 } }))).toBe(
      'MESSAGE_TOO_LARGE',
    )
    expect(calls).toBe(0)
  })

  it('a value of a tool over its limit is a catchable failure of that call', async () => {
    const functions = { big: async () => 'x'.repeat(2_000) }
    const program = 'try { await tools.big({}) } catch (e) { return e.code }'
    expect(await valueOf(runIn(runtime, program, { functions, limits: { maxMessageBytes: 1_024 } }))).toBe(
      'MESSAGE_TOO_LARGE',
    )
  })

  it.each([
    ['exactly at the limit', 57, undefined],
    ['one byte over it', 58, 'output-limit'],
  ])('output %s', async (_title, length, kind) => {
    // [""] and "…": two brackets, two quotes for the line, then the value with its own quotes.
    const program = `console.log('€'); return 'x'.repeat(${length})`
    const { error } = await runIn(runtime, program, { limits: { maxOutputBytes: 2 + 5 + 2 + 57 } })
    expect(error?.kind).toBe(kind)
  })

  it.each([
    ['fits', 27, 'exception'],
    ['does not fit', 28, 'output-limit'],
  ])('the message of a failure counts as output: one that %s', async (_title, length, kind) => {
    // Two brackets, two quotes for each text, the line of 31 letters, the message.
    const program = `console.log('x'.repeat(31)); throw new Error('y'.repeat(${length}))`
    const { error } = await runIn(runtime, program, { limits: { maxOutputBytes: 2 + 2 + 31 + 2 + 27 } })
    expect(error?.kind).toBe(kind)
  })

  it('no more than 50,000 lines are printed, however short they are', async () => {
    const { logs, error } = await runIn(
      runtime,
      'for (;;) { for (let i = 0; i < 5_000; i++) console.log(""); await null }',
    )
    expect(error).toEqual({ kind: 'output-limit', code: 'OUTPUT_LIMIT', message: 'more than 50000 console lines' })
    expect(logs).toHaveLength(50_000)
  })

  it('what was printed before the end is kept, also when the child had to be killed', async () => {
    const { logs, error } = await runIn(
      runtime,
      'console.log("one"); console.log("two"); for (;;) new Array(100).fill(0)',
      {
        limits: { cpuMs: 300 },
      },
    )
    expect(error?.code).toBe('CPU_BUDGET')
    expect(logs).toEqual(['one', 'two'])
  })
})

describe('one program knows nothing of another', () => {
  it('globals and prototypes are fresh in each run', async () => {
    await runIn(runtime, 'globalThis.left = 1; Array.prototype.left = 1; tools.echo = null')
    expect(await valueOf(runIn(runtime, 'return [typeof left, typeof [].left, typeof tools.echo]'))).toEqual([
      'undefined',
      'undefined',
      'function',
    ])
  })

  it('patched prototypes and globals change the program only, not the bridge', async () => {
    const program = `
      Promise.prototype.then = () => { throw 1 }; Array.prototype[Symbol.iterator] = null
      JSON.stringify = JSON.parse = null; Object.prototype.toJSON = () => 'forged'; Map.prototype.get = null
      Object.defineProperty(Array.prototype, 0, { set() { throw 2 } }); Reflect.ownKeys = Object.getOwnPropertyDescriptor = null
      String.prototype.slice = Function.prototype.call = Function.prototype.apply = null
      const echoed = await tools.echo({ a: 'b' })
      console.log({ echoed })
      return { echoed }`
    const { value, logs, error } = await runIn(runtime, program)
    expect(error).toBeUndefined()
    expect(value).toEqual({ echoed: { a: 'b' } })
    expect(logs).toEqual(['{ echoed: { a: "b" } }'])
  })

  it('a rejection that nothing handles is reported and does not end the run', async () => {
    const { value, logs } = await runIn(
      runtime,
      'void Promise.reject(new Error("forgotten")); await tools.echo({}); return 1',
    )
    expect(value).toBe(1)
    expect(logs).toEqual(['Unhandled rejection: Error: forgotten'])
  })

  it('there is no way to memory outside the heap, to the network or to the process', async () => {
    const names = 'WebAssembly SharedArrayBuffer Atomics process require fetch ivm guest boot Buffer'
    const program = `return ${JSON.stringify(names.split(' '))}.filter((name) => name in globalThis)`
    expect(await valueOf(runIn(runtime, program))).toEqual([])
  })
})

describe('a run can be cancelled', () => {
  it.each([
    ['while it computes', 'for (;;);'],
    ['while it waits for a tool', 'await tools.slow({})'],
  ])('%s', async (_title, program) => {
    const controller = new AbortController()
    const functions = { slow: () => new Promise<null>((resolve) => setTimeout(resolve, 3_000, null)) }
    setTimeout(() => controller.abort(new Error('no longer needed')), 300)
    const { error } = await runIn(runtime, program, { functions, signal: controller.signal })
    expect(error).toEqual({ kind: 'abort', code: 'ABORTED', message: 'no longer needed' })
  })

  it('before it starts it costs nothing', async () => {
    const { error } = await runIn(runtime, 'return 1', { signal: AbortSignal.abort(new Error('too late')) })
    expect(error).toEqual({ kind: 'abort', code: 'ABORTED', message: 'too late' })
  })
})

describe('timers', () => {
  it('fire in order of their time, then of their setting, with microtasks in between', async () => {
    const program = `
      const seen = []
      setTimeout(() => { seen.push('late') }, 30)
      setTimeout((who) => { seen.push(who); queueMicrotask(() => seen.push('microtask')) }, 5, 'first')
      setTimeout(() => { seen.push('second') }, 5)
      const cleared = setTimeout(() => { seen.push('never') }, 5)
      clearTimeout(cleared)
      let ticks = 0
      await new Promise((done) => { const id = setInterval(() => { seen.push('tick'); if (++ticks === 2) { clearInterval(id); done() } }, 40) })
      return seen`
    expect(await valueOf(runIn(runtime, program))).toEqual(['first', 'microtask', 'second', 'late', 'tick', 'tick'])
  })
})
