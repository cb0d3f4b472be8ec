import { describe, expect, it } from 'vitest'
import {
  type ApprovalRequest,
  DEFAULT_LIMITS,
  defineTool,
  presentToolCall,
  type ToolDefinition,
  type ToolRestriction,
} from '../../src/index.ts'
import { createRunCodeTool } from '../../src/executor/run-code.ts'
import { echo, withPtc } from '../helpers/ptc.ts'

const named = (name: string): ToolDefinition =>
  defineTool({ name, description: 'A tool.', parameters: {}, execute: () => name })

describe('what a program can call', () => {
  it.each<[string, ToolRestriction]>([
    ['an allow-list', { allow: ['seen'] }],
    ['a deny-list', { deny: ['hidden'] }],
  ])('a restriction hides a tool from the SDK and from programs, never run_code: %s', async (_title, filter) => {
    await withPtc({ tools: [named('seen'), named('hidden')] }, async (ptc) => {
      const agent = ptc.agent({ id: 'a' })
      const look = async (): Promise<unknown[]> => [
        ptc.describe({ agent }).schemas.map(({ name }) => name),
        ptc.describe({ agent }).sections.some(({ text }) => text.includes('hidden')),
        (await ptc.run('return Object.keys(tools).sort()', { agent })).value,
      ]
      const lift = ptc.tools.in(agent).restrict(filter)
      expect(await look()).toEqual([['run_code'], false, ['seen']])
      lift()
      expect(await look()).toEqual([['run_code'], true, ['hidden', 'seen']])
    })
  })

  it('a program has no run_code, and catches a ToolCallError that names the tool', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'Fails.',
      parameters: {},
      execute: () => Promise.reject(new Error('it fails')),
    })
    await withPtc({ tools: [broken] }, async (ptc) => {
      const { value } = await ptc.run(`
        const error = await tools.broken({}).catch((error) => error)
        return [typeof tools.run_code, error instanceof ToolCallError, error.name, error.toolName, error.message]`)
      expect(value).toEqual(['undefined', true, 'ToolCallError', 'broken', 'it fails'])
    })
  })

  it.each(['__proto__', 'constructor', 'toString', 'odd name'])(
    'a tool named %s is callable from a program',
    async (name) => {
      await withPtc({ tools: [named(name)] }, async (ptc) => {
        expect((await ptc.run(`return tools[${JSON.stringify(name)}]({})`)).value).toBe(name)
      })
    },
  )

  it('an exclusive call holds back later ones until its post-execute has ended', async () => {
    const seen: string[] = []
    const first = defineTool({
      name: 'first',
      description: 'Alone.',
      parameters: {},
      execute: () => seen.push('first'),
    })
    const second = defineTool({
      name: 'second',
      description: 'Safe.',
      parameters: {},
      isConcurrencySafe: () => true,
      execute: () => seen.push('second'),
    })
    await withPtc({ tools: [first, second] }, async (ptc) => {
      ptc.tools.on('tools/post-execute', async (exec, _result, next) => {
        if (exec.name !== 'first') return next()
        await new Promise((resolve) => setTimeout(resolve, 20))
        seen.push('post of first')
        return next()
      })
      await ptc.run('await Promise.all([tools.first({}), tools.second({})])')
    })
    expect(seen).toEqual(['first', 'post of first', 'second'])
  })
})

