import { describe, expect, it } from 'vitest'
import {
  createPtc,
  defineTool,
  NativeExecutor,
  ToolBatchExecutionError,
  ToolExecutionPipeline,
  ToolsService,
} from '../../src/index.ts'
import { message, text } from '../pipeline/house.ts'
import { block, codes, nativeHouse, noting, recordingAgent } from './batches.ts'

const log = { turn: 3, step: 7 }

describe('a batch of direct calls', () => {
  it('overlaps what is safe, and its results keep the order of the model', async () => {
    const seen: string[] = []
    const { run } = nativeHouse([noting(seen, 'safe', true)])
    const batch = await run([
      block('a', 'safe', { id: 'a', ms: 60 }),
      block('b', 'safe', { id: 'b', ms: 30 }),
      block('c', 'safe', { id: 'c', ms: 1 }),
    ])
    expect(seen).toEqual(['begin a', 'begin b', 'begin c', 'end c', 'end b', 'end a'])
    expect(codes(batch)).toEqual(['a ok', 'b ok', 'c ok'])
  })

  it('treats an exclusive call as a barrier', async () => {
    const seen: string[] = []
    const { run } = nativeHouse([noting(seen, 'safe', true), noting(seen, 'alone', false)])
    await run([
      block('a', 'safe', { id: 'a', ms: 20 }),
      block('b', 'alone', { id: 'b', ms: 5 }),
      block('c', 'safe', { id: 'c', ms: 5 }),
      block('d', 'safe', { id: 'd', ms: 1 }),
    ])
    expect(seen).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'begin d', 'end d', 'end c'])
  })

  it.each<[string, number | undefined, number | undefined, number]>([
    ['ten by default', undefined, undefined, 10],
    ['as the executor has it', 3, undefined, 3],
    ['as the batch has it, whatever the executor says', 3, 5, 5],
    ['one by one', 1, undefined, 1],
  ])('never has more bodies overlap than allowed: %s', async (_title, configured, asked, most) => {
    let [running, peak] = [0, 0]
    const count = defineTool({
      name: 'count',
      description: 'Counts.',
      parameters: {},
      isConcurrencySafe: () => true,
      execute: async () => {
        peak = Math.max(peak, ++running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        return null
      },
    })
    const { run } = nativeHouse([count], configured === undefined ? {} : { maxParallelToolCalls: configured })
    const calls = Array.from({ length: 25 }, (_, index) => block(`c${index}`, 'count'))
    await run(calls, asked === undefined ? {} : { maxParallelToolCalls: asked })
    expect(peak).toBe(most)
  })

  it.each([0, -1, 1.5, Number.NaN])('refuses a limit of %s', async (limit) => {
    const tools = new ToolsService()
    const pipeline = new ToolExecutionPipeline({ tools })
    const refusal = /maxParallelToolCalls must be a positive integer/
    expect(() => new NativeExecutor({ pipeline, maxParallelToolCalls: limit })).toThrow(refusal)
    const { run } = nativeHouse([])
    await expect(run([], { maxParallelToolCalls: limit })).rejects.toThrow(refusal)
  })

  it('is empty where the model called nothing', async () => {
    expect(await nativeHouse([]).run([])).toEqual({ results: [], additionalContexts: [], concluded: false })
  })

  it.each<[string, string, unknown, string]>([
    ['no arguments at all', '', { given: {} }, 'ok'],
    ['arguments that are not JSON', '{"a":', undefined, 'INVALID_ARGS'],
    ['numbers with every digit', '{"n":12345678901234567890}', { given: { n: 12345678901234567890n } }, 'ok'],
  ])('reads %s', async (_title, args, value, code) => {
    const raw = {
      name: 'raw',
      description: '',
      parameters: {},
      output: { schema: {}, render: () => text('done') },
      execute: async (given: unknown) => ({ given }),
    }
    const batch = await nativeHouse([raw]).run([block('c', 'raw', args)])
    expect([codes(batch), batch.results[0]?.result.value]).toEqual([[`c ${code}`], value])
  })

  it('asks the classifier again when a call is about to start', async () => {
    const seen: string[] = []
    let isSafe = true
    const fickle = { ...noting(seen, 'fickle', true), isConcurrencySafe: () => isSafe }
    const { run, service } = nativeHouse([fickle, noting(seen, 'alone', false)])
    service.on('tools/result', ({ callId }) => {
      if (callId === 'a') isSafe = false
      return undefined
    })
    await run([
      block('a', 'alone', { id: 'a', ms: 1 }),
      block('b', 'fickle', { id: 'b', ms: 5 }),
      block('c', 'fickle', { id: 'c', ms: 1 }),
    ])
    expect(seen).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c'])
  })

  it('has a registry change while a call is queued turn that call into a barrier', async () => {
    const seen: string[] = []
    const { run, service } = nativeHouse([noting(seen, 'alone', false)])
    const remove = service.register(noting(seen, 'later', true))
    service.on('tools/result', ({ callId }) => {
      if (callId !== 'a') return undefined
      remove()
      service.register(noting(seen, 'later', false))
      return undefined
    })
    await run([
      block('a', 'alone', { id: 'a', ms: 1 }),
      block('b', 'later', { id: 'b', ms: 5 }),
      block('c', 'later', { id: 'c', ms: 1 }),
    ])
    expect(seen).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c'])
  })

  it('a classifier cannot change what will run', async () => {
    const tool = defineTool({ name: 'given', description: '', parameters: {}, execute: async (args) => ({ ...args }) })
    const greedy = {
      ...tool,
      isConcurrencySafe: (args: unknown) => {
        Object.assign(Object(args), { forged: true })
        return true
      },
    }
    const { results } = await nativeHouse([greedy]).run([block('c', 'given', { a: 1 })])
    expect(results[0]?.result.value).toEqual({ a: 1 })
  })
})

