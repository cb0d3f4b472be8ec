import { describe, expect, it } from 'vitest'
import { failureOf, house } from './house.ts'

describe('a tool without defineTool', () => {
  it('a raw tool gets its arguments unchecked', async () => {
    const given: unknown[] = []
    const { call } = house({
      parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      execute: async (args) => given.push(args),
    })
    for (const args of [{ a: 7 }, {}, 'text', null]) await call({ arguments: args })
    expect(given).toEqual([{ a: 7 }, {}, 'text', null])
  })

  it('a raw classifier gets the parsed arguments', () => {
    const given: unknown[] = []
    const { pipeline } = house({ isConcurrencySafe: (args) => given.push(args) > 0 })
    const input = { callId: 'c', name: 'tool', arguments: { a: [1] }, signal: new AbortController().signal }
    expect([pipeline.mode(input), given]).toEqual([{ kind: 'parallel' }, [{ a: [1] }]])
  })

  it('a value with a getter that throws is INVALID_TOOL_OUTPUT', async () => {
    const value = {
      get a(): number {
        throw new Error('trap')
      },
    }
    const { call } = house({ execute: async () => value })
    expect(failureOf(await call())).toEqual(['INVALID_TOOL_OUTPUT', expect.stringContaining('$.a')])
  })
})
