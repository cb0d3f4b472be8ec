import { describe, expect, it } from 'vitest'
import { HarnessError, type ToolExecutionResult, type ToolExecution } from '../../src/index.ts'
import { failureOf, house, isDeepFrozen, labels, message, text } from './house.ts'

describe('a wrapper', () => {
  it('stands around the ones registered after it, and prepend puts one outermost', async () => {
    const { tools, call } = house()
    const order: string[] = []
    const add = (label: string, prepend: boolean): void => {
      tools.on(
        'tools/execute',
        async (_exec, next) => {
          order.push(`${label} in`)
          const result = await next()
          order.push(`${label} out`)
          return result
        },
        { prepend },
      )
    }
    add('first', false)
    add('second', false)
    add('outermost', true)
    await call()
    expect(order).toEqual(['outermost in', 'first in', 'second in', 'second out', 'first out', 'outermost out'])
  })

  it('is not asked about a call that was denied, cancelled or refused', async () => {
    const { tools, call, seen } = house()
    let asked = 0
    tools.on('tools/execute', async (_exec, next) => (asked++, next()))
    const lift = tools.guard(() => 'no')
    await call()
    lift()
    tools.on('tools/pre-execute', async () => ({ kind: 'cancel' }))
    await call()
    await call({ arguments: undefined })
    expect([asked, seen]).toEqual([0, { bodies: 0, finalized: 3, results: 3 }])
  })

  it('sees what the body threw as a failed result, and may run it again', async () => {
    let attempts = 0
    const { tools, call, seen } = house({
      execute: async () => {
        if (++attempts < 3) throw new HarnessError('busy', 'BUSY')
        return attempts
      },
    })
    const failures: unknown[] = []
    tools.on('tools/execute', async (_exec, next) => {
      let result = await next()
      while (result.isError) {
        failures.push(failureOf(result), isDeepFrozen(result))
        result = await next()
      }
      return result
    })
    expect(await call()).toMatchObject({ isError: false, value: 3 })
    expect(failures).toEqual([['BUSY', 'busy'], true, ['BUSY', 'busy'], true])
    expect(seen).toEqual({ bodies: 3, finalized: 1, results: 1 })
  })

  it('gets a deeply frozen success', async () => {
    const { tools, call } = house({
      execute: async () => ({ deep: [1] }),
      output: { schema: {}, render: () => text('it'), presentationMeta: () => ({ deep: [2] }) },
    })
    const frozen: boolean[] = []
    tools.on('tools/execute', async (_exec, next) => {
      const result = await next()
      frozen.push(isDeepFrozen(result))
      return result
    })
    tools.on('tools/post-execute', async (_exec, result, next) => {
      frozen.push(isDeepFrozen(result))
      return next()
    })
    await call()
    expect(frozen).toEqual([true, true])
  })

  it('cannot change the identity, the name or the arguments that the body gets', async () => {
    const bodies: ToolExecution[] = []
    const given: unknown[] = []
    const tried: boolean[] = []
    const { tools, call } = house({ execute: async (args, exec) => void given.push(args, bodies.push(exec)) })
    tools.on('tools/execute', async (exec, next) => {
      for (const [key, forged] of Object.entries({
        name: 'other',
        arguments: { forged: true },
        callId: 'forged',
        more: 1,
      })) {
        tried.push(Reflect.set(exec, key, forged))
      }
      return next()
    })
    await call()
    expect(tried).toEqual([false, false, false, false])
    expect(given).toEqual([{ a: 1 }, 1])
    expect(bodies[0]).toMatchObject({ name: 'tool', callId: 'c1', arguments: { a: 1 } })
  })

  it('sees a body that the caller cancelled as aborted, whatever it returned', async () => {
    const control = new AbortController()
    const { tools, call } = house({ execute: async () => (control.abort(), new Date(0)) })
    const seenByWrapper: unknown[] = []
    tools.on('tools/execute', async (_exec, next) => {
      const result = await next()
      seenByWrapper.push(failureOf(result))
      return result
    })
    const aborted = ['ABORTED', 'tool call aborted']
    expect(failureOf(await call({ signal: control.signal }))).toEqual(aborted)
    expect(seenByWrapper).toEqual([aborted])
  })

  it('whose tool is gone by dispatch gets UNKNOWN_TOOL', async () => {
    const { tools, call, unregister, seen } = house()
    const seenByWrapper: unknown[] = []
    tools.on('tools/execute', async (_exec, next) => {
      unregister()
      const result = await next()
      seenByWrapper.push(failureOf(result))
      return result
    })
    expect(failureOf(await call())).toEqual(['UNKNOWN_TOOL', 'unknown tool "tool"'])
    expect(seenByWrapper).toEqual([['UNKNOWN_TOOL', 'unknown tool "tool"']])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('that throws ends the call without post-execute, with the contexts of the body', async () => {
    const { tools, call, seen } = house({ execute: async (_args, exec) => exec.deferContext(message('body')) })
    let posts = 0
    tools.on('tools/post-execute', async (_exec, _result, next) => (posts++, next()))
    tools.on('tools/execute', async (_exec, next) => {
      await next()
      throw new HarnessError('wrapped badly', 'BAD_WRAP', { reason: 'raw' })
    })
    const result = await call()
    expect(result).toEqual({
      isError: true,
      error: {
        message: 'tools/execute listener #1 failed: wrapped badly',
        info: { name: 'HarnessError', code: 'BAD_WRAP', reason: 'raw' },
      },
      content: text('Error: tools/execute listener #1 failed: wrapped badly'),
      additionalContexts: [message('body')],
    })
    expect([posts, seen]).toEqual([0, { bodies: 1, finalized: 1, results: 1 }])
  })
})

describe('the signal of a wrapper', () => {
  it('that is aborted already skips the body', async () => {
    const { tools, call, seen } = house()
    tools.on('tools/execute', async (exec, next) => {
      exec.signal = AbortSignal.abort()
      return next()
    })
    expect(failureOf(await call())).toEqual(['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch'])
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('reaches the body, and its abort is no cancellation by the caller', async () => {
    const { tools, call } = house({
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    tools.on('tools/execute', async (exec, next) => {
      const own = new AbortController()
      exec.signal = own.signal
      setImmediate(() => own.abort(new HarnessError('too slow', 'TOOL_TIMEOUT')))
      return next()
    })
    expect(failureOf(await call())).toEqual(['TOOL_TIMEOUT', 'too slow'])
  })

  it('is in force until that wrapper is done, for each of its attempts', async () => {
    const own = new AbortController()
    const caller = new AbortController()
    const seenByBody: boolean[] = []
    const { tools, call } = house({
      execute: async (_args, { signal }) => {
        own.abort()
        seenByBody.push(signal.aborted)
        throw new Error('again')
      },
    })
    const seenOutside: AbortSignal[] = []
    tools.on('tools/execute', async (exec, next) => {
      const result = await next()
      seenOutside.push(exec.signal)
      return result
    })
    tools.on('tools/execute', async (exec, next) => {
      exec.signal = own.signal
      return next()
    })
    tools.on('tools/execute', async (_exec, next) => {
      const first = await next()
      return first.isError ? next() : first
    })
    // The second attempt finds the replaced signal aborted and never starts.
    expect(failureOf(await call({ signal: caller.signal }))).toEqual([
      'ABORTED_BEFORE_DISPATCH',
      'tool call aborted before dispatch',
    ])
    expect(seenByBody).toEqual([true])
    expect(seenOutside).toEqual([caller.signal])
  })

  it('is taken off the caller and off itself once the body has settled', async () => {
    const { tools, call } = house()
    const watched = [new AbortController(), new AbortController()].map(({ signal }) => {
      const counts = { added: 0, removed: 0 }
      const add = signal.addEventListener.bind(signal)
      const remove = signal.removeEventListener.bind(signal)
      signal.addEventListener = (...args: Parameters<typeof add>) => (counts.added++, add(...args))
      signal.removeEventListener = (...args: Parameters<typeof remove>) => (counts.removed++, remove(...args))
      return { signal, counts }
    })
    const [caller, own] = watched
    tools.on('tools/execute', async (exec, next) => {
      if (own !== undefined) exec.signal = own.signal
      return next()
    })
    await call(caller === undefined ? {} : { signal: caller.signal })
    expect(watched.map(({ counts }) => counts)).toEqual([
      { added: 1, removed: 1 },
      { added: 1, removed: 1 },
    ])
  })
})

describe('the result of a wrapper', () => {
  const invalid = (came: string): [undefined, string] => [
    undefined,
    `tools/execute listener #1 failed: it must return a result, ${came} came`,
  ]

  it.each<[string, unknown, unknown]>([
    ['nothing', undefined, invalid('undefined')],
    ['null', null, invalid('null')],
    ['a text', 'done', invalid('string')],
    [
      'a failure without a message',
      { isError: true, content: [] },
      [undefined, 'tools/execute listener #1 failed: a failed result needs error: { message, info? }'],
    ],
    [
      'a failure without content',
      { isError: true, error: { message: 'x' } },
      [undefined, 'tools/execute listener #1 failed: content: an array of content blocks was expected'],
    ],
    [
      'a success without a value',
      { isError: false, content: [] },
      ['INVALID_TOOL_OUTPUT', expect.stringContaining('value is not lossless JSON')],
    ],
  ])('%s is a failed call, told once', async (_title, returned, outcome) => {
    const { tools, call, seen } = house()
    tools.on('tools/execute', async () => returned as ToolExecutionResult)
    expect(failureOf(await call())).toEqual(outcome)
    expect(seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })

  it('that fails keeps content, meta, identity and contexts, and loses what only a success has', async () => {
    const { tools, call } = house({ execute: async (_args, exec) => (exec.concludeTurn(), { secret: 1 }) })
    tools.on('tools/execute', async (_exec, next) => {
      const authored: unknown = {
        ...(await next()),
        isError: true,
        error: { message: 'held back', info: { name: 'Policy', code: 'HELD', reason: undefined } },
        content: text('nothing to see'),
        meta: { shown: false },
        concludesTurn: true,
        additionalContexts: [message('wrapper')],
      }
      return authored as ToolExecutionResult // a policy without types
    })
    expect(await call()).toEqual({
      isError: true,
      error: { message: 'held back', info: { name: 'Policy', code: 'HELD' } },
      content: text('nothing to see'),
      meta: { shown: false },
      additionalContexts: [message('wrapper')],
    })
  })

  it('that was canonical in another call is checked by the schema of this one', async () => {
    const { tools, call } = house({
      output: {
        schema: { type: 'integer' },
        render: (args, value) => text(`${JSON.stringify(args)} ${String(value)}`),
      },
      execute: async () => 1,
    })
    let cached: ToolExecutionResult | undefined
    tools.on('tools/execute', async (exec, next) =>
      exec.name === 'tool' ? (cached ??= await next()) : (cached ?? next()),
    )
    await call({ arguments: { first: true } })
    const second = await call({ arguments: { second: true } })
    expect(second).toEqual({ isError: false, value: 1, content: text('{"second":true} 1') })

    let bodies = 0
    tools.register({
      name: 'texts',
      description: '',
      parameters: {},
      output: { schema: { type: 'string' }, render: () => [] },
      execute: async () => String(bodies++),
    })
    expect(failureOf(await call({ name: 'texts' }))).toEqual([
      'INVALID_TOOL_OUTPUT',
      expect.stringContaining('must be a string'),
    ])
    expect(bodies).toBe(0)
  })

  it('that succeeds for a tool that vanished is UNKNOWN_TOOL', async () => {
    const { tools, call, unregister } = house()
    tools.on('tools/execute', async () => {
      unregister()
      return { isError: false, value: 1, content: [] }
    })
    expect(failureOf(await call())).toEqual(['UNKNOWN_TOOL', 'unknown tool "tool"'])
  })

  it.each<[string, (control: AbortController) => Promise<ToolExecutionResult> | ToolExecutionResult, unknown]>([
    [
      'succeeds',
      () => ({ isError: false, value: 1, content: [], additionalContexts: [message('wrapper')] }),
      ['ABORTED_BEFORE_DISPATCH', [{ kind: 'wrapper' }]],
    ],
    [
      'fails',
      () => ({ isError: true, error: { message: 'own', info: { name: 'W', code: 'OWN' } }, content: text('own') }),
      ['OWN', undefined],
    ],
  ])('by itself while the caller cancels: one that %s', async (_title, answer, outcome) => {
    const control = new AbortController()
    const { tools, call } = house()
    tools.on('tools/execute', async () => {
      control.abort()
      return answer(control)
    })
    const result = await call({ signal: control.signal })
    expect([result.error?.info?.code, labels(result)]).toEqual(outcome)
  })

  it('that comes late after a cancellation is ABORTED, with the contexts of body and wrapper', async () => {
    const control = new AbortController()
    const { tools, call } = house({ execute: async (_args, exec) => exec.deferContext(message('body')) ?? 1 })
    tools.on('tools/execute', async (_exec, next) => {
      const result = await next()
      control.abort()
      return { ...result, additionalContexts: [message('wrapper')] }
    })
    const result = await call({ signal: control.signal })
    expect(failureOf(result)).toEqual(['ABORTED', 'tool call aborted'])
    expect(labels(result)).toEqual([{ kind: 'body' }, { kind: 'wrapper' }])
  })
})
