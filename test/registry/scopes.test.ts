import { describe, expect, it } from 'vitest'
import {
  type Agent,
  PtcUsageError,
  type ToolActivationContext,
  type ToolBatchResult,
  type ToolDefinition,
  type ToolExecution,
  ToolExecutionPipeline,
  type ToolExecutor,
  type ToolGuard,
  type ToolRegistrationOptions,
  ToolsService,
} from '../../src/index.ts'

function tool(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name,
    description: name,
    parameters: { type: 'object', properties: {} },
    output: { schema: {}, render: () => [] },
    execute: async () => more.description ?? name,
    ...more,
  }
}

function agent(id: string, parent?: Agent): Agent {
  const session = { id, append: async () => undefined }
  return parent === undefined ? { id, session } : { id, session, parent }
}

const signal = new AbortController().signal
const modelSelection = { provider: 'p', model: 'm' }
const names = (service: ToolsService, scope?: Agent): string[] => service.definitions(scope).map(({ name }) => name)

/** Names that a call may execute and names that a scope is shown are found in two ways; they must agree. */
function agreed(service: ToolsService, scope: Agent | undefined, among: readonly string[]): string[] {
  const shown = names(service, scope)
  const found = among.filter((name) => service.get(name, scope) !== undefined)
  const executable = among.filter((name) => service.executable(name, scope) !== undefined)
  expect([found.toSorted(), executable.toSorted()]).toEqual([shown.toSorted(), shown.toSorted()])
  expect(service.schemas(scope).map(({ name }) => name)).toEqual(shown)
  return shown
}

/** What a scope runs under a name, through the pipeline. */
async function run(tools: ToolsService, name: string, scope?: Agent): Promise<unknown> {
  const result = await new ToolExecutionPipeline({ tools }).execute({
    callId: 'c',
    name,
    arguments: {},
    signal,
    ...(scope === undefined ? {} : { agent: scope }),
  })
  return result.isError ? result.error.message : result.value
}