describe('what a batch gives to the next step', () => {
  it('is every context in the order of the calls, and whether a success concludes the turn', async () => {
    const late = defineTool({
      name: 'late',
      description: '',
      parameters: { label: { type: 'string', required: true }, ms: { type: 'number', required: true } },
      isConcurrencySafe: () => true,
      execute: async ({ label, ms }, exec) => {
        await new Promise((resolve) => setTimeout(resolve, ms))
        exec.deferContext(message(label))
        if (label === 'last') exec.concludeTurn()
        return null
      },
    })
    const { run } = nativeHouse([late])
    const first = await run([
      block('a', 'late', { label: 'first', ms: 30 }),
      block('b', 'late', { label: 'last', ms: 1 }),
    ])
    expect(first.additionalContexts).toEqual([message('first'), message('last')])
    expect(first.concluded).toBe(true)
    expect((await run([block('a', 'late', { label: 'first', ms: 1 })])).concluded).toBe(false)
  })

  it('is not concluded by a call that failed in the end', async () => {
    const ending = defineTool({
      name: 'ending',
      description: '',
      parameters: {},
      execute: async (_args, exec) => exec.concludeTurn() ?? null,
    })
    const { run, service } = nativeHouse([ending])
    service.on('tools/post-execute', async () => ({ kind: 'block', feedback: text('no') }))
    expect((await run([block('a', 'ending')])).concluded).toBe(false)
  })
})

