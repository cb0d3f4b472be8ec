import { describe, expect, it } from 'vitest'
import {
  createPtc,
  defineTool,
  openDispatchLog,
  PtcExecutor,
  type PtcRuntime,
  type ToolDefinition,
  ToolExecutionPipeline,
  ToolsService,
} from '../../src/index.ts'
import { echo, sleep, withPtc } from '../helpers/ptc.ts'

/** A tool with content of its own. */
function showing(name: string, content: ReturnType<ToolDefinition['output']['render']>): ToolDefinition {
  return {
    name,
    description: 'Shows.',
    parameters: { type: 'object' },
    output: { schema: {}, render: () => content, presentationMeta: () => ({ shown: true }) },
    execute: async (_args, exec) => {
      exec.deferContext({ role: 'user', content: [{ type: 'text', text: 'noted' }], source: { kind: name } })
      return 'value'
    },
  }
}
const picture = showing('picture', [{ type: 'image', mimeType: 'image/png', data: 'AA' }])

describe('the records of a sub-call', () => {
  it('are exactly these', async () => {
    await withPtc({ tools: [showing('show', [{ type: 'text', text: 'shown' }]), sleep] }, async (ptc) => {
      const { runId } = await ptc.run('await tools.show({ a: 1 }); try { await tools.sleep({}) } catch {}')
      const rows = Reflect.get(ptc.log.run(runId), 'calls')
      expect(rows).toMatchObject([
        {
          sub_call_id: `${runId}:ptc:1`,
          arguments: { a: 1 },
          content: [{ type: 'text', text: 'shown' }],
          is_error: false,
          error_code: null,
        },
        {
          sub_call_id: `${runId}:ptc:2`,
          arguments: {},
          content: [{ type: 'text', text: 'Error: invalid arguments: missing required property "ms"' }],
          is_error: true,
          error_code: 'INVALID_ARGS',
        },
      ])
    })
  })

  it('keep the original content when a listener of the log throws', async () => {
    await withPtc({ tools: [echo] }, async (ptc) => {
      ptc.tools.on('tools/ptc-dispatch-log', async () => {
        throw new Error('the listener is broken')
      })
      const { runId, value } = await ptc.run('return await tools.echo({ a: 1 })')
      expect(value).toEqual({ a: 1 })
      expect(ptc.log.run(runId).calls).toMatchObject([{ content: [{ type: 'text', text: '{\n  "a": 1\n}' }] }])
    })
  })

  it('are complete when a policy is still at work as the program ends', async () => {
    await withPtc({ tools: [echo] }, async (ptc) => {
      ptc.tools.on('tools/post-execute', async (exec, _result, next) => {
        if (exec.name === 'echo') await new Promise((resolve) => setTimeout(resolve, 150))
        return next()
      })
      const { runId } = await ptc.run('void tools.echo({}); await new Promise((done) => setTimeout(done, 50))')
      expect(ptc.log.run(runId).calls).toMatchObject([
        { is_error: true, error_code: 'ABORTED', settled_at: expect.any(Number) },
      ])
    })
  })
})

describe('what sub-calls leave beside their values', () => {
  const run = async (code: string, arrange: (tools: ToolsService) => void = () => undefined) => {
    const ptc = await createPtc({ tools: [picture, echo] })
    arrange(ptc.tools)
    const call = { type: 'tool-call' as const, id: 'c', name: 'run_code', arguments: JSON.stringify({ code }) }
    const batch = await ptc.execute({ calls: [call], signal: new AbortController().signal })
    await ptc.close()
    return batch.additionalContexts.map(({ source }) => source)
  }

  it('survives a later failure of the program', async () => {
    expect(await run('await tools.picture({}); throw new Error("later")')).toEqual([
      { kind: 'ptc-mode' },
      { kind: 'picture' },
    ])
  })

  it('is gone with images that a policy replaced or blocked', async () => {
    const replaced = await run('await tools.picture({})', (tools) => {
      tools.on('tools/post-execute', async (exec, _result, next) =>
        exec.name === 'picture' ? { kind: 'accept', content: [{ type: 'text', text: 'no picture' }] } : next(),
      )
    })
    expect(replaced).toEqual([{ kind: 'picture' }])
    const blocked = await run('try { await tools.picture({}) } catch {}', (tools) => {
      tools.on('tools/post-execute', async (exec, _result, next) =>
        exec.name === 'picture' ? { kind: 'block', feedback: [{ type: 'text', text: 'no' }] } : next(),
      )
    })
    expect(blocked).toEqual([])
  })

  it('is discarded when a policy blocks the whole run', async () => {
    const contexts = await run('await tools.picture({})', (tools) => {
      tools.on('tools/post-execute', async (exec, _result, next) =>
        exec.name === 'run_code' ? { kind: 'block', feedback: [{ type: 'text', text: 'no' }] } : next(),
      )
    })
    expect(contexts).toEqual([])
  })
})

