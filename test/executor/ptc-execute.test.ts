import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPtc, defineTool, type Ptc, type ToolBatchResult } from '../../src/index.ts'
import { echo, sleep } from '../helpers/ptc.ts'

describe('the calls of a model', () => {
  let ptc: Ptc
  beforeAll(async () => {
    ptc = await createPtc({ tools: [echo, sleep] })
  })
  afterAll(() => ptc.close())

  function call(name: string, args: string, signal = new AbortController().signal): Promise<ToolBatchResult> {
    return ptc.execute({ calls: [{ type: 'tool-call', id: 'call_1', name, arguments: args }], signal })
  }
  async function textOf(batch: Promise<ToolBatchResult>): Promise<string> {
    const [block] = (await batch).results[0]?.result.content ?? []
    return block?.type === 'text' ? block.text : ''
  }

  it.each([
    ['a value', 'return { a: [1] }', '{\n  "a": [\n    1\n  ]\n}'],
    ['a text as it is', 'return "two\\nlines"', 'two\nlines'],
    ['console lines before the value', 'console.log("one"); console.log("two"); return 3', 'one\ntwo\n3'],
    ['null, which is a value', 'return null', 'null'],
    ['nothing at all', 'await tools.echo({})', '(run_code completed with no output)'],
    ['a number with every digit', 'return 12345678901234567890n', '12345678901234567890'],
  ])('the model reads %s', async (_title, code, text) => {
    expect(await textOf(call('run_code', JSON.stringify({ code, description: 'Try it' })))).toBe(text)
  })

  it('the model reads a failure with kind, place, frame, effects and what was printed', async () => {
    const code = 'console.log("before")\nawait tools.echo({ a: 1 })\nthrow new Error("broken")'
    expect(await textOf(call('run_code', JSON.stringify({ code, description: 'Fail' })))).toBe(
      [
        'Error: code run failed (exception): broken (line 3, column 7)',
        '  1 | console.log("before")',
        '  2 | await tools.echo({ a: 1 })',
        '> 3 | throw new Error("broken")',
        '    |       ^',
        'Tool calls that had already run, and will run again if the program does: echo.',
        'Captured output:',
        'before',
      ].join('\n'),
    )
  })

  it('a failure carries its class and code', async () => {
    const { results } = await call('run_code', '{"code":"throw 1"}')
    expect(results[0]?.result).toMatchObject({
      isError: true,
      error: { info: { name: 'CodeRunFailedError', code: 'CODE_RUN_FAILED' } },
    })
  })

  it('an output that is too long for a model is cut in the middle, with its whole size', async () => {
    const { results } = await call(
      'run_code',
      JSON.stringify({ code: 'return "é".repeat(60_000)', description: 'Print a lot' }),
    )
    const result = results[0]?.result
    const text = result?.content[0]?.type === 'text' ? result.content[0].text : ''
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50_000)
    expect(text).toMatch(/^é+\n\n… 120000 bytes in all, the middle is left out here; `ptc log show .* …\n\né+$/)
    expect(result?.value).toMatchObject({ truncated: true, originalBytes: 120_000 })
  })

  it.each([
    [
      'arguments that are no JSON',
      'run_code',
      '{"code": "return',
      'INVALID_ARGS',
      /the arguments are not JSON: .*position/,
    ],
    ['no program', 'run_code', '{}', 'INVALID_ARGS', /missing required property "code"/],
    ['empty arguments', 'run_code', '', 'INVALID_ARGS', /missing required property "code"/],
    ['a program that is no text', 'run_code', '{"code":1}', 'INVALID_ARGS', /"code" must be a string/],
    [
      'a deadline that cannot be',
      'run_code',
      '{"code":"","timeoutMs":-1}',
      'INVALID_ARGS',
      /"timeoutMs" must be a positive number/,
    ],
    [
      'a direct call of another tool',
      'echo',
      '{}',
      'UNKNOWN_TOOL',
      /only `run_code` is callable directly; call it from inside a program: await tools\["echo"\]/,
    ],
    ['a tool that exists nowhere', 'nothing', '{}', 'UNKNOWN_TOOL', /^unknown tool "nothing"$/],
  ])('%s is a failed result', async (_title, name, args, code, message) => {
    const { results } = await call(name, args)
    const result = results[0]?.result
    expect(result?.error?.info?.code).toBe(code)
    expect(result?.error?.message).toMatch(message)
  })

  it.each(['{"code":"return 1"}', '{"code":"return 1","description":"  "}'])(
    'a program runs without a description: %s',
    async (args) => {
      expect(await textOf(call('run_code', args))).toBe('1')
    },
  )

  it('the model may ask for less time, not for more', async () => {
    const text = await textOf(
      call(
        'run_code',
        JSON.stringify({ code: 'await tools.sleep({ ms: 60_000 })', description: 'Wait', timeoutMs: 300 }),
      ),
    )
    expect(text).toContain('code run failed (timeout): the run took longer than 300 ms')
  })

  it('there is one result per call, in order, also after cancellation', async () => {
    const calls = ['a', 'b', 'c'].map((id) => ({
      type: 'tool-call' as const,
      id,
      name: 'run_code',
      arguments: '{"code":"await tools.sleep({ ms: 60000 })"}',
    }))
    const { results } = await ptc.execute({ calls, signal: AbortSignal.timeout(400) })
    expect(results.map(({ callId, result }) => [callId, result.error?.info?.code])).toEqual([
      ['a', 'ABORTED'],
      ['b', 'ABORTED_BEFORE_DISPATCH'],
      ['c', 'ABORTED_BEFORE_DISPATCH'],
    ])
  })

  it('sub-calls have ids of their parent, its root and its token', async () => {
    const seen: unknown[] = []
    const dispose = ptc.tools.on('tools/result', (exec) => {
      seen.push([exec.callId, exec.rootCallId, typeof exec.parent, Object.isFrozen(exec)])
      return undefined
    })
    await call('run_code', '{"code":"await tools.echo({}); await tools.echo({})"}')
    dispose()
    expect(seen).toEqual([
      ['call_1:ptc:1', 'call_1', 'symbol', true],
      ['call_1:ptc:2', 'call_1', 'symbol', true],
      ['call_1', 'call_1', 'undefined', true],
    ])
  })

  it('a policy that denies a sub-call is what the program catches', async () => {
    const dispose = ptc.tools.on('tools/pre-execute', async (exec, next) =>
      exec.name === 'echo'
        ? { kind: 'deny', reason: 'not today', info: { name: 'PolicyError', code: 'NOT_TODAY' } }
        : next(),
    )
    const code = 'try { await tools.echo({}) } catch (e) { return [e.code, e.message] }'
    expect(JSON.parse(await textOf(call('run_code', JSON.stringify({ code }))))).toEqual(['NOT_TODAY', 'not today'])
    dispose()
  })

  it('images and contexts of sub-calls ride on the outer result', async () => {
    const dispose = ptc.tools.register({
      name: 'picture',
      description: 'Makes a picture.',
      parameters: { type: 'object' },
      output: { schema: {}, render: () => [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] },
      execute: async (_args, exec) => {
        exec.deferContext({ role: 'user', content: [{ type: 'text', text: 'a note' }], source: { kind: 'test' } })
        exec.concludeTurn()
        return 'handle'
      },
    })
    const batch = await call('run_code', '{"code":"return await tools.picture({})"}')
    dispose()
    expect(batch.concluded).toBe(true)
    expect(batch.additionalContexts).toEqual([
      { role: 'user', content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }], source: { kind: 'ptc-mode' } },
      { role: 'user', content: [{ type: 'text', text: 'a note' }], source: { kind: 'test' } },
    ])
  })

  it('only the durable copy of a sub-call is shaped for the log', async () => {
    const dispose = ptc.tools.on('tools/ptc-dispatch-log', async () => [{ type: 'text', text: 'redacted' }])
    const { runId, value } = await ptc.run('return await tools.echo({ secret: 1 })')
    dispose()
    expect(value).toEqual({ secret: 1 })
    expect(ptc.log.run(runId).calls).toMatchObject([{ content: [{ type: 'text', text: 'redacted' }] }])
  })

  it('what a model is given is one schema and the same text for the same tools', () => {
    const { schemas, sections, knownNames } = ptc.describe()
    expect(schemas.map(({ name }) => name)).toEqual(['run_code'])
    expect(knownNames).toEqual(['run_code'])
    expect(sections.map(({ name }) => name)).toEqual(['tools:ptc-only', 'tools:sdk'])
    expect(sections[1]?.text).toContain('echo')
    expect(ptc.describe()).toEqual({ schemas, sections, knownNames })
  })

  it('an agent sees its own tools, and its programs call them', async () => {
    const agent = ptc.agent({ id: 'researcher' })
    const scoped = ptc.tools.in(agent)
    const dispose = scoped.register(
      defineTool({ name: 'mine', description: 'Mine.', parameters: {}, execute: () => 'mine' }),
    )
    expect((await ptc.run('return await tools.mine({})', { agent })).value).toBe('mine')
    expect((await ptc.run('return typeof tools.mine')).value).toBe('undefined')
    dispose()
  })
})
