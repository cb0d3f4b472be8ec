import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineTool, HarnessError, ToolContextUnavailableError, type ToolExecution } from '../../src/index.ts'
import { withPtc } from '../helpers/ptc.ts'
import { block, nativeHouse, recordingAgent } from './batches.ts'

const failing = (error: HarnessError) =>
  defineTool({ name: 'fails', description: 'Fails.', parameters: {}, execute: () => Promise.reject(error) })

describe('what is on record', () => {
  it('keeps the reason of a failure, which the model does not read', async () => {
    const error = new HarnessError('it failed', 'FAILED', { reason: 'raw detail for people' })
    const { agent, events } = recordingAgent()
    const { results } = await nativeHouse([failing(error)]).run([block('a', 'fails')], {
      agent,
      log: { turn: 1, step: 1 },
    })
    expect(events.at(-1)?.body).toMatchObject({ error: { code: 'FAILED', reason: 'raw detail for people' } })
    expect(JSON.stringify(results[0]?.result.content)).not.toContain('raw detail')
  })

  it('names no schema, while the sub-call carries the frozen one of its binding', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ptc-contract-'))
    const log = join(folder, 'log.db')
    const tool = defineTool({
      name: 'tool',
      description: 'A description that is never logged.',
      parameters: { odd_parameter_name: { type: 'string' } },
      execute: () => null,
    })
    const seen: ToolExecution[] = []
    await withPtc({ tools: [tool], log }, async (ptc) => {
      ptc.tools.on('tools/pre-execute', async (exec, next) => {
        if (exec.parent !== undefined) seen.push(exec)
        return next()
      })
      await ptc.run('await tools.tool({})')
    })
    expect(seen[0]?.schema).toMatchObject({ name: 'tool', description: tool.description })
    expect([Object.isFrozen(seen[0]?.schema), Object.isFrozen(seen[0]?.schema?.parameters)]).toEqual([true, true])
    const database = new DatabaseSync(log, { readOnly: true })
    const rows = JSON.stringify(database.prepare("SELECT * FROM events WHERE type LIKE 'tool/%'").all())
    database.close()
    rmSync(folder, { recursive: true })
    expect(rows).toContain('tool/ptc-dispatch-start')
    expect(rows).not.toMatch(/never logged|odd_parameter_name/)
  })
})

describe('a body that lacks its context', () => {
  it('fails as TOOL_CONTEXT_UNAVAILABLE, for direct calls and for programs', async () => {
    const tool = failing(new ToolContextUnavailableError('it needs an open turn'))
    const { results } = await nativeHouse([tool]).run([block('a', 'fails')])
    expect(results[0]?.result.error?.info).toMatchObject({
      name: 'ToolContextUnavailableError',
      code: 'TOOL_CONTEXT_UNAVAILABLE',
    })
    await withPtc({ tools: [tool] }, async (ptc) => {
      const { value } = await ptc.run('return tools.fails({}).catch((error) => error.code)')
      expect(value).toBe('TOOL_CONTEXT_UNAVAILABLE')
    })
  })
})
