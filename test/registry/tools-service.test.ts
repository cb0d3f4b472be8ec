import { describe, expect, it } from 'vitest'
import {
  type Agent,
  PtcUsageError,
  type ToolBatchResult,
  type ToolDefinition,
  type ToolExecutor,
  ToolsService,
} from '../../src/index.ts'

function tool(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: {} },
    output: { schema: {}, render: () => [] },
    execute: async () => name,
    ...more,
  }
}

function agent(id: string, parent?: Agent): Agent {
  const session = { id, append: async () => undefined }
  return parent === undefined ? { id, session } : { id, session, parent }
}

const names = (service: ToolsService, scope?: Agent): string[] => service.definitions(scope).map(({ name }) => name)
const selection = { provider: 'p', model: 'm' }
const signal = new AbortController().signal

describe('registration', () => {
  it.each<[string, unknown, string]>([
    ['no object', null, 'a tool definition was expected, null came'],
    ['no name', tool(''), 'a tool needs a name'],
    ['no description', tool('a', { description: 7 as unknown as string }), 'tool "a" needs a description'],
    ['no body', tool('a', { execute: 7 as unknown as ToolDefinition['execute'] }), 'tool "a" needs execute'],
    [
      'no output',
      { ...tool('a'), output: undefined },
      'tool "a" must declare output { schema, render, presentationMeta? }',
    ],
    ['an output without a renderer', { ...tool('a'), output: { schema: {} } }, 'tool "a" must declare output'],
    [
      'an output schema outside the subset',
      { ...tool('a'), output: { schema: { anyOf: [] }, render: () => [] } },
      'schema.anyOf is not a supported keyword',
    ],
    ['a timeout that cannot be', tool('a', { timeoutMs: -1 }), 'tool "a" timeoutMs must be a positive finite number'],
    [
      'parameters that are no object',
      { ...tool('a'), parameters: [] },
      'tool "a" needs parameters: a JSON Schema object',
    ],
    [
      'parameters that are not JSON',
      tool('a', { parameters: { default: new Date(0) } }),
      'tool "a" parameters must be lossless JSON: $.default: Date is not JSON',
    ],
    ['the reserved name', tool('run_code'), 'tool "run_code" is reserved'],
  ])('refuses %s', (_title, definition, message) => {
    const service = new ToolsService()
    expect(() => service.register(definition as ToolDefinition)).toThrow(message)
    expect(() => service.in(agent('a')).register(definition as ToolDefinition)).toThrow(message)
    expect(names(service)).toEqual([])
  })

  it('refuses a second tool of one name in one layer, and its disposer removes exactly its own', () => {
    const service = new ToolsService()
    const dispose = service.register(tool('a'))
    expect(() => service.register(tool('a'))).toThrow('tool "a" is already registered')
    dispose()
    service.register(tool('a', { description: 'The second.' }))
    dispose()
    expect(service.get('a')?.description).toBe('The second.')
  })

  it('is rolled back when a listener of tools/change throws', () => {
    const service = new ToolsService()
    let changes = 0
    service.on('tools/change', () => {
      changes++
      if (service.get('bad') !== undefined) throw new Error('not that one')
    })
    expect(() => service.register(tool('bad'))).toThrow('not that one')
    service.register(tool('good'))()
    expect([names(service), changes]).toEqual([[], 3])
  })

  it('shows the model nothing but name, description and parameters, detached', () => {
    const service = new ToolsService()
    const definition = tool('a', { timeoutMs: 5, isConcurrencySafe: () => true })
    service.register(definition)
    const [schema] = service.schemas()
    expect(schema).toEqual({ name: 'a', description: 'The tool a.', parameters: definition.parameters })
    expect(schema?.parameters).not.toBe(definition.parameters)
  })

  it('takes names such as __proto__, constructor and toString', () => {
    const service = new ToolsService()
    for (const name of ['__proto__', 'constructor', 'toString']) service.register(tool(name))
    expect([names(service), service.get('valueOf')]).toEqual([['__proto__', 'constructor', 'toString'], undefined])
  })
})

