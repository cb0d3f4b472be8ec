import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPtc, defineTool, HarnessError, type Ptc, type RunOutcome, type ToolDefinition } from '../../src/index.ts'
import { watchLag } from '../helpers/lag.ts'
import { echo, sleep } from '../helpers/ptc.ts'

/** Tools that fail in each way in which a tool can. */
const bad: readonly ToolDefinition[] = [
  defineTool({
    name: 'throws',
    description: 'Throws.',
    parameters: {},
    execute: () => {
      throw new Error('the disk is on fire', { cause: new Error('secret') })
    },
  }),
  defineTool({
    name: 'throws_code',
    description: 'Throws with a code.',
    parameters: {},
    execute: async () => {
      throw new HarnessError('no such city', 'UNKNOWN_CITY')
    },
  }),
  defineTool({
    name: 'throws_hostile',
    description: 'Throws something that cannot be read.',
    parameters: {},
    execute: async () => {
      throw new Proxy(
        {},
        {
          get: () => {
            throw new Error('no')
          },
          has: () => {
            throw new Error('no')
          },
          getPrototypeOf: () => {
            throw new Error('no')
          },
        },
      )
    },
  }),
  {
    name: 'lossy',
    description: 'Returns what is not JSON.',
    parameters: { type: 'object' },
    output: { schema: {}, render: () => [] },
    execute: async () => ({ rows: [{ when: new Date(0) }] }),
  },
  defineTool({
    name: 'wrong',
    description: 'Breaks its own declaration.',
    parameters: {},
    output: { schema: { type: 'integer' } },
    // The declaration says integer; what really comes is another matter.
    execute: async () => 'seven' as unknown as number,
  }),
  defineTool({
    name: 'big',
    description: 'Returns 10 MB.',
    parameters: {},
    output: { schema: { type: 'string' }, render: () => [{ type: 'text', text: '(10 MB)' }] },
    execute: async () => 'x'.repeat(10_000_000),
  }),
]

