import { describe, expect, it } from 'vitest'
import {
  type ApprovalOutcome,
  type ApprovalRequest,
  type Ptc,
  type PtcOptions,
  type ToolDefinition,
} from '../../src/index.ts'
import { withPtc } from '../helpers/ptc.ts'
import { noting } from './batches.ts'

/** An instance that asks about every call whose id begins with `ask`, and hands the answers to the test. */
function asking(
  tools: readonly ToolDefinition[],
  use: (ptc: Ptc, desk: Desk) => Promise<void>,
  options: PtcOptions = {},
): Promise<void> {
  const desk = new Desk()
  const approve: PtcOptions['approve'] = (request, { signal }) => desk.ask(request, signal)
  return withPtc({ tools, approve, ...options }, async (ptc) => {
    ptc.tools.on('tools/pre-execute', async (exec, next) => {
      const { id } = Object(exec.arguments) as { id?: string }
      return id?.startsWith('ask') === true ? { kind: 'ask', reason: `may ${id}?` } : next()
    })
    await use(ptc, desk)
  })
}

/** Where requests lie until the test answers them. */
class Desk {
  readonly requests: ApprovalRequest[] = []
  readonly #answers = new Map<string, (outcome: ApprovalOutcome) => void>()
  #arrived: () => void = () => undefined

  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalOutcome> {
    this.requests.push(request)
    this.#arrived()
    return new Promise((resolve) => {
      this.#answers.set(idOf(request), resolve)
      signal.addEventListener('abort', () => resolve('cancelled'))
    })
  }

  async waiting(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => (this.#arrived = resolve))
  }

  answer(id: string, outcome: ApprovalOutcome): void {
    this.#answers.get(id)?.(outcome)
  }
}

function idOf({ arguments: args }: ApprovalRequest): string {
  return String((args as { id?: unknown }).id)
}

const TRIO = `
  const order = []
  const call = (tool, id, ms = 1) => tools[tool]({ id, ms }).then(() => order.push(id), (error) => order.push(id + ' ' + error.code))
`

/** Long enough for what may start to have started. */
const pause = (ms = 60): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a call that waits for a person', () => {
  it('lets later safe calls start, and results keep the order of submission', async () => {
    const seen: string[] = []
    await asking([noting(seen, 'safe', true)], async (ptc, desk) => {
      const run = ptc.run(
        `${TRIO} await Promise.all([call('safe', 'ask 1'), call('safe', '2'), call('safe', '3')]); return order`,
      )
      await desk.waiting(1)
      await pause()
      expect(seen).toEqual(['begin 2', 'begin 3', 'end 2', 'end 3'])
      desk.answer('ask 1', 'allowed-once')
      expect((await run).value).toEqual(['ask 1', '2', '3'])
    })
  })

  it('holds back later exclusive calls, and what comes after those', async () => {
    const seen: string[] = []
    await asking([noting(seen, 'safe', true), noting(seen, 'alone', false)], async (ptc, desk) => {
      const run = ptc.run(`${TRIO}
        await Promise.all([call('alone', 'ask 1'), call('safe', '2'), call('alone', '3'), call('safe', '4')])
        return order`)
      await desk.waiting(1)
      await pause()
      expect(seen).toEqual(['begin 2', 'end 2'])
      desk.answer('ask 1', 'rejected')
      expect((await run).value).toEqual(['ask 1 APPROVAL_REJECTED', '2', '3', '4'])
      expect(seen).toEqual(['begin 2', 'end 2', 'begin 3', 'end 3', 'begin 4', 'end 4'])
    })
  })

  it('runs alone once it is allowed, where it is exclusive', async () => {
    const seen: string[] = []
    await asking([noting(seen, 'safe', true), noting(seen, 'alone', false)], async (ptc, desk) => {
      const run = ptc.run(`${TRIO}
        const late = new Promise((resolve) => setTimeout(resolve, 30)).then(() => call('safe', '3'))
        await Promise.all([call('alone', 'ask 1', 80), call('safe', '2', 80), late])
        return order`)
      await desk.waiting(1)
      await pause(10)
      desk.answer('ask 1', 'allowed-once')
      expect((await run).value).toEqual(['ask 1', '2', '3'])
      expect(seen).toEqual(['begin 2', 'end 2', 'begin ask 1', 'end ask 1', 'begin 3', 'end 3'])
    })
  })