describe('scopes', () => {
  const parent = agent('parent')
  const child = agent('child', parent)
  const stranger = agent('stranger')

  it('see what they inherit and what is their own, nearest first', () => {
    const service = new ToolsService()
    service.register(tool('a'))
    service.in(parent).register(tool('b'))
    service.in(child).register(tool('a', { description: 'of the child' }))
    expect([names(service), names(service, parent), names(service, child), names(service, stranger)]).toEqual([
      ['a'],
      ['a', 'b'],
      ['a', 'b'],
      ['a'],
    ])
    expect([service.get('a', child)?.description, service.get('a', parent)?.description]).toEqual([
      'of the child',
      'The tool a.',
    ])
    expect(service.get('b', stranger)).toBeUndefined()
  })

  it('restrict what they inherit, never what is their own', () => {
    const service = new ToolsService()
    service.register(tool('a'))
    service.register(tool('b'))
    service.in(parent).register(tool('p'))
    service.in(child).register(tool('own'))
    const lift = service.in(child).restrict({ allow: ['b', 'p'] })
    const liftParent = service.in(parent).restrict({ deny: ['b'] })
    expect([names(service, child), names(service, parent), names(service)]).toEqual([
      ['p', 'own'],
      ['a', 'p'],
      ['a', 'b'],
    ])
    expect([service.executable('b', child), service.executable('a', child)]).toEqual([undefined, undefined])
    service.register(tool('later'))
    expect([names(service, child), names(service, parent)]).toEqual([
      ['p', 'own'],
      ['a', 'later', 'p'],
    ])
    liftParent()
    lift()
    lift()
    expect(names(service, child)).toEqual(['a', 'b', 'later', 'p', 'own'])
  })

  it.each<[string, (service: ToolsService) => unknown, string]>([
    ['without a scope', (service) => service.restrict({ deny: ['a'] }), 'requires a scoped context'],
    ['without names', (service) => service.in(child).restrict({}), 'tools.restrict({}) is a no-op'],
    [
      'naming the transport',
      (service) => service.in(child).restrict({ deny: ['run_code'] }),
      'cannot name reserved "run_code"',
    ],
    [
      'naming what is not inherited',
      (service) => service.in(child).restrict({ allow: ['x', 'own'] }),
      'names unknown global tool(s) "x", "own"; known global tools: a',
    ],
  ])('refuse a restriction %s', (_title, restrict, message) => {
    const service = new ToolsService()
    service.register(tool('a'))
    service.in(child).register(tool('own'))
    expect(() => restrict(service)).toThrow(PtcUsageError)
    expect(() => restrict(service)).toThrow(message)
  })
})

describe('conditions', () => {
  const owner = agent('owner')

  it('are evaluated once for a step, and decide what it may call', async () => {
    const service = new ToolsService()
    service.register(tool('always'))
    service.register(tool('yes'), { when: async ({ modelSelection }) => modelSelection.model === 'm' })
    service.register(tool('no'), { when: () => false })
    const set = await service.resolve({ agent: owner, modelSelection: selection, signal })
    expect([...set.view(owner).keys()]).toEqual(['always', 'yes'])
    expect([...set.view(agent('other')).keys()]).toEqual([])
    expect([
      service.executable('yes', owner, set)?.name,
      service.executable('yes', owner),
      service.executable('no', owner, set),
    ]).toEqual(['yes', undefined, undefined])
    expect(service.get('no', owner)?.name).toBe('no')
    set.dispose()
    expect(service.executable('always', owner, set)).toBeUndefined()
  })

  it('that are late cannot bring back what was removed, replaced or restricted', async () => {
    const service = new ToolsService()
    service.register(tool('a'))
    const removeB = service.register(tool('b'))
    const removeC = service.register(tool('c'))
    service.register(tool('slow'), { when: () => new Promise((resolve) => setTimeout(resolve, 20, true)) })
    const resolving = service.resolve({ agent: owner, modelSelection: selection, signal })
    removeB()
    const set = await resolving
    removeC()
    service.register(tool('c', { description: 'another' }))
    expect([...set.view(owner).keys()]).toEqual(['a', 'slow'])
    service.in(owner).restrict({ deny: ['a'] })
    expect([...set.view(owner).keys()]).toEqual(['slow'])
  })

  it('that reject or are cancelled publish nothing', async () => {
    const service = new ToolsService()
    service.register(tool('a'), { when: () => Promise.reject(new Error('no answer')) })
    await expect(service.resolve({ agent: owner, modelSelection: selection, signal })).rejects.toThrow('no answer')
    const aborted = AbortSignal.abort(new Error('too late'))
    await expect(service.resolve({ agent: owner, modelSelection: selection, signal: aborted })).rejects.toThrow(
      'too late',
    )
  })
})