describe('root events', () => {
  it('surround each call of a committed step, the text of its arguments as the model wrote it', async () => {
    const { agent, events, order } = recordingAgent()
    const seen: string[] = []
    const { run } = nativeHouse([noting(seen, 'safe', true)])
    await run([block('a', 'safe', '{ "id": "a", "ms": 20 }'), block('b', 'safe', { id: 'b' }), block('c', 'gone')], {
      agent,
      log,
    })
    // What fails before its body is exclusive, so it waits for the commit before it.
    expect(order()).toEqual([
      'tool/call a',
      'tool/result a',
      'tool/call b',
      'tool/result b',
      'tool/call c',
      'tool/result c',
    ])
    expect(events[0]?.body).toEqual({ ...log, callId: 'a', name: 'safe', arguments: '{ "id": "a", "ms": 20 }' })
    expect(events[1]?.body).toEqual({
      ...log,
      callId: 'a',
      message: {
        role: 'user',
        source: { kind: 'tool', callId: 'a' },
        content: [{ type: 'tool-result', toolCallId: 'a', isError: false, content: text('a') }],
      },
    })
    expect(events[3]?.body).toMatchObject({ error: { name: 'ToolArgsError', code: 'INVALID_ARGS' } })
    expect(events[5]?.body).toMatchObject({ error: { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' } })
  })

  it('start before any policy, and results come in model order', async () => {
    const { agent, order } = recordingAgent()
    const seen: string[] = []
    const { run, service } = nativeHouse([noting(seen, 'safe', true)])
    const atPolicy: string[][] = []
    service.on('tools/pre-execute', async (_exec, next) => (atPolicy.push(order()), next()))
    await run([block('a', 'safe', { id: 'a', ms: 30 }), block('b', 'safe', { id: 'b', ms: 1 })], { agent, log })
    expect(atPolicy).toEqual([['tool/call a'], ['tool/call a', 'tool/call b']])
    expect(order().slice(2)).toEqual(['tool/result a', 'tool/result b'])
  })

  it.each([
    ['without a step', {}],
    ['without an agent', { agent: undefined }],
  ])('are left out %s', async (_title, input) => {
    const { agent, events } = recordingAgent()
    const { run } = nativeHouse([noting([], 'safe', true)])
    const { agent: own } = { agent, ...input }
    await run([block('a', 'safe', { id: 'a', ms: 1 })], own === undefined ? {} : { agent: own })
    expect(events).toEqual([])
  })

  it('need the agent that owns the step', async () => {
    await expect(nativeHouse([]).run([], { log })).rejects.toThrow('a batch with log needs the agent')
  })
})

describe('a batch that is cancelled', () => {
  it('drains what started, in order, and has the rest on record as skipped', async () => {
    const { agent, order } = recordingAgent()
    const seen: string[] = []
    const control = new AbortController()
    const { run, service } = nativeHouse([noting(seen, 'safe', true), noting(seen, 'alone', false)])
    let policies = 0
    service.on('tools/pre-execute', async (_exec, next) => (policies++, next()))
    setTimeout(() => control.abort(), 20)
    const batch = await run(
      [
        block('a', 'safe', { id: 'a', ms: 10_000 }),
        block('b', 'safe', { id: 'b', ms: 10_000 }),
        block('c', 'alone', { id: 'c', ms: 1 }),
        block('d', 'safe', { id: 'd', ms: 1 }),
      ],
      { agent, log, signal: control.signal },
    )
    expect(seen).toEqual(['begin a', 'begin b', 'end a', 'end b'])
    const skipped = 'ABORTED_BEFORE_DISPATCH'
    expect(codes(batch)).toEqual(['a ABORTED', 'b ABORTED', `c ${skipped}`, `d ${skipped}`])
    expect(policies).toBe(2)
    expect(order()).toEqual([
      'tool/call a',
      'tool/call b',
      'tool/result a',
      'tool/result b',
      'tool/call c',
      'tool/result c',
      'tool/call d',
      'tool/result d',
    ])
  })

  it('before it began passes no policy and runs no body', async () => {
    const seen: string[] = []
    const { run, service } = nativeHouse([noting(seen, 'safe', true)])
    service.on('tools/pre-execute', async () => expect.unreachable())
    const batch = await run([block('a', 'safe', { id: 'a', ms: 1 })], { signal: AbortSignal.abort() })
    expect([codes(batch), seen]).toEqual([['a ABORTED_BEFORE_DISPATCH'], []])
  })
})

describe('a batch whose events cannot be written', () => {
  it.each([
    ['the start of its second call', 'tool/call', 'b', ['a ok'], ['begin a', 'end a']],
    ['the result of its first call', 'tool/result', 'a', ['b ok'], ['begin a', 'begin b', 'end b', 'end a']],
  ])('stops at %s, drains, and says what was committed', async (_title, type, callId, committed, bodies) => {
    const { agent } = recordingAgent((event) => event.type === type && event.body['callId'] === callId)
    const seen: string[] = []
    const { run, service } = nativeHouse([noting(seen, 'safe', true), noting(seen, 'alone', false)])
    service.on('tools/execute', async (exec, next) => {
      const result = await next()
      return { ...result, additionalContexts: [message(exec.callId)] }
    })
    const failure = await run(
      [
        block('a', 'safe', { id: 'a', ms: 30 }),
        block('b', 'safe', { id: 'b', ms: 1 }),
        block('c', 'alone', { id: 'c', ms: 1 }),
      ],
      { agent, log },
    ).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ToolBatchExecutionError)
    const { results, additionalContexts, message: said, code } = failure as ToolBatchExecutionError
    expect([said, code]).toEqual([`call "${callId}" broke the batch: the disk is full`, 'TOOL_BATCH_FAILED'])
    expect(codes({ results, additionalContexts: [], concluded: false } as never)).toEqual(committed)
    expect(additionalContexts).toEqual(committed.map((entry) => message(entry.charAt(0))))
    expect(seen).toEqual(bodies)
  })
})

describe('what a native agent is told', () => {
  it('is every tool that may be called directly, by name, and no section', async () => {
    const tools = ['zeta', 'alpha'].map((name) => noting([], name, true))
    const inside = { ...noting([], 'inside', true), allowedCallers: ['program'] as const }
    const { service } = nativeHouse([...tools, inside])
    const { schemas, knownNames, sections } = service.describe()
    expect([schemas.map(({ name }) => name), knownNames, sections]).toEqual([['alpha', 'zeta'], ['alpha', 'zeta'], []])
    expect(Object.keys(schemas[0] ?? {})).toEqual(['name', 'description', 'parameters'])
  })

  it('is nothing of run_code, which no native agent has', async () => {
    const batch = await nativeHouse([]).run([block('a', 'run_code', { code: 'return 1' })])
    expect(codes(batch)).toEqual(['a UNKNOWN_TOOL'])
  })

  it('a tool for programs alone is refused with that reason, before any policy', async () => {
    const inside = { ...noting([], 'inside', true), allowedCallers: ['program'] as const }
    const { run, service } = nativeHouse([inside])
    service.on('tools/pre-execute', async () => expect.unreachable())
    const { results } = await run([block('a', 'inside')])
    expect(results[0]?.result.error).toEqual({
      message: 'unknown tool "inside"; it is for programs only, and this agent runs none',
      info: { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' },
    })
  })

  it('one agent of an instance may be native among others that write programs', async () => {
    const ptc = await createPtc({ tools: [noting([], 'safe', true)] })
    try {
      const agent = ptc.agent({ id: 'native' })
      const dispose = ptc.tools.in(agent).setExecutor(new NativeExecutor({ pipeline: ptc.pipeline }))
      const calls = [block('a', 'safe', { id: 'a', ms: 1 })]
      const signal = new AbortController().signal
      expect(codes(await ptc.execute({ calls, signal, agent }))).toEqual(['a ok'])
      expect(codes(await ptc.execute({ calls, signal }))).toEqual(['a UNKNOWN_TOOL'])
      expect([ptc.describe({ agent }).knownNames, ptc.describe().knownNames]).toEqual([['safe'], ['run_code']])
      dispose()
      expect(() => ptc.describe({ agent })).toThrow('was unloaded and not replaced')
    } finally {
      await ptc.close()
    }
  })
})
