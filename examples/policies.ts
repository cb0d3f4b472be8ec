// Policies: rules of a file before listeners, guards after them, the same for every call.
import assert from 'node:assert/strict'
import { createPtc, defineTool, loadPolicy } from 'ptc-executor'

const readFile = defineTool({
  name: 'fs.read',
  description: 'Reads a file.',
  parameters: { path: { type: 'string', required: true } },
  execute: ({ path }) => `content of ${path}`,
})
const sendMail = defineTool({
  name: 'mail.send',
  description: 'Sends a mail.',
  parameters: { to: { type: 'string', required: true } },
  execute: ({ to }) => `sent to ${to}`,
})

const policy = await loadPolicy({
  rules: [
    { tool: 'fs.*', when: { path: { under: '/data' } }, decision: 'allow', reason: 'the data folder' },
    { tool: 'mail.send', when: { to: { matches: '@example\\.org$' } }, decision: 'allow' },
  ],
  default: 'deny',
})
console.log(policy.explain({ name: 'fs.read', arguments: { path: '/data/../etc/passwd' } }))

const ptc = await createPtc({ tools: [readFile, sendMail], policy })

ptc.tools.on('tools/pre-execute', async function noMailAtNight(exec, next) {
  return exec.name === 'mail.send' ? { kind: 'deny', reason: 'no mail at night' } : next()
})
let reads = 0
ptc.tools.guard((exec) => (exec.name === 'fs.read' && ++reads > 2 ? 'two files are enough' : undefined))
ptc.tools.on('tools/post-execute', async (_exec, result, next) => {
  const isSecret = !result.isError && String(result.value).includes('secret')
  return isSecret ? { kind: 'block', feedback: [{ type: 'text', text: 'withheld' }] } : next()
})
ptc.tools.on('tools/result', (exec, result) => {
  console.log(`${exec.name}: ${result.isError ? result.error.message : 'ok'}`)
  return undefined
})

try {
  const outcome = await ptc.run(`
    const attempts = [
      () => tools.fs.read({ path: '/data/a' }),
      () => tools.fs.read({ path: '/data/secret' }),
      () => tools.fs.read({ path: '/data/c' }),
      () => tools.fs.read({ path: '/etc/passwd' }),
      () => tools.mail.send({ to: 'ann@example.org' }),
    ]
    const seen = []
    for (const attempt of attempts) seen.push(await attempt().catch((error) => error.message))
    return seen`)
  assert.deepEqual(outcome.value, [
    'content of /data/a',
    'withheld',
    'two files are enough',
    'the policy\'s default: it denies "fs.read"',
    'no mail at night',
  ])
} finally {
  await ptc.close()
}
