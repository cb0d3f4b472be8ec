// Cancellation: cooperative, awaited, and told apart by whether the body had begun.
import assert from 'node:assert/strict'
import { createPtc, defineTool, NativeExecutor } from 'ptc-executor'

const controller = new AbortController()
const work = defineTool({
  name: 'work',
  description: 'Works until it is cancelled.',
  parameters: {},
  execute: (_args, { signal }) =>
    new Promise<never>((_resolve, reject) => {
      // A body that is cancelled cleans up, and settles when nothing of it is left.
      signal.addEventListener('abort', () => reject(signal.reason))
      controller.abort(new Error('the user has left'))
    }),
})
const deaf = defineTool({
  name: 'deaf',
  description: 'Ignores its signal.',
  parameters: {},
  execute: () => new Promise<never>(() => undefined),
})

const ptc = await createPtc({ tools: [work, deaf], abandonAfterMs: 100 })
try {
  // Of two calls, the first is cancelled while it works, the second before it could begin.
  const agent = ptc.agent({ id: 'direct' })
  ptc.tools.in(agent).setExecutor(new NativeExecutor({ pipeline: ptc.pipeline }))
  const { results } = await ptc.execute({
    calls: ['c1', 'c2'].map((id) => ({ type: 'tool-call', id, name: 'work', arguments: '{}' }) as const),
    agent,
    signal: controller.signal,
  })
  const codes = results.map(({ result }) => result.error?.info?.code)
  console.log(codes)
  assert.deepEqual(codes, ['ABORTED', 'ABORTED_BEFORE_DISPATCH'])

  // A program that ends while a call is on its way cancels it; one that does not listen is given up.
  const outcome = await ptc.run(`
    void tools.deaf().catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 50))
    return 'gone'`)
  const { calls } = ptc.log.run(outcome.runId)
  console.log(outcome.value, calls[0]?.error_code)
  assert.equal(calls[0]?.error_code, 'EFFECTS_UNKNOWN')
} finally {
  await ptc.close()
}