describe('executors', () => {
  const result = (id: string): ToolBatchResult => ({
    results: [{ callId: id, result: { isError: false, value: id, content: [] } }],
    additionalContexts: [],
    concluded: false,
  })
  const executor = (id: string): ToolExecutor => ({
    describe: () => ({ schemas: [], knownNames: [] }),
    execute: async () => result(id),
  })
  const parent = agent('parent')
  const child = agent('child', parent)
  const run = async (service: ToolsService, who?: Agent): Promise<unknown> =>
    (await service.execute({ calls: [], signal, ...(who === undefined ? {} : { agent: who }) })).results[0]?.callId

  it('of the nearest scope take the batch; an unloaded one is not replaced by a farther one', async () => {
    const service = new ToolsService()
    await expect(run(service)).rejects.toThrow('no executor is set')
    service.setExecutor(executor('default'))
    const unload = service.in(parent).setExecutor(executor('parent'))
    expect([
      await run(service),
      await run(service, parent),
      await run(service, child),
      await run(service, agent('x')),
    ]).toEqual(['default', 'parent', 'parent', 'default'])
    expect(() => service.in(parent).setExecutor(executor('second'))).toThrow('this scope has an executor already')
    unload()
    await expect(run(service, child)).rejects.toThrow('was unloaded and not replaced')
    service.in(parent).setExecutor(executor('again'))
    expect(await run(service, child)).toBe('again')
  })

  it.each<[string, object, string]>([
    ['calls', { calls: 7 }, 'a batch needs calls'],
    ['call', { calls: [{ id: 'a', name: 'b' }] }, 'a call must be'],
    ['signal', { signal: {} }, 'a batch needs signal'],
    ['owner of a step', { log: { turn: 1, step: 1 } }, 'a batch with log needs the agent'],
    ['limit', { maxParallelToolCalls: 0 }, 'maxParallelToolCalls must be a positive integer'],
  ])('get no batch with a bad %s', async (_title, part, message) => {
    const service = new ToolsService()
    service.setExecutor(executor('default'))
    await expect(
      service.execute({ calls: [], signal, ...part } as Parameters<ToolsService['execute']>[0]),
    ).rejects.toThrow(message)
  })
})

describe('listeners', () => {
  const parent = agent('parent')
  const child = agent('child', parent)

  it('of a scope see its agent and its descendants, others see every call', () => {
    const service = new ToolsService()
    const [all, ofParent, ofChild, first] = [
      (): undefined => undefined,
      (): undefined => undefined,
      (): undefined => undefined,
      (): undefined => undefined,
    ]
    service.on('tools/result', all)
    service.in(parent).on('tools/result', ofParent)
    const remove = service.on('tools/result', ofChild, { scope: child })
    service.on('tools/result', first, { prepend: true })
    expect(service.listeners('tools/result', child)).toEqual([first, all, ofParent, ofChild])
    expect(service.listeners('tools/result', parent)).toEqual([first, all, ofParent])
    expect(service.listeners('tools/result')).toEqual([first, all])
    remove()
    remove()
    expect(service.listeners('tools/result', child)).toEqual([first, all, ofParent])
  })

  it('of an event that does not exist are refused', () => {
    expect(() => new ToolsService().on('tools/toString' as 'tools/change', () => undefined)).toThrow(
      'there is no tool event "tools/toString"',
    )
  })
})
