import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineTool, type ToolDefinition } from '../../src/index.ts'
import { block, codeOf, nativeHouse, recordingAgent } from '../executor/batches.ts'
import { withPtc } from '../helpers/ptc.ts'

interface Job {
  readonly isSafe: boolean
  readonly ms: number
  readonly fails: boolean
  readonly asks: boolean
}

const job = fc.record({
  isSafe: fc.boolean(),
  ms: fc.integer({ min: 0, max: 3 }),
  fails: fc.boolean(),
  asks: fc.boolean(),
})
const jobs = fc.array(job, { minLength: 1, maxLength: 12 })

/** What happened, in order. */
type Happening = readonly ['pre' | 'begin' | 'end' | 'result', number]

/** One tool whose calls say by their arguments how they behave. */
function jobTool(list: readonly Job[], note: (happening: Happening) => void): ToolDefinition {
  return defineTool({
    name: 'job',
    description: 'Works.',
    parameters: { index: { type: 'integer', required: true } },
    isConcurrencySafe: ({ index }) => list[index]?.isSafe === true,
    execute: async ({ index }, { signal }) => {
      note(['begin', index])
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, list[index]?.ms)
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          resolve()
        })
      })
      note(['end', index])
      if (list[index]?.fails === true) throw new Error('it fails')
      return index
    },
  })
}

function check(list: readonly Job[], happenings: readonly Happening[], cap: number): void {
  const running = new Set<number>()
  for (const [what, index] of happenings) {
    if (what === 'begin') {
      running.add(index)
      const hasExclusive = [...running].some((each) => list[each]?.isSafe !== true)
      expect(hasExclusive ? running.size : 1).toBe(1)
      expect(running.size).toBeLessThanOrEqual(cap)
    }
    if (what === 'end') running.delete(index)
  }
  const order = (kind: string): number[] => happenings.filter(([what]) => what === kind).map(([, index]) => index)
  for (const kind of ['pre', 'result']) expect(order(kind)).toEqual(order(kind).toSorted((one, other) => one - other))
}

const indexOf = (args: unknown): number => Number(Reflect.get(Object(args), 'index'))

describe('calls of one batch', () => {
  it('keep their order, their barriers and their limit, whatever they do and whenever they are cancelled', async () => {
    await fc.assert(
      fc.asyncProperty(jobs, fc.integer({ min: 1, max: 4 }), fc.option(fc.nat(12)), async (list, cap, abortAt) => {
        const happenings: Happening[] = []
        const controller = new AbortController()
        const note = (happening: Happening): void => {
          happenings.push(happening)
          if (happening[0] === 'begin' && happening[1] === abortAt) controller.abort(new Error('enough'))
        }
        const approve = async (): Promise<'allowed-once'> => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          return 'allowed-once'
        }
        const { service, run } = nativeHouse([jobTool(list, note)], { maxParallelToolCalls: cap, approve })
        service.on('tools/pre-execute', async (exec, next) => {
          const index = indexOf(exec.arguments)
          note(['pre', index])
          await new Promise((resolve) => setImmediate(resolve))
          return list[index]?.asks === true ? { kind: 'ask' } : next()
        })
        service.on('tools/result', (exec) => void note(['result', indexOf(exec.arguments)]))
        const session = recordingAgent()
        const { results } = await run(
          list.map((_job, index) => block(`c${index}`, 'job', { index })),
          { agent: session.agent, signal: controller.signal, log: { turn: 1, step: 1 } },
        )
        check(list, happenings, cap)
        expect(results.map(({ callId }) => callId)).toEqual(list.map((_job, index) => `c${index}`))
        const began = new Set(happenings.filter(([what]) => what === 'begin').map(([, index]) => index))
        for (const [index, { result }] of results.entries()) {
          const code = codeOf(result)
          if (!began.has(index)) expect(code).toBe('ABORTED_BEFORE_DISPATCH')
          else if (list[index]?.fails === true) expect(code).toBe('it fails')
          else expect(['ok', 'ABORTED']).toContain(code)
          if (!controller.signal.aborted) expect(code).not.toBe('ABORTED')
        }
        // Every call is on record once, its start before its result.
        for (const index of list.keys()) {
          const events = session.order().filter((event) => event.endsWith(` c${index}`))
          expect(events).toEqual([`tool/call c${index}`, `tool/result c${index}`])
        }
      }),
      { numRuns: 120 },
    )
  })
})

describe('calls of one program', () => {
  it('keep their order, their barriers and their limit, and each has one settle record', async () => {
    let list: readonly Job[] = []
    const happenings: Happening[] = []
    const note = (happening: Happening): void => void happenings.push(happening)
    const proxy = jobTool([], note)
    const tool: ToolDefinition = {
      ...proxy,
      isConcurrencySafe: (args) => list[indexOf(args)]?.isSafe === true,
      execute: async (args, exec) => jobTool(list, note).execute(args, exec),
    }
    await withPtc({ tools: [tool], limits: { maxParallelSubCalls: 3 } }, async (ptc) => {
      ptc.tools.on('tools/pre-execute', async (exec, next) => {
        if (exec.name === 'job') note(['pre', indexOf(exec.arguments)])
        return next()
      })
      ptc.tools.on('tools/result', (exec) => {
        if (exec.name === 'job') note(['result', indexOf(exec.arguments)])
        return undefined
      })
      await fc.assert(
        fc.asyncProperty(jobs, fc.boolean(), async (some, isCut) => {
          list = some
          happenings.length = 0
          const all = `Array.from({ length: ${some.length} }, (_, index) => tools.job({ index }))`
          const { runId, error } = await ptc.run(
            isCut
              ? `return Promise.race(${all}).catch(() => 'failed')`
              : `return (await Promise.allSettled(${all})).length`,
          )
          expect(error).toBeUndefined()
          check(some, happenings, 3)
          const { calls } = ptc.log.run(runId)
          expect(calls.every(({ settled_at }) => settled_at !== null)).toBe(true)
          if (!isCut) expect(calls).toHaveLength(some.length)
        }),
        { numRuns: 25 },
      )
    })
  })
})
