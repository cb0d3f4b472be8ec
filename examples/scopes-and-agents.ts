// Scopes: what one agent sees, may do and brings along, without the others noticing.
import assert from 'node:assert/strict'
import { createPtc, defineTool } from 'ptc-executor'

const tool = (name: string, answer: string) =>
  defineTool({ name, description: `Answers ${answer}.`, parameters: {}, execute: () => answer })

const ptc = await createPtc({
  tools: [tool('search', 'the web'), tool('shell', 'a shell'), tool('deploy', 'production')],
})
const lead = ptc.agent({ id: 'lead' })
const helper = ptc.agent({ id: 'helper', parent: lead })

// The lead has a search of its own; the helper inherits it, and may not use the shell.
ptc.tools.in(lead).register(tool('search', 'the intranet'))
const lift = ptc.tools.in(helper).restrict({ deny: ['shell'] })
// Nobody below the lead deploys, whatever listeners say.
ptc.tools.in(lead).guard((exec) => (exec.name === 'deploy' ? 'the lead does not deploy' : undefined))
// A tool that is there for strong models only.
ptc.tools.register(tool('plan', 'a plan'), { when: ({ modelSelection }) => modelSelection.model === 'strong' })

const program = `
  const seen = {}
  for (const name of Object.keys(tools)) seen[name] = await tools[name]().catch((error) => error.message)
  return seen`

try {
  const all = await ptc.run(program)
  const ofLead = await ptc.run(program, { agent: lead })
  const ofHelper = await ptc.run(program, { agent: helper })
  console.log({ all: all.value, ofLead: ofLead.value, ofHelper: ofHelper.value })
  assert.deepEqual(all.value, { deploy: 'production', search: 'the web', shell: 'a shell' })
  assert.deepEqual(ofLead.value, { deploy: 'the lead does not deploy', search: 'the intranet', shell: 'a shell' })
  assert.deepEqual(ofHelper.value, { deploy: 'the lead does not deploy', search: 'the intranet' })

  lift()
  const modelSelection = { provider: 'any', model: 'strong' }
  const toolSet = await ptc.tools.resolve({ agent: helper, modelSelection, signal: new AbortController().signal })
  const step = await ptc.run('return Object.keys(tools).sort()', { agent: helper, toolSet })
  toolSet.dispose()
  console.log(step.value)
  assert.deepEqual(step.value, ['deploy', 'plan', 'search', 'shell'])
} finally {
  await ptc.close()
}
