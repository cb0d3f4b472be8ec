// Approval: a policy asks, a person answers, one call at a time.
import assert from 'node:assert/strict'
import { type ApprovalRequest, createPtc, defineTool } from 'ptc-executor'

const removed: string[] = []
const remove = defineTool({
  name: 'remove',
  description: 'Removes a file.',
  parameters: { path: { type: 'string', required: true } },
  execute: ({ path }) => removed.push(path),
})

const asked: ApprovalRequest[] = []
const ptc = await createPtc({
  tools: [remove],
  policy: { rules: [{ tool: 'remove', decision: 'ask', reason: 'it cannot be undone' }], default: 'allow' },
  // A real host shows the request to a person; `signal` says when the question is over.
  approve: async (request) => {
    asked.push(request)
    return String(Reflect.get(Object(request.arguments), 'path')).startsWith('/tmp/') ? 'allowed-once' : 'rejected'
  },
  approvalMs: 60_000,
})

try {
  const outcome = await ptc.run(`
    const removed = await tools.remove({ path: '/tmp/a' })
    const refused = await tools.remove({ path: '/etc/passwd' }).catch((error) => [error.code, error.retryable])
    return { removed, refused }`)
  console.log(outcome.value)
  for (const { name, reason, arguments: args } of asked)
    console.log(`asked: ${name} ${JSON.stringify(args)}: ${reason}`)
  assert.deepEqual(outcome.value, { removed: 1, refused: ['APPROVAL_REJECTED', false] })
  assert.deepEqual(removed, ['/tmp/a'])
  assert.equal(asked.length, 2)
} finally {
  await ptc.close()
}