describe('a chain of scopes', () => {
  const grand = agent('grand')
  const parent = agent('parent', grand)
  const child = agent('child', parent)
  const scopes = [undefined, grand, parent, child]

  it('is seen and executed alike at every level, shadowed from near to far', async () => {
    const service = new ToolsService()
    const layers = [service, service.in(grand), service.in(parent), service.in(child)]
    const disposers = layers.map((layer, level) => layer.register(tool('x', { description: `level ${level}` })))
    service.in(parent).register(tool('p'))
    const seen = async (): Promise<unknown> => Promise.all(scopes.map((scope) => run(service, 'x', scope)))
    expect(await seen()).toEqual(['level 0', 'level 1', 'level 2', 'level 3'])
    expect(scopes.map((scope) => agreed(service, scope, ['x', 'p']))).toEqual([['x'], ['x'], ['x', 'p'], ['x', 'p']])
    disposers[2]?.()
    expect(await seen()).toEqual(['level 0', 'level 1', 'level 1', 'level 3'])
    disposers[0]?.()
    disposers[3]?.()
    expect(await seen()).toEqual(['unknown tool "x"', 'level 1', 'level 1', 'level 1'])
    expect(await run(service, 'p', grand)).toBe('unknown tool "p"')
  })

  it('shadows whichever of the two was registered first', async () => {
    const service = new ToolsService()
    service.in(child).register(tool('x', { description: 'own' }))
    const remove = service.register(tool('x', { description: 'global' }))
    expect([await run(service, 'x', child), await run(service, 'x', parent)]).toEqual(['own', 'global'])
    remove()
    expect([await run(service, 'x', child), await run(service, 'x', parent)]).toEqual(['own', 'unknown tool "x"'])
  })

  it('of agents that name each other ends where it closes', async () => {
    const service = new ToolsService()
    const first: { -readonly [Key in keyof Agent]: Agent[Key] } = agent('first')
    const second = agent('second', first)
    first.parent = second
    service.in(first).register(tool('a'))
    service.in(second).register(tool('b'))
    expect([agreed(service, first, ['a', 'b']), agreed(service, second, ['a', 'b'])]).toEqual([
      ['b', 'a'],
      ['a', 'b'],
    ])
  })

  it('is known by identity, not by the id of its agents', () => {
    const service = new ToolsService()
    service.in(agent('same')).register(tool('a'))
    expect(names(service, agent('same'))).toEqual([])
  })

  it.each<[string, (service: ToolsService) => void, string[][]]>([
    [
      'the nearest one',
      (service) => {
        service.in(child).restrict({ deny: ['g', 'gr'] })
      },
      [['g'], ['g', 'gr'], ['g', 'gr', 'pa'], ['pa', 'ch']],
    ],
    [
      'a parent, which reaches its descendants',
      (service) => {
        service.in(parent).restrict({ deny: ['g', 'gr'] })
      },
      [['g'], ['g', 'gr'], ['pa'], ['pa', 'ch']],
    ],
    [
      'all of them, which intersect',
      (service) => {
        service.in(parent).restrict({ allow: ['g'] })
        service.in(child).restrict({ allow: ['g', 'pa'] })
        service.in(child).restrict({ deny: ['g'] })
      },
      [['g'], ['g', 'gr'], ['g', 'pa'], ['pa', 'ch']],
    ],
    [
      'one that allows nothing',
      (service) => {
        service.in(child).restrict({ allow: [] })
      },
      [['g'], ['g', 'gr'], ['g', 'gr', 'pa'], ['ch']],
    ],
    [
      'one that both allows and denies',
      (service) => {
        service.in(child).restrict({ allow: ['g', 'gr'], deny: ['gr'] })
      },
      [['g'], ['g', 'gr'], ['g', 'gr', 'pa'], ['g', 'ch']],
    ],
  ])('is restricted by %s', (_title, restrict, expected) => {
    const service = new ToolsService()
    service.register(tool('g'))
    service.in(grand).register(tool('gr'))
    service.in(parent).register(tool('pa'))
    service.in(child).register(tool('ch'))
    restrict(service)
    expect(scopes.map((scope) => agreed(service, scope, ['g', 'gr', 'pa', 'ch']))).toEqual(expected)
  })

  it('hides a restricted tool from calls as if there were none', async () => {
    const service = new ToolsService()
    service.register(tool('g'))
    service.in(child).restrict({ deny: ['g'] })
    expect(await run(service, 'g', child)).toBe('unknown tool "g"')
  })

  it('hides an inherited tool also where a farther one of that name stands behind it', async () => {
    const service = new ToolsService()
    service.register(tool('x', { description: 'global' }))
    service.in(parent).register(tool('x', { description: 'of the parent' }))
    const lift = service.in(child).restrict({ deny: ['x'] })
    expect(await run(service, 'x', child)).toBe('unknown tool "x"')
    service.in(child).register(tool('x', { description: 'own' }))
    expect(await run(service, 'x', child)).toBe('own')
    lift()
    expect(await run(service, 'x', child)).toBe('own')
  })
})

describe('a restriction', () => {
  const owner = agent('owner')

  it('copies its names, and the same filter given twice is two', () => {
    const service = new ToolsService()
    for (const name of ['a', 'b']) service.register(tool(name))
    const deny = ['a']
    const filter = { deny }
    const [first, second] = [service.in(owner).restrict(filter), service.in(owner).restrict(filter)]
    deny.push('b')
    expect(names(service, owner)).toEqual(['b'])
    first()
    first()
    expect(names(service, owner)).toEqual(['b'])
    second()
    expect(names(service, owner)).toEqual(['a', 'b'])
  })

  it('says what is known when nothing is', () => {
    expect(() => new ToolsService().in(owner).restrict({ allow: ['b', 'a'] })).toThrow(
      'tools.restrict names unknown global tool(s) "b", "a"; known global tools: (none)',
    )
  })

  it('may name a conditional tool, and what a parent registered', () => {
    const service = new ToolsService()
    const child = agent('child', owner)
    service.register(tool('maybe'), { when: () => false })
    service.in(owner).register(tool('theirs'))
    service.in(child).restrict({ deny: ['maybe', 'theirs'] })
    expect(names(service, child)).toEqual([])
  })

  it('that could not be made leaves no trace and no announcement', () => {
    const service = new ToolsService()
    service.register(tool('a'))
    let changes = 0
    service.on('tools/change', () => void changes++)
    for (const filter of [{}, { deny: ['x'] }, { allow: ['a', 'run_code'] }]) {
      expect(() => service.in(owner).restrict(filter)).toThrow(PtcUsageError)
    }
    expect([names(service, owner), changes]).toEqual([['a'], 0])
  })
})

