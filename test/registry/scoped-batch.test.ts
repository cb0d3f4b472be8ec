import { describe, expect, it } from 'vitest'
import { type Agent, type ToolBatchInput, type ToolExecutor, ToolsService } from '../../src/index.ts'

const agent = (id: string): Agent => ({ id, session: { id, append: async () => undefined } })
const { signal } = new AbortController()

describe('a batch that is given to the service of an agent', () => {
  it.each<[string, (owner: Agent, other: Agent) => Partial<ToolBatchInput>, string]>([
    ['belongs to that agent', () => ({}), 'owner'],
    ['belongs to that agent also as part of a step', () => ({ log: { turn: 1, step: 1 } }), 'owner'],
    ['belongs to the agent that it names', (_owner, other) => ({ agent: other }), 'other'],
  ])('%s', async (_title, more, expected) => {
    const service = new ToolsService()
    const [owner, other] = [agent('owner'), agent('other')]
    const taken: unknown[] = []
    const executor = (scope: string): ToolExecutor => ({
      describe: () => ({ schemas: [], knownNames: [] }),
      execute: async (input) => {
        taken.push([scope, input.agent?.id])
        return { results: [], additionalContexts: [], concluded: false }
      },
    })
    service.setExecutor(executor('default'))
    for (const scope of [owner, other]) service.in(scope).setExecutor(executor(scope.id))
    await service.in(owner).execute({ calls: [], signal, ...more(owner, other) })
    expect(taken).toEqual([[expected, expected]])
    await service.execute({ calls: [], signal })
    expect(taken.at(-1)).toEqual(['default', undefined])
  })
})