describe('what passes between a program and its tools', () => {
  it('arguments keep their digits on the way to the tool and in the log', async () => {
    await withPtc({ tools: [echo] }, async (ptc) => {
      const { runId, value } = await ptc.run('return tools.echo({ id: 9007199254740993n })')
      expect(value).toEqual({ id: 9007199254740993n })
      expect(ptc.log.run(runId).calls[0]?.arguments).toEqual({ id: 9007199254740993n })
    })
  })

  it.each<[string, string, unknown]>([
    ['an object without a prototype', 'Object.assign(Object.create(null), { a: 1 })', { a: 1 }],
    ['5,000 levels', "JSON.parse('{\"a\":'.repeat(5000) + '1' + '}'.repeat(5000))", undefined],
  ])('arguments of %s reach the tool and the log', async (_title, source, expected) => {
    const depthOf = (value: unknown): number => {
      let depth = 0
      for (let at: unknown = value; typeof at === 'object' && at !== null; at = Reflect.get(at, 'a')) depth++
      return depth
    }
    let given: unknown
    const take = defineTool({
      name: 'take',
      description: 'Takes.',
      parameters: {},
      execute: (args) => {
        given = args
        return null
      },
    })
    await withPtc({ tools: [take] }, async (ptc) => {
      const { runId, error } = await ptc.run(`await tools.take(${source})`)
      expect(error).toBeUndefined()
      const logged = ptc.log.run(runId).calls[0]?.arguments
      if (expected === undefined) expect([depthOf(given), depthOf(logged)]).toEqual([5_000, 5_000])
      else expect([given, logged]).toEqual([expected, expected])
    })
  })

  it.each([
    ['undefined', '{ a: undefined }'],
    ['a throwing getter', "{ get a() { throw new Error('trap') } }"],
    ['a Date', '{ a: new Date(0) }'],
    ['a function', '{ a: () => 1 }'],
    ['a symbol', '{ a: Symbol() }'],
    ['NaN', '{ a: NaN }'],
    ['a cycle', '(() => { const a = {}; a.a = a; return a })()'],
  ])('arguments with %s are refused before anything happens', async (_title, source) => {
    let bodies = 0
    const count = defineTool({ name: 'count', description: 'Counts.', parameters: {}, execute: () => ++bodies })
    await withPtc({ tools: [count] }, async (ptc) => {
      const { runId, value } = await ptc.run(`return tools.count(${source}).catch((error) => error.code)`)
      expect([value, bodies, ptc.log.run(runId).calls]).toEqual(['INVALID_ARGS', 0, []])
    })
  })

  it('long text and images of a sub-call are logged as they are', async () => {
    const content = [
      { type: 'text', text: 'é'.repeat(100_000) },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ] as const
    const show: ToolDefinition = { ...named('show'), output: { schema: {}, render: () => [...content] } }
    await withPtc({ tools: [show] }, async (ptc) => {
      const { runId } = await ptc.run('await tools.show({})')
      expect(ptc.log.run(runId).calls[0]?.content).toEqual(content)
    })
  })
})

describe('a run', () => {
  it('run_code asks for code and a description, in its schema and in the text', async () => {
    await withPtc({ tools: [echo] }, async (ptc) => {
      const { schemas, sections } = ptc.describe()
      expect(schemas[0]?.parameters).toMatchObject({ required: ['code', 'description'] })
      expect(sections.map(({ text }) => text).join('\n')).toMatch(/two arguments: `code`.* and `description`/)
    })
  })

  it('an executor that was unloaded gives no schema and no section', async () => {
    await withPtc({ tools: [echo] }, async (ptc) => {
      const agent = ptc.agent({ id: 'a' })
      const executor = {
        sections: [{ name: 'own', text: 'guidance' }],
        describe: () => ({ schemas: [], knownNames: ['own'] }),
        execute: () => Promise.reject(new Error('never asked')),
      }
      const unload = ptc.tools.in(agent).setExecutor(executor)
      expect(ptc.describe({ agent })).toEqual({ schemas: [], knownNames: ['own'], sections: executor.sections })
      unload()
      expect(() => ptc.describe({ agent })).toThrow('was unloaded and not replaced')
    })
  })

  it('a run without an agent has that of its instance', async () => {
    const asked: ApprovalRequest[] = []
    const policy = { rules: [{ tool: 'echo', decision: 'ask' }], default: 'allow' } as const
    const approve = async (request: ApprovalRequest): Promise<'rejected'> => {
      asked.push(request)
      return 'rejected'
    }
    await withPtc({ tools: [echo], policy, approve }, (ptc) => ptc.run('await tools.echo({}).catch(() => {})'))
    expect(asked.map(({ agent }) => agent.id)).toEqual([expect.stringMatching(/^ptc-/)])
  })

  it('the card of a run shows its description and its code', async () => {
    await withPtc({ tools: [] }, async ({ pipeline, runtime, log }) => {
      const tool = createRunCodeTool({ pipeline, runtime, log, limits: DEFAULT_LIMITS, owner: 'o' })
      expect(presentToolCall(tool, { code: 'return 1', description: 'Return one' })).toEqual({
        card: 'generic',
        title: 'Return one',
        kind: 'execute',
        rawInput: 'return 1',
      })
    })
  })
})
