import { describe, expect, it } from 'vitest'
import { createPtc, defineTool, type Ptc, type PtcOptions, type ToolDefinition } from '../../src/index.ts'
import { echo, withPtc } from '../helpers/ptc.ts'

const deaf = defineTool({
  name: 'deaf',
  description: 'Ignores its cancellation.',
  parameters: {},
  isConcurrencySafe: () => true,
  execute: () => new Promise<null>(() => undefined),
})

describe('a tool that ignores its cancellation', () => {
  it.each<[string, PtcOptions, (ptc: Ptc, control: AbortController) => unknown]>([
    ['after a while', { abandonAfterMs: 100 }, (_ptc, control) => control.abort()],
    ['when the instance is closed', { abandonAfterMs: 100 }, (ptc) => ptc.close()],
    ['when the operator waits no longer', {}, (ptc) => ptc.close({ abandon: true })],
  ])('is given up %s; the run keeps what it knows', async (_title, options, end) => {
    const control = new AbortController()
    const ptc = await createPtc({ tools: [echo, deaf], ...options })
    const outcome = await ptc.run('console.log("seen"); await tools.echo({}); await tools.deaf({})', {
      signal: control.signal,
      onEvent: (event) => {
        if (event.type === 'sub-call-start' && event.name === 'deaf') setTimeout(() => void end(ptc, control), 30)
      },
    })
    expect(outcome).toMatchObject({
      ok: false,
      logs: ['seen'],
      error: { kind: 'abort', code: 'ABORTED', retryable: false },
      calls: [
        { name: 'echo', isError: false },
        { name: 'deaf', isError: true },
      ],
    })
    await ptc.close()
  })
})

describe('a callback of the host that breaks its word', () => {
  const reject = async (): Promise<never> => {
    throw new Error('async where it must answer at once')
  }
  const promised = reject as unknown as () => undefined

  it.each<[string, (ptc: Ptc) => unknown, Partial<ToolDefinition>]>([
    ['a guard', (ptc) => ptc.tools.guard(promised), {}],
    ['a listener of tools/change', (ptc) => ptc.tools.on('tools/change', promised), {}],
    ['a listener of tools/result', (ptc) => ptc.tools.on('tools/result', promised), {}],
    ['a classifier', () => undefined, { isConcurrencySafe: promised as unknown as () => boolean }],
    ['a finalizer', () => undefined, { finalizeContent: promised }],
    ['a projector', () => undefined, { projectContent: promised }],
  ])('%s neither ends the host nor hangs the run', async (_title, arrange, part) => {
    await withPtc({}, async (ptc) => {
      arrange(ptc)
      ptc.tools.register({ ...echo, ...part })
      const { runId } = await ptc.run('try { await tools.echo({}) } catch {} return 1', { onEvent: promised })
      expect(typeof runId).toBe('string')
    })
  })

  it('a finalizer that cannot even be read makes a failed call', async () => {
    await withPtc({}, async (ptc) => {
      let reads = 0
      const definition = Object.defineProperty({ ...echo }, 'finalizeContent', {
        get: () => {
          if (reads++ > 1) throw new Error('unreadable')
          return undefined
        },
      })
      ptc.tools.register(definition)
      for (let run = 0; run < 3; run++) await ptc.run('try { await tools.echo({}) } catch {}')
      const { value } = await ptc.run('try { await tools.echo({}) } catch (error) { return error.message }')
      expect(value).toBe('finalizeContent of tool "echo" failed: unreadable')
    })
  })

  it('a tool without a code leaves open whether a retry makes sense', async () => {
    const flaky = defineTool({
      name: 'flaky',
      description: 'Fails.',
      parameters: {},
      execute: () => {
        throw new Error('temporary')
      },
    })
    await withPtc({ tools: [flaky] }, async (ptc) => {
      const { value } = await ptc.run('try { await tools.flaky({}) } catch (e) { return [e.code, typeof e.retryable] }')
      expect(value).toEqual(['TOOL_FAILED', 'undefined'])
    })
  })
})

describe('a program that pollutes prototypes', () => {
  it.each(['get', 'set', 'value', 'writable', 'enumerable', 'configurable'])(
    'with %s still says what happened',
    async (key) => {
      await withPtc({ tools: [echo] }, async (ptc) => {
        const source = `Object.prototype.${key} = () => 1; console.log('a'); await tools.echo({}); throw new Error('mine')`
        const { error, logs } = await ptc.run(source)
        expect([error?.message, logs]).toEqual(['mine', ['a']])
      })
    },
  )

  it('may return a whole number of exactly 1,000 digits', async () => {
    await withPtc({}, async (ptc) => {
      expect((await ptc.run('return 10n ** 999n')).value).toBe(10n ** 999n)
      expect((await ptc.run('return 10n ** 1000n')).error?.message).toContain('over 1000 characters')
    })
  })
})
