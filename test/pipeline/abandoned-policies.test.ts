import { describe, expect, it } from 'vitest'
import type { ToolExecutionPipelineOptions } from '../../src/index.ts'
import { failureOf, house } from './house.ts'

const never = (): Promise<never> => new Promise(() => undefined)

type House = ReturnType<typeof house>

const POLICIES: [string, (home: House) => void, string, string, number][] = [
  [
    'a pre-execute listener',
    ({ tools }) => void tools.on('tools/pre-execute', never),
    'ABORTED_BEFORE_DISPATCH',
    'a tools/pre-execute listener of tool "tool" ignored its cancellation',
    0,
  ],
  [
    'a wrapper before the body',
    ({ tools }) => void tools.on('tools/execute', never),
    'ABORTED_BEFORE_DISPATCH',
    'a tools/execute listener of tool "tool" ignored its cancellation',
    0,
  ],
  [
    'a wrapper after the body',
    ({ tools }) => void tools.on('tools/execute', async (_exec, next) => (await next(), never())),
    'EFFECTS_UNKNOWN',
    'a tools/execute listener of tool "tool" ignored its cancellation',
    1,
  ],
  [
    'a post-execute listener',
    ({ tools }) => void tools.on('tools/post-execute', never),
    'ABORTED',
    'a tools/post-execute listener of tool "tool" ignored its cancellation',
    1,
  ],
]

describe('a policy that never settles', () => {
  describe.each(POLICIES)('%s', (_title, arrange, code, said, bodies) => {
    it.each<[string, () => { options: Omit<ToolExecutionPipelineOptions, 'tools'>; act: () => void }, string]>([
      [
        'after the time that the operator gives',
        () => ({ options: { abandonAfterMs: 20 }, act: () => undefined }),
        ' for 20 ms',
      ],
      [
        'as soon as the operator says so',
        () => {
          const control = new AbortController()
          return { options: { abandonSignal: control.signal }, act: () => control.abort() }
        },
        '',
      ],
    ])('is given up %s', async (_when, make, waited) => {
      const { options, act } = make()
      const home = house({}, options)
      arrange(home)
      const control = new AbortController()
      setTimeout(() => {
        control.abort()
        act()
      }, 20)
      const result = await home.call({ signal: control.signal })
      const [foundCode, message] = failureOf(result) as [string, string]
      expect([foundCode, message.startsWith(`${said}${waited} and was abandoned`)]).toEqual([code, true])
      expect(home.seen).toEqual({ bodies, finalized: 1, results: 1 })
    })
  })

  it('is awaited where the operator gives up nothing', async () => {
    const home = house()
    let settle: () => void = () => undefined
    home.tools.on('tools/pre-execute', (_exec, next) => new Promise((resolve) => (settle = () => resolve(next()))))
    const control = new AbortController()
    const pending = home.call({ signal: control.signal })
    control.abort()
    const first = await Promise.race([pending, new Promise((resolve) => setTimeout(resolve, 50, 'still waiting'))])
    settle()
    expect([first, failureOf(await pending)]).toEqual([
      'still waiting',
      ['ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch'],
    ])
  })

  it('that allows the call after it was given up changes nothing', async () => {
    const home = house({}, { abandonAfterMs: 10 })
    let settle: () => void = () => undefined
    home.tools.on('tools/pre-execute', (_exec, next) => new Promise((resolve) => (settle = () => resolve(next()))))
    const control = new AbortController()
    const pending = home.call({ signal: control.signal })
    control.abort()
    await pending
    settle()
    await new Promise((resolve) => setImmediate(resolve))
    expect(home.seen).toEqual({ bodies: 0, finalized: 1, results: 1 })
  })
})