describe('a run of ptc.run', () => {
  let ptc: Ptc
  beforeAll(async () => {
    ptc = await createPtc({ tools: [echo, sleep, ...bad], limits: { memoryMb: 256 } })
  })
  afterAll(() => ptc.close())

  it.each([
    ['throws', '{}', 'TOOL_FAILED', 'the disk is on fire'],
    ['throws_code', '{}', 'UNKNOWN_CITY', 'no such city'],
    ['throws_hostile', '{}', 'TOOL_FAILED', '<unprintable thrown value>'],
    [
      'lossy',
      '{}',
      'INVALID_TOOL_OUTPUT',
      'tool "lossy" returned invalid output: value is not lossless JSON: $.rows[0].when: Date is not JSON; use .toISOString()',
    ],
    ['wrong', '{}', 'INVALID_TOOL_OUTPUT', 'tool "wrong" returned invalid output: "value" must be an integer'],
    ['sleep', '{ ms: "long" }', 'INVALID_ARGS', 'invalid arguments: "ms" must be an integer'],
  ])('a call of %s is a ToolCallError for the program, and on record once', async (name, args, code, message) => {
    const program = `try { await tools.${name}(${args}) } catch (error) { return [error instanceof ToolCallError, error.toolName, error.code, error.message] }`
    const { value, runId } = await ptc.run(program)
    expect(value).toEqual([true, name, code, message])
    expect(ptc.log.run(runId).calls).toMatchObject([{ name, is_error: true, settled_at: expect.any(Number) }])
  })

  it('a 10 MB value reaches the program and the run is on record', async () => {
    const { value, runId } = await ptc.run('return (await tools.big({})).length')
    expect(value).toBe(10_000_000)
    expect(ptc.log.run(runId).calls).toMatchObject([{ content: [{ type: 'text', text: '(10 MB)' }] }])
  })

  it('a program may be anything of TypeScript', async () => {
    const source = `
      enum Color { Red = 'red', Blue = 'blue' }
      interface Row<T extends string = string> { readonly name: T; when?: number }
      const rows = [{ name: 'a' }, { name: 'b', when: 2 }] satisfies Row[]
      class Counter { #count = 0; static readonly step = 2 as const; next(): number { return this.#count += Counter.step } }
      const counter = new Counter(); counter.next()
      const { name } = rows[0]!
      async function* numbers(): AsyncGenerator<number> { yield 1; yield 2 }
      let sum = 0; for await (const n of numbers()) sum += n
      label: for (const x of [1, 2]) { if (x === 1) continue label; sum += x }
      return { color: Color.Blue, name, count: counter.next(), sum, text: \`\${\`in\${'ner'}\`}\` } as const`
    expect((await ptc.run(source)).value).toEqual({ color: 'blue', name: 'a', count: 4, sum: 5, text: 'inner' })
  })

  it.each([
    ['an uncaught error', '\n\nconst rows = null\nconst first = rows[0]', 'exception', 'CODE_RUN_FAILED', 4, 15],
    ['a syntax error', 'const a = 1\nconst b = = 2', 'exception', 'SYNTAX_ERROR', 2, 11],
    [
      'a failing tool that nobody catches',
      '// comment\n\tawait tools.throws_code({})',
      'exception',
      'UNKNOWN_CITY',
      2,
      14,
    ],
    [
      'a throw inside a function',
      'function deep(): never {\n  throw new RangeError("too deep")\n}\n\ndeep()',
      'exception',
      'CODE_RUN_FAILED',
      2,
      9,
    ],
  ])('%s says where in the program it was', async (_title, source, kind, code, line, column) => {
    const { error } = await ptc.run(source)
    expect(error).toMatchObject({ kind, code, line, column })
    expect(error?.frame).toContain(`> ${line} | `)
    expect(error?.message).not.toMatch(/\/|node:|isolated-vm/)
  })

  it.each([
    ['tools.ecko({})', 'TypeError: tools.ecko is not a function; there is no tool "ecko": did you mean echo?'],
    ['tools["no such thing at all"]({})', /is not a function/],
    [
      'require("fs")',
      'ReferenceError: require is not defined; a program has no modules, files, network or process; call a tool instead',
    ],
    [
      'fetch("http://x")',
      'ReferenceError: fetch is not defined; a program has no modules, files, network or process; call a tool instead',
    ],
    [
      'import("node:fs")',
      'Not supported: import() is not available; a program has no modules, files, network or process; call a tool instead',
    ],
    [
      '1n + Number("1")',
      /Cannot mix BigInt .*; a tool number beyond 2\^53 arrives as a bigint: convert with Number\(x\)/,
    ],
  ])('%s says what to do instead', async (expression, message) => {
    const { error } = await ptc.run(`return await ${expression}`)
    expect(error?.message).toMatch(message)
  })

  it('calls that were not awaited are cut off, settled on record, and reported', async () => {
    const source =
      'await tools.echo({})\nvoid tools.sleep({ ms: 60_000 })\nawait new Promise((done) => setTimeout(done, 50))\nreturn 1'
    const { ok, logs, runId } = await ptc.run(source)
    expect(ok).toBe(true)
    expect(logs).toEqual([
      'Note: 1 tool call(s) were not awaited and were cut off when the program ended (sleep); await them.',
    ])
    expect(ptc.log.run(runId).calls).toMatchObject([
      { name: 'echo', is_error: false },
      { name: 'sleep', is_error: true, error_code: 'ABORTED' },
    ])
  })

  it('a stack in the console shows the lines of the program', async () => {
    const { logs } = await ptc.run('type Unused = { a: 1 }\n\nconsole.log(new Error("seen"))')
    expect(logs).toEqual(['Error: seen\n    at program.ts:3:13'])
  })

  it('the host stays responsive while programs misbehave, and the next run works', async () => {
    const lag = watchLag()
    const kinds = await Promise.all(
      [
        'for (;;);',
        'await new Promise(() => {})',
        'const a = []; for (;;) a.push("x".repeat(1e6))',
        'for (;;) console.log("flood")',
        'for (;;) tools.echo({})',
        'throw new Proxy({}, { get() { for (;;); } })',
        'return () => 1',
      ].map(
        async (source) =>
          (await ptc.run(source, { limits: { cpuMs: 500, memoryMb: 64, maxOutputBytes: 65_536 } })).error?.kind,
      ),
    )
    expect(kinds.slice(0, 2)).toEqual(['timeout', 'exception'])
    expect(kinds[3]).toBe('output-limit')
    expect(kinds[6]).toBe('invalid-output')
    expect(kinds).not.toContain(undefined)
    expect(lag.stop()).toBeLessThan(1_000)
    expect((await ptc.run('return "fine"')).value).toBe('fine')
  })

  it('cancellation reaches a tool through its signal and ends the run', async () => {
    const control = new AbortController()
    const outcome = await ptc.run('await tools.sleep({ ms: 60_000 })', {
      signal: control.signal,
      onEvent: ({ type }) => {
        if (type === 'sub-call-start') setTimeout(() => control.abort(), 50)
      },
    })
    expect(outcome).toMatchObject({ ok: false, error: { kind: 'abort' } })
    expect(ptc.log.run(outcome.runId).calls).toMatchObject([{ name: 'sleep', is_error: true, error_code: 'ABORTED' }])
  })

  it('a run may lower budgets, never raise them', async () => {
    const lowered = await ptc.run('for (;;);', { limits: { cpuMs: 200 } })
    expect(lowered.error?.message).toContain('200 ms')
    const raised: RunOutcome = await ptc.run('const a = []; for (;;) a.push(new Array(10_000).fill(1.5))', {
      limits: { memoryMb: 4_096 },
    })
    expect(raised.error?.message).toContain('256 MB')
  })

  it.each([
    [
      'an option that does not exist',
      () => ptc.run('', { timeout: 1 } as object),
      'ptc.run does not know the option timeout; it knows signal, agent',
    ],
    [
      'a limit that does not exist',
      () => ptc.run('', { limits: { cpu: 1 } as object }),
      'unknown limit "cpu"; known limits: cpuMs',
    ],
    [
      'a limit that cannot be',
      () => ptc.run('', { limits: { cpuMs: -1 } }),
      'limit cpuMs must be a whole number from 1 to 2147483647, -1 came',
    ],
    [
      'a program that is no text',
      () => ptc.run(7 as unknown as string),
      'ptc.run takes the program as a text, number came',
    ],
  ])('%s is refused', async (_title, misuse, message) => {
    await expect(misuse()).rejects.toThrow(message)
  })
})

