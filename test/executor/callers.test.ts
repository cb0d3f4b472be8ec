import { describe, expect, it } from 'vitest'
import { createPtc, type ExecutorChoice, type ToolCaller, type ToolDefinition, ToolsService } from '../../src/index.ts'
import { echo, withPtc } from '../helpers/ptc.ts'
import { block, codes } from './batches.ts'

const named = (name: string, allowedCallers?: readonly ToolCaller[]): ToolDefinition => ({
  ...echo,
  name,
  ...(allowedCallers === undefined ? {} : { allowedCallers }),
})
const TOOLS = [
  named('silent'),
  named('direct', ['direct']),
  named('program', ['program']),
  named('either', ['program', 'direct']),
]

describe('who may call a tool', () => {
  it.each<[ExecutorChoice, string[], string[]]>([
    ['ptc', ['run_code', 'direct', 'either'], ['either', 'program', 'silent']],
    ['native', ['direct', 'either', 'silent'], []],
    ['both', ['run_code', 'direct', 'either', 'silent'], ['either', 'program', 'silent']],
  ])('under %s is what is declared, taken and in the SDK', async (executor, direct, fromPrograms) => {
    await withPtc({ tools: TOOLS, executor }, async (ptc) => {
      const { schemas, sections } = ptc.describe()
      expect(schemas.map(({ name }) => name)).toEqual(direct)
      const calls = TOOLS.map(({ name }) => block(name, name))
      const batch = await ptc.execute({ calls, signal: new AbortController().signal })
      expect(codes(batch)).toEqual(TOOLS.map(({ name }) => `${name} ${direct.includes(name) ? 'ok' : 'UNKNOWN_TOOL'}`))
      const sdk = sections.find(({ name }) => name === 'tools:sdk')?.text ?? ''
      expect(TOOLS.map(({ name }) => name).filter((name) => sdk.includes(`readonly ${name}: `))).toEqual(
        TOOLS.map(({ name }) => name).filter((name) => fromPrograms.includes(name)),
      )
      if (executor === 'native') return
      const { value } = await ptc.run('return Object.keys(tools).sort()')
      expect(value).toEqual(fromPrograms)
    })
  })

  it.each<[ExecutorChoice, (string | undefined)[]]>([
    [
      'ptc',
      [
        'Only `run_code`, `direct` and `either` can be called directly. Every other tool is called from inside a `run_code` program.',
      ],
    ],
    ['both', [undefined]],
  ])('under %s is said in the prompt', async (executor, expected) => {
    await withPtc({ tools: TOOLS, executor }, async (ptc) => {
      const { sections } = ptc.describe()
      expect([sections.find(({ name }) => name === 'tools:ptc-only')?.text]).toEqual(expected)
    })
  })

  it('a direct call of a tool for programs says how to reach it, before any policy', async () => {
    await withPtc({ tools: TOOLS }, async (ptc) => {
      ptc.tools.on('tools/pre-execute', async () => expect.unreachable())
      const { results } = await ptc.execute({
        calls: [block('a', 'program')],
        signal: new AbortController().signal,
      })
      expect(results[0]?.result.error?.message).toBe(
        'unknown tool "program"; only `run_code` is callable directly; call it from inside a program: await tools["program"]({ … })',
      )
    })
  })

  it('a tool that is replaced by one for models alone while its program runs is refused there', async () => {
    await withPtc({ tools: [echo] }, async (ptc) => {
      const remove = ptc.tools.register(named('swapped'))
      ptc.tools.on('tools/result', ({ name }) => {
        if (name !== 'echo') return undefined
        remove()
        ptc.tools.register(named('swapped', ['direct']))
        return undefined
      })
      const { value } = await ptc.run(`
        await tools.swapped({})
        await tools.echo({})
        try { await tools.swapped({}) } catch (error) { return [error.code, error.message, error.retryable] }`)
      expect(value).toEqual([
        'UNKNOWN_TOOL',
        'unknown tool "swapped"; it can be called directly only, not from a program',
        false,
      ])
    })
  })

  it.each([[[]], [['model']], ['direct'], [[undefined]]])('cannot be %j', (allowedCallers) => {
    const definition = { ...echo, allowedCallers } as ToolDefinition
    expect(() => new ToolsService().register(definition)).toThrow(
      `tool "echo" allowedCallers must be an array of 'direct' and 'program', at least one`,
    )
  })

  it('an executor that does not exist is refused', async () => {
    await expect(createPtc({ executor: 'code' as 'ptc' })).rejects.toThrow(
      `executor must be 'ptc', 'native' or 'both', "code" came`,
    )
  })
})