describe('tools/change', () => {
  const owner = agent('owner')

  it('tells of registrations and restrictions, theirs and their ends, and of nothing else', () => {
    const service = new ToolsService()
    const told: string[][] = []
    service.in(agent('stranger')).on('tools/change', () => void told.push(names(service, owner)))
    const unregister = service.in(owner).register(tool('own'))
    const unregisterGlobal = service.register(tool('global'))
    const lift = service.in(owner).restrict({ deny: ['global'] })
    service.guard(() => undefined)()
    service.setExecutor({
      describe: () => ({ schemas: [], knownNames: [] }),
      execute: () => Promise.reject(new Error()),
    })()
    for (const dispose of [lift, lift, unregister, unregister, unregisterGlobal]) dispose()
    expect(told).toEqual([['own'], ['global', 'own'], ['own'], ['global', 'own'], ['global'], []])
  })

  it.each<[string, (service: ToolsService) => () => void]>([
    ['a registration', (service) => service.register(tool('new'))],
    ['a registration in a scope', (service) => service.in(owner).register(tool('new'))],
    ['a registration that shadows', (service) => service.in(owner).register(tool('a'))],
    ['a restriction', (service) => service.in(owner).restrict({ deny: ['a'] })],
  ])('whose listener throws takes back %s, which can then be made again', (_title, change) => {
    const service = new ToolsService()
    service.register(tool('a'))
    const before = service.definitions(owner)
    const remove = service.on('tools/change', () => {
      throw new Error('not now')
    })
    expect(() => change(service)).toThrow('not now')
    expect(service.definitions(owner)).toEqual(before)
    remove()
    const dispose = change(service)
    expect(service.definitions(owner)).not.toEqual(before)
    dispose()
    expect(service.definitions(owner)).toEqual(before)
  })

  it('whose listener throws at an end does not undo that end', () => {
    const service = new ToolsService()
    const unregister = service.register(tool('a'))
    service.on('tools/change', () => {
      throw new Error('too late')
    })
    expect(unregister).toThrow('too late')
    expect(names(service)).toEqual([])
    expect(unregister).not.toThrow()
  })

  it('may be answered with further registrations', () => {
    const service = new ToolsService()
    service.on('tools/change', () => {
      if (service.get('second') === undefined) service.register(tool('second'))
    })
    service.register(tool('first'))
    expect(names(service)).toEqual(['first', 'second'])
  })
})

