import { describe, expect, it } from 'vitest'
import type { ApprovalHandler, ToolDefinition, ToolsService } from '../../src/index.ts'
import { text } from '../pipeline/house.ts'
import { block, codeOf, nativeHouse } from './batches.ts'

/** A callback of the host as it may be written without types. */
type Callback = () => unknown

/** Puts a callback in its place: for calls of the tool "bad" only, where it is not the tool's own. */
interface Role {
  readonly role: string
  /** How an error names it. */
  readonly named: string
  readonly tool?: (callback: Callback) => Partial<ToolDefinition>
  readonly listen?: (service: ToolsService, callback: Callback) => void
  readonly approve?: (callback: Callback) => ApprovalHandler
}

const listening = (event: 'tools/pre-execute' | 'tools/execute' | 'tools/post-execute'): Role => ({
  role: `a listener of ${event}`,
  named: `${event} listener "hostile"`,
  listen: (service, callback) => {
    const hostile = (...args: unknown[]): unknown => {
      const [exec, next] = [args[0], args.at(-1)]
      return Reflect.get(Object(exec), 'name') === 'bad' ? callback() : (next as Callback)()
    }
    // The signatures differ in what stands between, which is all the same to it.
    service.on(event, hostile as never)
  },
})

const ROLES: readonly Role[] = [
  listening('tools/pre-execute'),
  listening('tools/execute'),
  listening('tools/post-execute'),
  {
    role: 'a guard',
    named: 'guard "hostile"',
    listen: (service, callback) => {
      const hostile = (exec: { readonly name: string }): unknown => (exec.name === 'bad' ? callback() : undefined)
      service.guard(hostile as never)
    },
  },
  { role: 'approve', named: 'approv', approve: (callback) => callback as never },
  { role: 'render', named: 'output.render', tool: (render) => ({ output: { schema: {}, render: render as never } }) },
  {
    role: 'presentationMeta',
    named: 'output.presentationMeta',
    tool: (callback) => ({
      output: { schema: {}, render: () => text('fine'), presentationMeta: callback as never },
    }),
  },
  {
    role: 'projectContent',
    named: 'projectContent of tool "bad"',
    tool: (callback) => ({ projectContent: callback as never }),
  },
  {
    role: 'finalizeContent',
    named: 'finalizeContent of tool "bad"',
    tool: (callback) => ({ finalizeContent: callback as never }),
  },
]

const hostile = Object.defineProperty(new Error('hidden'), 'message', {
  get() {
    throw new Error('trap')
  },
})

const DEEDS: readonly (readonly [string, Callback])[] = [
  [
    'throws',
    () => {
      throw new Error('on purpose')
    },
  ],
  [
    'throws what cannot be read',
    () => {
      throw hostile
    },
  ],
  [
    'throws what is no error',
    () => {
      throw Object.create(null)
    },
  ],
  ['rejects', () => Promise.reject(new Error('on purpose'))],
  ['gives a function', () => () => 1],
  [
    'gives what cannot be read',
    () =>
      new Proxy(
        {},
        {
          get() {
            throw new Error('trap')
          },
          ownKeys() {
            throw new Error('trap')
          },
        },
      ),
  ],
]

const plain = (name: string, part: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: 'A tool.',
  parameters: { type: 'object' },
  output: { schema: {}, render: () => text('fine') },
  execute: async () => 'fine',
  ...part,
})

describe.each(ROLES)('$role', ({ named, tool, listen, approve }) => {
  it.each(DEEDS)('that %s is named in the error of its call, and harms no other', async (_deed, callback) => {
    const options = approve === undefined ? {} : { approve: approve(callback) }
    const { service, run } = nativeHouse([plain('bad', tool?.(callback)), plain('good')], options)
    listen?.(service, callback)
    if (approve !== undefined) {
      service.on('tools/pre-execute', async (exec, next) => (exec.name === 'bad' ? { kind: 'ask' } : next()))
    }
    let told = 0
    service.on('tools/result', () => void told++)
    const agent = { id: 'agent', session: { id: 'agent', append: async () => undefined } }
    const { results } = await run([block('a', 'good'), block('b', 'bad'), block('c', 'good')], { agent })
    const [before, bad, after] = results.map(({ result }) => result)
    expect(bad?.isError).toBe(true)
    expect(bad?.error?.message).toContain(named)
    expect([before, after].map((result) => result && codeOf(result))).toEqual(['ok', 'ok'])
    expect(told).toBe(3)
  })
})

describe('a callback that decides nothing about its call', () => {
  it.each(DEEDS)('such as a classifier or an observer that %s, leaves the call as it is', async (_deed, callback) => {
    const { service, run } = nativeHouse([plain('bad', { isConcurrencySafe: callback as never }), plain('good')])
    service.on('tools/result', callback as never)
    const { results } = await run([block('a', 'bad'), block('b', 'good')])
    expect(results.map(({ result }) => codeOf(result))).toEqual(['ok', 'ok'])
  })

  it.each(DEEDS)('such as a condition that %s, admits nothing to a step', async (_deed, callback) => {
    const { service } = nativeHouse([plain('good')])
    service.register(plain('bad'), { when: callback as never })
    const agent = { id: 'agent', session: { id: 'agent', append: async () => undefined } }
    const modelSelection = { provider: 'p', model: 'm' }
    const step = service.resolve({ agent, modelSelection, signal: new AbortController().signal })
    const names = await step.then(
      (set) => [...set.view(agent).keys()],
      () => [],
    )
    expect(names).not.toContain('bad')
    expect(codeOf((await nativeHouse([plain('good')]).run([block('a', 'good')])).results[0]?.result as never)).toBe(
      'ok',
    )
  })
})
