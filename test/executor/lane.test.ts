import { describe, expect, it } from 'vitest'
import { createPtc, defineTool, type ToolDefinition } from '../../src/index.ts'
import { echo, withPtc } from '../helpers/ptc.ts'

/** A tool that notes when its body begins and ends. */
function noting(seen: string[], name: string, isSafe: boolean): ToolDefinition {
  return defineTool({
    name,
    description: 'Notes.',
    parameters: { id: { type: 'integer', required: true }, ms: { type: 'integer', required: true } },
    isConcurrencySafe: () => isSafe,
    execute: async ({ id, ms }) => {
      seen.push(`begin ${id}`)
      await new Promise((resolve) => setTimeout(resolve, ms))
      seen.push(`end ${id}`)
      return id
    },
  })
}

describe('the lane of sub-calls', () => {
  it('safe bodies overlap, results come back in submission order', async () => {
    const seen: string[] = []
    await withPtc({ tools: [noting(seen, 'safe', true)] }, async (ptc) => {
      const { value } = await ptc.run(`
        const order = []
        await Promise.all([[1, 120], [2, 60], [3, 5]].map(async ([id, ms]) => { await tools.safe({ id, ms }); order.push(id) }))
        return order`)
      expect(value).toEqual([1, 2, 3])
    })
    expect(seen).toEqual(['begin 1', 'begin 2', 'begin 3', 'end 3', 'end 2', 'end 1'])
  })

  it('an exclusive call waits for those before it and holds back those after it', async () => {
    const seen: string[] = []
    await withPtc({ tools: [noting(seen, 'safe', true), noting(seen, 'alone', false)] }, async (ptc) => {
      await ptc.run(
        `await Promise.all([tools.safe({ id: 1, ms: 40 }), tools.safe({ id: 2, ms: 5 }), tools.alone({ id: 3, ms: 20 }), tools.safe({ id: 4, ms: 1 })])`,
      )
    })
    expect(seen).toEqual(['begin 1', 'begin 2', 'end 2', 'end 1', 'begin 3', 'end 3', 'begin 4', 'end 4'])
  })

  it('no more bodies overlap than maxParallelSubCalls', async () => {
    let running = 0
    let most = 0
    const count = defineTool({
      name: 'count',
      description: 'Counts.',
      parameters: {},
      isConcurrencySafe: () => true,
      execute: async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 10))
        running--
        return null
      },
    })
    await withPtc({ tools: [count], limits: { maxParallelSubCalls: 3 } }, async (ptc) => {
      await ptc.run('await Promise.all(Array.from({ length: 12 }, () => tools.count({})))')
    })
    expect(most).toBe(3)
  })

  it('policies decide one call after the other, also for safe calls', async () => {
    const seen: string[] = []
    await withPtc({ tools: [echo] }, async (ptc) => {
      ptc.tools.on('tools/pre-execute', async (exec, next) => {
        if (exec.name !== 'echo') return next()
        seen.push(`in ${exec.callId.at(-1)}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
        seen.push(`out ${exec.callId.at(-1)}`)
        return next()
      })
      await ptc.run('await Promise.all([tools.echo({}), tools.echo({}), tools.echo({})])')
    })
    expect(seen).toEqual(['in 1', 'out 1', 'in 2', 'out 2', 'in 3', 'out 3'])
  })

  it('a call queued behind an exclusive one when the program ends leaves no record', async () => {
    const seen: string[] = []
    await withPtc({ tools: [noting(seen, 'alone', false)] }, async (ptc) => {
      const { runId } = await ptc.run(
        'void tools.alone({ id: 1, ms: 150 }); void tools.alone({ id: 2, ms: 1 }); await new Promise((r) => setTimeout(r, 60))',
      )
      expect(ptc.log.run(runId).calls).toMatchObject([
        { sub_call_id: `${runId}:ptc:1`, is_error: true, error_code: 'ABORTED' },
      ])
    })
    expect(seen).toEqual(['begin 1', 'end 1'])
  })

  it('a tool that was unregistered after binding is unknown', async () => {
    const ptc = await createPtc()
    const dispose = ptc.tools.register(echo)
    ptc.tools.register(
      defineTool({
        name: 'remove',
        description: 'Removes echo.',
        parameters: {},
        execute: () => {
          dispose()
          return null
        },
      }),
    )
    const { value } = await ptc.run(
      'await tools.remove({}); try { await tools.echo({}) } catch (e) { return [e.code, e.message] }',
    )
    expect(value).toEqual(['UNKNOWN_TOOL', 'unknown tool "echo"'])
    await ptc.close()
  })
})

describe('the log decides whether anything happens', () => {
  it('a log that cannot be written stops the run before the next effect', async () => {
    const effects: number[] = []
    const effect = defineTool({
      name: 'effect',
      description: 'Has an effect.',
      parameters: { id: { type: 'integer', required: true } },
      execute: ({ id }) => {
        effects.push(id)
        return id
      },
    })
    const ptc = await createPtc({ tools: [effect] })
    ptc.tools.on('tools/result', (exec) => {
      // The first call is through; from now on nothing can be written.
      if (exec.name === 'effect') void ptc.log.close()
      return undefined
    })
    const outcome = await ptc.run('for (let id = 1; id < 100; id++) { try { await tools.effect({ id }) } catch {} }')
    expect(outcome).toMatchObject({ ok: false, error: { kind: 'sandbox-unavailable', code: 'LOG_WRITE_FAILED' } })
    expect(outcome.error?.message).not.toContain('memory')
    expect(effects).toEqual([1])
    const unrecorded = await ptc.run('await tools.effect({ id: 7 })')
    expect(unrecorded.error).toMatchObject({ code: 'LOG_WRITE_FAILED', detail: 'the log is closed', retryable: true })
    expect(effects).toEqual([1])
    await ptc.close()
  })
})