  it('may wait beside others, as many as bodies may overlap; each answer is for its own call', async () => {
    await asking(
      [noting([], 'safe', true)],
      async (ptc, desk) => {
        const run = ptc.run(`${TRIO}
          await Promise.all([1, 2, 3, 4, 5].map((id) => call('safe', 'ask ' + id)))
          return order`)
        await desk.waiting(3)
        await pause()
        expect(desk.requests.map(idOf)).toEqual(['ask 1', 'ask 2', 'ask 3'])
        desk.answer('ask 2', 'unavailable')
        desk.answer('ask 3', 'allowed-once')
        desk.answer('ask 1', 'cancelled')
        await desk.waiting(5)
        for (const id of ['ask 5', 'ask 4']) desk.answer(id, 'allowed-once')
        expect((await run).value).toEqual([
          'ask 1 APPROVAL_CANCELLED',
          'ask 2 APPROVAL_UNAVAILABLE',
          'ask 3',
          'ask 4',
          'ask 5',
        ])
        expect(new Set(desk.requests.map(({ approvalId }) => approvalId)).size).toBe(5)
      },
      { limits: { maxParallelSubCalls: 3 } },
    )
  })

  it('is shown as it is: the tool, the frozen arguments, the run, the sub-call, the agent and the reason', async () => {
    await asking([noting([], 'safe', true)], async (ptc, desk) => {
      const agent = ptc.agent({ id: 'me' })
      const run = ptc.run(`return await tools.safe({ id: 'ask 1', ms: 1 })`, { agent })
      await desk.waiting(1)
      const [request] = desk.requests
      desk.answer('ask 1', 'allowed-once')
      const { runId } = await run
      expect(request).toEqual({
        approvalId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        callId: `${runId}:ptc:1`,
        rootCallId: runId,
        runId,
        subCallId: `${runId}:ptc:1`,
        name: 'safe',
        arguments: { id: 'ask 1', ms: 1 },
        reason: 'may ask 1?',
        agent,
      })
      expect([Object.isFrozen(request), Object.isFrozen(request?.arguments)]).toEqual([true, true])
    })
  })

  it('ends with its run, and the person is told', async () => {
    let told: unknown
    const control = new AbortController()
    const deaf: PtcOptions['approve'] = (_request, { signal }) => {
      signal.addEventListener('abort', () => (told = signal.reason))
      setImmediate(() => control.abort(new Error('enough')))
      return new Promise(() => undefined)
    }
    await withPtc({ tools: [noting([], 'safe', true)], approve: deaf }, async (ptc) => {
      ptc.tools.on('tools/pre-execute', async (exec, next) => (exec.name === 'safe' ? { kind: 'ask' } : next()))
      const outcome = await ptc.run(`await tools.safe({ id: '1', ms: 1 })`, { signal: control.signal })
      expect([outcome.error?.kind, told]).toEqual(['abort', expect.any(Error)])
      expect(ptc.log.run(outcome.runId).calls).toMatchObject([{ error_code: 'ABORTED_BEFORE_DISPATCH' }])
    })
  })

  it('is not on the clock of its run, however long it takes; a program that goes on is', async () => {
    await asking(
      [noting([], 'safe', true)],
      async (ptc, desk) => {
        const waiting = ptc.run(`return await tools.safe({ id: 'ask 1', ms: 1 })`)
        await desk.waiting(1)
        await pause(1_200)
        desk.answer('ask 1', 'allowed-once')
        expect((await waiting).value).toBe('ask 1')

        const busy = await ptc.run(`${TRIO} await Promise.all([call('safe', 'ask 2'), call('safe', '3', 5_000)])`)
        expect(busy.error?.code).toBe('WALL_BUDGET')
      },
      { limits: { wallMs: 600 } },
    )
  })

  it('leaves the lane of direct calls as well', async () => {
    const seen: string[] = []
    await asking(
      [noting(seen, 'safe', true)],
      async (ptc, desk) => {
        const call = (id: string): Parameters<Ptc['execute']>[0]['calls'][number] => ({
          type: 'tool-call',
          id,
          name: 'safe',
          arguments: JSON.stringify({ id, ms: 1 }),
        })
        const batch = ptc.execute({ calls: [call('ask 1'), call('2')], signal: new AbortController().signal })
        await desk.waiting(1)
        await pause()
        expect([seen, desk.requests[0]?.runId, desk.requests[0]?.subCallId]).toEqual([
          ['begin 2', 'end 2'],
          undefined,
          undefined,
        ])
        desk.answer('ask 1', 'allowed-once')
        expect((await batch).results.map(({ callId, result }) => [callId, result.isError])).toEqual([
          ['ask 1', false],
          ['2', false],
        ])
      },
      { executor: 'native' },
    )
  })
})