describe('a registration', () => {
  it.each(['projectContent', 'finalizeContent', 'isConcurrencySafe', 'presentCall', 'presentResult'] as const)(
    'whose %s is no function is refused',
    (callback) => {
      const service = new ToolsService()
      const definition: unknown = { ...tool('a'), [callback]: 7 }
      expect(() => service.register(definition as ToolDefinition)).toThrow(`tool "a" ${callback} must be a function`)
      expect(names(service)).toEqual([])
    },
  )

  it('whose condition is no function is refused', () => {
    const service = new ToolsService()
    const options: unknown = { when: true }
    expect(() => service.register(tool('a'), options as ToolRegistrationOptions)).toThrow(
      'tool "a" when must be a function',
    )
    expect(names(service)).toEqual([])
  })

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, '5'])('with a timeout of %o is refused', (timeoutMs) => {
    expect(() => new ToolsService().register(tool('a', { timeoutMs: timeoutMs as number }))).toThrow(
      'tool "a" timeoutMs must be a positive finite number',
    )
  })

  it('lends its definition: what is found is what was given, and schemas are copies', () => {
    const service = new ToolsService()
    const definition = tool('a', {
      timeoutMs: 5,
      isConcurrencySafe: () => true,
      presentCall: () => undefined,
      projectContent: () => undefined,
    })
    service.register(definition)
    expect(
      [service.get('a'), service.executable('a'), service.definitions()[0]].map((found) => found === definition),
    ).toEqual([true, true, true])
    const [schema] = service.schemas()
    Object.assign(schema?.parameters ?? {}, { type: 'forged' })
    expect([Object.keys(schema ?? {}), service.schemas()[0]?.parameters]).toEqual([
      ['name', 'description', 'parameters'],
      { type: 'object', properties: {} },
    ])
  })

  it('takes parameters of any depth that JSON may have', () => {
    const service = new ToolsService()
    let parameters: Record<string, unknown> = { type: 'object' }
    for (let level = 0; level < 5_000; level++) parameters = { nested: parameters }
    service.register(tool('deep', { parameters }))
    let copy: unknown = service.schemas()[0]?.parameters
    for (let level = 0; level < 5_000; level++) copy = Reflect.get(Object(copy), 'nested')
    expect(copy).toEqual({ type: 'object' })
  })

  it('and its end leave no residue in a scope', () => {
    const service = new ToolsService()
    const owner = agent('owner')
    service.register(tool('a'))
    const scoped = service.in(owner)
    for (let round = 0; round < 3; round++) {
      const ends = [
        scoped.register(tool('own')),
        scoped.register(tool('a')),
        scoped.restrict({ deny: ['a'] }),
        scoped.guard(() => 'no'),
        scoped.on('tools/result', () => undefined),
      ]
      expect([names(service, owner), service.listeners('tools/result', owner).length]).toEqual([['own', 'a'], 1])
      for (const end of round === 1 ? ends.toReversed() : ends) end()
      expect([names(service, owner), service.listeners('tools/result', owner).length]).toEqual([['a'], 0])
      expect(service.checkGuards(execution(owner))).toBeUndefined()
    }
  })
})

function execution(who?: Agent): ToolExecution {
  const input = { callId: 'c', name: 'a', arguments: {}, signal }
  const pipeline = new ToolExecutionPipeline({ tools: new ToolsService() })
  return pipeline.begin(who === undefined ? input : { ...input, agent: who }).execution
}

describe('guards', () => {
  const parent = agent('parent')
  const child = agent('child', parent)

  /** Order in which guards are asked, none of which denies. */
  function recorder(service: ToolsService) {
    const asked: string[] = []
    const note =
      (label: string): ToolGuard =>
      () =>
        void asked.push(label) as undefined
    return { asked, note, check: (who?: Agent) => (service.checkGuards(execution(who)), asked.splice(0)) }
  }

  it('are asked from the global ones down to the own ones, each layer in order', () => {
    const service = new ToolsService()
    const { note, check } = recorder(service)
    service.in(child).guard(note('child'))
    service.in(parent).guard(note('parent'))
    service.guard(note('first'))
    service.guard(note('second'))
    expect([check(child), check(parent), check(agent('x')), check()]).toEqual([
      ['first', 'second', 'parent', 'child'],
      ['first', 'second', 'parent'],
      ['first', 'second'],
      ['first', 'second'],
    ])
  })

  it('stop at the first denial', () => {
    const service = new ToolsService()
    const { asked, note } = recorder(service)
    service.guard(() => 'no')
    service.guard(note('never'))
    expect([service.checkGuards(execution()), asked]).toEqual([{ reason: 'no' }, []])
  })

  it('that are one function registered twice are two', () => {
    const service = new ToolsService()
    const { note, check } = recorder(service)
    const same = note('same')
    const [first, second] = [service.guard(same), service.guard(same)]
    expect(check()).toEqual(['same', 'same'])
    first()
    first()
    expect(check()).toEqual(['same'])
    second()
    expect(check()).toEqual([])
  })

  it.each([
    ['global', undefined],
    ['scoped', child],
  ])('that are %s: one added by another is asked in the same pass', (_title, who) => {
    const service = new ToolsService()
    const scoped = who === undefined ? service : service.in(who)
    const { asked, note, check } = recorder(service)
    let isAdded = false
    scoped.guard(() => {
      asked.push('first')
      if (!isAdded) scoped.guard(note('added'))
      isAdded = true
      return undefined
    })
    expect([check(child), check(child)]).toEqual([
      ['first', 'added'],
      ['first', 'added'],
    ])
  })

  it.each([
    ['global', undefined],
    ['scoped', child],
  ])('that are %s: what replaces the last one is asked the next time', (_title, who) => {
    const service = new ToolsService()
    const scoped = who === undefined ? service : service.in(who)
    const { asked, note, check } = recorder(service)
    const remove = scoped.guard(() => {
      asked.push('first')
      remove()
      scoped.guard(note('replacement'))
      return undefined
    })
    expect([check(child), check(child)]).toEqual([['first'], ['replacement']])
  })

  it('that are removed by an earlier one are not asked', () => {
    const service = new ToolsService()
    const { note, check } = recorder(service)
    let remove: () => void = () => undefined
    service.guard(() => void remove() as undefined)
    remove = service.guard(note('removed'))
    expect(check()).toEqual([])
  })

  it('must be functions', () => {
    expect(() => new ToolsService().guard('no' as unknown as ToolGuard)).toThrow('a guard must be a function')
  })
})