describe('the end of a run', () => {
  it('by cancellation reaches the call in flight, and what is queued never starts', async () => {
    const seen: string[] = []
    const control = new AbortController()
    const alone = defineTool({
      name: 'alone',
      description: 'Runs alone.',
      parameters: { id: { type: 'integer', required: true } },
      execute: ({ id }, { signal }) =>
        new Promise<number>((_resolve, reject) => {
          seen.push(`begin ${id}`)
          setTimeout(() => control.abort(), 50)
          signal.addEventListener('abort', () => {
            seen.push(`abort ${id}`)
            reject(signal.reason)
          })
        }),
    })
    await withPtc({ tools: [alone] }, async (ptc) => {
      const { runId, error } = await ptc.run('await Promise.all([tools.alone({ id: 1 }), tools.alone({ id: 2 })])', {
        signal: control.signal,
      })
      expect(error?.kind).toBe('abort')
      expect(ptc.log.run(runId).calls).toHaveLength(1)
    })
    expect(seen).toEqual(['begin 1', 'abort 1'])
  })

  it('by a runtime that rejects still drains, records and answers', async () => {
    const tools = new ToolsService()
    tools.register(sleep)
    const log = await openDispatchLog(':memory:')
    const broken: PtcRuntime = {
      language: 'typescript',
      isolation: 'none',
      executionInstructions: '',
      run: async ({ namespaces }) => {
        void namespaces[0]?.functions
          .get('sleep')?.({ ms: 60_000 })
          .catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, 50))
        throw new Error('the substrate is gone')
      },
      dispose: async () => undefined,
    }
    const executor = new PtcExecutor({ pipeline: new ToolExecutionPipeline({ tools }), runtime: broken, log })
    const call = { type: 'tool-call' as const, id: 'c', name: 'run_code', arguments: '{"code":"return 1"}' }
    const { results } = await executor.execute({ calls: [call], signal: new AbortController().signal })
    expect(results[0]?.result.error).toMatchObject({
      message: expect.stringContaining('code run failed (sandbox-unavailable): the sandbox broke'),
      info: { code: 'SANDBOX_UNAVAILABLE' },
    })
    expect(log.run('last')).toMatchObject({
      run: { outcome: 'sandbox-unavailable' },
      calls: [{ name: 'sleep', error_code: 'ABORTED' }],
    })
    await log.close()
  })

  it('renders a value of 5,000 levels in linear space', async () => {
    await withPtc({}, async (ptc) => {
      const code = 'let deep = 1; for (let i = 0; i < 5_000; i++) deep = [deep]; return deep'
      const call = { type: 'tool-call' as const, id: 'c', name: 'run_code', arguments: JSON.stringify({ code }) }
      const { results } = await ptc.execute({ calls: [call], signal: new AbortController().signal })
      const [block] = results[0]?.result.content ?? []
      expect(block?.type === 'text' ? block.text.length : 0).toBeLessThan(11_000)
    })
  })

  it.each([0, -1, 1.5, Number.NaN])(
    'with a limit of %d parallel calls is refused at construction',
    (maxParallelSubCalls) => {
      const pipeline = new ToolExecutionPipeline({ tools: new ToolsService() })
      // Nothing of these two is reached.
      const parts = { pipeline, runtime: {} as PtcRuntime, log: {} as Awaited<ReturnType<typeof openDispatchLog>> }
      expect(() => new PtcExecutor({ ...parts, maxParallelSubCalls })).toThrow(
        'maxParallelSubCalls must be a positive integer',
      )
    },
  )
})