describe('createPtc', () => {
  it.each([
    ['an unknown option', { tool: [] }, 'createPtc does not know the option tool; it knows tools, log'],
    ['a type check that is not there', { typeCheck: 'error' }, 'typeCheck must be \'off\', "error" came'],
    ['a profile that is not there', { profile: 'hardened' }, 'profile must be \'default\', "hardened" came'],
    ['two tools of one name', { tools: [echo, { ...echo }] }, 'tool "echo" is already registered'],
    ['the reserved name', { tools: [{ ...echo, name: 'run_code' }] }, 'tool "run_code" is reserved'],
    ['something that is no tool', { tools: [{ name: 'x' }] }, 'tool "x" needs a description: a text'],
    [
      'a log below a folder that does not exist',
      { log: '/no/such/folder/log.db' },
      'the folder /no/such/folder does not exist; create it first',
    ],
  ])('refuses %s', async (_title, options, message) => {
    await expect(createPtc(options as object)).rejects.toThrow(message)
  })

  it('after close every call says so, and close may be called again', async () => {
    const ptc = await createPtc({ tools: [echo] })
    await ptc.close()
    await ptc.close()
    await expect(ptc.run('return 1')).rejects.toThrow('this instance is closed: create a new one with createPtc')
  })

  it('close cancels live runs and waits for them', async () => {
    const ptc = await createPtc({ tools: [sleep] })
    const running = ptc.run('await tools.sleep({ ms: 60_000 })')
    await new Promise((resolve) => setTimeout(resolve, 400))
    await ptc.close()
    expect(await running).toMatchObject({ ok: false, error: { kind: 'abort' } })
  })
})