describe('conditions', () => {
  const owner = agent('owner')
  const resolve = (service: ToolsService, more: Partial<ToolActivationContext> = {}) =>
    service.resolve({ agent: owner, modelSelection, signal, ...more })

  it('are given the context of the step, once each, all at the same time', async () => {
    const service = new ToolsService()
    const asked: ToolActivationContext[] = []
    const open: (() => void)[] = []
    for (const name of ['a', 'b']) {
      service.register(tool(name), {
        when: async (context) => {
          asked.push(context)
          // Neither answers before both were asked.
          await new Promise<void>((release) => {
            open.push(release)
            if (open.length === 2) for (const each of open) each()
          })
          return true
        },
      })
    }
    const context = { agent: owner, modelSelection, signal }
    const set = await service.resolve(context)
    for (const _look of [1, 2]) expect([...set.view(owner).keys()]).toEqual(['a', 'b'])
    expect(asked).toEqual([context, context])
  })

  it.each<[string, ToolRegistrationOptions['when'], string[]]>([
    ['none', undefined, ['a']],
    ['true', () => true, ['a']],
    ['a promise of true', async () => true, ['a']],
    ['false', () => false, []],
    ['a promise of false', async () => false, []],
    ['something truthy', (() => 'yes') as unknown as () => boolean, []],
  ])('%s admits accordingly', async (_title, when, expected) => {
    const service = new ToolsService()
    service.register(tool('a'), when === undefined ? {} : { when })
    const set = await resolve(service)
    expect([...set.view(owner).keys()]).toEqual(expected)
    expect(service.definitions(owner, set).map(({ name }) => name)).toEqual(expected)
    expect(service.schemas(owner, set).map(({ name }) => name)).toEqual(expected)
    expect(service.get('a', owner, set) === undefined).toBe(expected.length === 0)
  })

  it('of tools that the agent does not see are not asked', async () => {
    const service = new ToolsService()
    let asked = 0
    const options = { when: () => asked++ < 100 }
    service.register(tool('hidden'), options)
    service.register(tool('shadowed'), options)
    service.in(agent('stranger')).register(tool('theirs'), options)
    service.in(owner).register(tool('shadowed'))
    service.in(owner).restrict({ deny: ['hidden'] })
    const set = await resolve(service)
    expect([[...set.view(owner).keys()], asked]).toEqual([['shadowed'], 0])
  })

  it.each<[string, () => boolean]>([
    [
      'throws',
      () => {
        throw new Error('no answer')
      },
    ],
    ['rejects', (() => Promise.reject(new Error('no answer'))) as unknown as () => boolean],
  ])('of which one %s publish nothing', async (_title, when) => {
    const service = new ToolsService()
    service.register(tool('a'))
    service.register(tool('b'), { when })
    await expect(resolve(service)).rejects.toThrow('no answer')
  })

  it('that are answered after the step was cancelled publish nothing', async () => {
    const service = new ToolsService()
    const control = new AbortController()
    service.register(tool('a'), { when: () => (control.abort(new Error('step is over')), true) })
    await expect(resolve(service, { signal: control.signal })).rejects.toThrow('step is over')
  })

  it('are not asked for a step that was cancelled before', async () => {
    const service = new ToolsService()
    let asked = 0
    service.register(tool('a'), { when: () => asked++ === 0 })
    await expect(resolve(service, { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over')
    expect(asked).toBe(0)
  })

  it('decide for one step: what is registered or shadowed later is not admitted', async () => {
    const service = new ToolsService()
    service.register(tool('a'))
    const set = await resolve(service)
    service.register(tool('later'))
    expect([...set.view(owner).keys()]).toEqual(['a'])
    const unshadow = service.in(owner).register(tool('a'))
    expect([...set.view(owner).keys()]).toEqual([])
    unshadow()
    expect([...set.view(owner).keys()]).toEqual(['a'])
  })

  it('decide nothing for another scope or for none', async () => {
    const service = new ToolsService()
    service.register(tool('a'))
    const set = await resolve(service)
    const child = agent('child', owner)
    expect([undefined, child, agent('owner')].map((scope) => set.view(scope).size)).toEqual([0, 0, 0])
    expect([service.executable('a', child, set), service.get('a', child, set)]).toEqual([undefined, undefined])
  })

  it('decide nothing any more once the set is disposed of, however often', async () => {
    const service = new ToolsService()
    service.register(tool('a'))
    const [set, other] = [await resolve(service), await resolve(service)]
    set.dispose()
    set.dispose()
    expect([set.view(owner).size, other.view(owner).size]).toEqual([0, 1])
  })
})

describe('an executor', () => {
  const done: ToolBatchResult = { results: [], additionalContexts: [], concluded: false }
  const executor = (execute: ToolExecutor['execute']): ToolExecutor => ({
    describe: () => ({ schemas: [], knownNames: [] }),
    execute,
  })

  it('that is unloaded while it has a batch still settles it', async () => {
    const service = new ToolsService()
    let settle: (result: ToolBatchResult) => void = () => undefined
    const unload = service.setExecutor(executor(() => new Promise((resolve) => (settle = resolve))))
    const batch = service.execute({ calls: [], signal })
    unload()
    await expect(service.execute({ calls: [], signal })).rejects.toThrow(
      'the executor of this scope was unloaded and not replaced',
    )
    settle(done)
    expect(await batch).toBe(done)
  })

  it('is handed the batch itself, and what it throws comes through', async () => {
    const service = new ToolsService()
    const batches: unknown[] = []
    service.setExecutor(executor(async (input) => Promise.reject(new Error(`broke at ${batches.push(input)}`))))
    const batch = { calls: [], signal }
    await expect(service.execute(batch)).rejects.toThrow('broke at 1')
    expect(batches[0]).toBe(batch)
  })

  it('that was replaced is not unloaded again by its old disposer', async () => {
    const service = new ToolsService()
    const unload = service.setExecutor(executor(() => Promise.reject(new Error('old'))))
    unload()
    service.setExecutor(executor(async () => done))
    unload()
    expect(await service.execute({ calls: [], signal })).toBe(done)
  })
})

describe('listeners', () => {
  const owner = agent('owner')

  it('may be scoped by the service or by the option, which goes first', () => {
    const service = new ToolsService()
    const other = agent('other')
    const listener = (): undefined => undefined
    service.in(owner).on('tools/result', listener, { scope: other })
    expect([owner, other, undefined].map((who) => service.listeners('tools/result', who).length)).toEqual([0, 1, 0])
  })

  it('that are one function added twice are two', () => {
    const service = new ToolsService()
    const listener = (): undefined => undefined
    const remove = service.on('tools/result', listener)
    service.on('tools/result', listener)
    remove()
    remove()
    expect(service.listeners('tools/result')).toEqual([listener])
  })

  it('that come or go during a call do not change the round under way', () => {
    const service = new ToolsService()
    const round = service.listeners('tools/result')
    service.on('tools/result', () => undefined)
    expect([round.length, service.listeners('tools/result').length]).toEqual([0, 1])
  })

  it('must be functions', () => {
    expect(() => new ToolsService().on('tools/change', 7 as unknown as () => void)).toThrow(
      'a listener of tools/change must be a function',
    )
  })
})
