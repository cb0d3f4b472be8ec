// Executors: how a model reaches the tools, by programs, directly, or both.
import assert from 'node:assert/strict'
import { createPtc, defineTool, NativeExecutor } from 'ptc-executor'

const read = defineTool({
  name: 'read',
  description: 'Reads.',
  parameters: { id: { type: 'integer', required: true } },
  isConcurrencySafe: () => true,
  execute: ({ id }) => `row ${id}`,
})
const finish = defineTool({
  name: 'finish',
  description: 'Ends the turn.',
  parameters: {},
  allowedCallers: ['direct', 'program'],
  execute: (_args, { concludeTurn }) => {
    concludeTurn()
    return 'done'
  },
})

const ptc = await createPtc({ tools: [read, finish] })
const call = (id: string, name: string, args: unknown) =>
  ({ type: 'tool-call', id, name, arguments: JSON.stringify(args) }) as const
const { signal } = new AbortController()

try {
  // Under ptc, a model is given run_code, and beside it what may be called directly.
  console.log(ptc.describe().schemas.map(({ name }) => name))
  const agent = ptc.agent({ id: 'assistant' })
  const batch = await ptc.execute({
    calls: [
      call('c1', 'run_code', { code: 'return tools.read({ id: 7 })', description: 'Read row 7' }),
      call('c2', 'read', { id: 8 }),
      call('c3', 'finish', {}),
    ],
    agent,
    signal,
    // With a turn and a step, tool/call and tool/result go to the agent's session.
    log: { turn: 1, step: 1 },
  })
  for (const { callId, result } of batch.results) console.log(callId, result.content)
  const [program, direct] = batch.results
  assert.deepEqual(program?.result.content, [{ type: 'text', text: 'row 7' }])
  assert.equal(direct?.result.error?.info?.code, 'UNKNOWN_TOOL')
  assert.equal(batch.concluded, true)

  // One agent may have another executor than the rest.
  const plain = ptc.agent({ id: 'plain' })
  ptc.tools.in(plain).setExecutor(new NativeExecutor({ pipeline: ptc.pipeline, maxParallelToolCalls: 4 }))
  assert.deepEqual(
    ptc.describe({ agent: plain }).schemas.map(({ name }) => name),
    ['finish', 'read'],
  )
  const rows = await ptc.execute({ calls: [1, 2, 3].map((id) => call(`r${id}`, 'read', { id })), agent: plain, signal })
  assert.deepEqual(
    rows.results.map(({ result }) => result.value),
    ['row 1', 'row 2', 'row 3'],
  )
} finally {
  await ptc.close()
}
