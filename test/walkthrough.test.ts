import { expect, it } from 'vitest'
import { createPtc, defineTool } from '../src/index.ts'

it('one program passes every stop on its way, in order', async () => {
  const stops: string[] = []
  const lookup = defineTool({
    name: 'lookup',
    description: 'Looks up a city.',
    parameters: { city: { type: 'string', required: true } },
    output: {
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: { people: { type: 'integer', required: true } },
      },
      render: (_args, { people }) => {
        stops.push('render')
        return [{ type: 'text', text: `${people} people` }]
      },
    },
    execute: async ({ city }, exec) => {
      stops.push(`body of ${exec.callId.split(':').slice(1).join(':')}`)
      expect(Object.isFrozen(exec.arguments)).toBe(true)
      return { people: city.length }
    },
    finalizeContent: () => {
      stops.push('finalize')
      return undefined
    },
  })
  const ptc = await createPtc({
    tools: [lookup],
    approve: async ({ name }) => {
      stops.push(`approval of ${name}`)
      return 'allowed-once'
    },
  })
  ptc.tools.on('tools/pre-execute', async (exec, next) => {
    stops.push(`pre-execute ${exec.name}`)
    return exec.name === 'lookup' ? { kind: 'ask', reason: 'a city is looked up' } : next()
  })
  ptc.tools.guard((exec) => {
    stops.push(`guard ${exec.name}`)
    return undefined
  })
  ptc.tools.on('tools/execute', async (exec, next) => {
    stops.push(`execute ${exec.name}`)
    return next()
  })
  ptc.tools.on('tools/post-execute', async (exec, result, next) => {
    stops.push(`post-execute ${exec.name} ${result.isError ? 'failed' : 'ok'}`)
    return next()
  })
  ptc.tools.on('tools/ptc-dispatch-log', async ({ subCallId }, next) => {
    stops.push(`log copy of ${subCallId.split(':').slice(1).join(':')}`)
    return next()
  })
  ptc.tools.on('tools/result', (exec, result) => {
    stops.push(`result ${exec.name} ${result.isError ? 'failed' : 'ok'}`)
    return undefined
  })

  const source =
    'const { people }: { people: number } = await tools.lookup({ city: "Lima" })\nconsole.log("found")\nreturn people'
  const outcome = await ptc.run(source, {
    description: 'Count the people of Lima',
    onEvent: (event) => {
      if (event.type !== 'program-end') stops.push(event.type)
    },
  })

  expect(outcome).toMatchObject({ ok: true, value: 4, logs: ['found'] })
  expect(stops).toEqual([
    'pre-execute run_code',
    'guard run_code',
    'execute run_code',
    'program-start',
    'sub-call-start',
    'pre-execute lookup',
    'approval of lookup',
    'guard lookup',
    'execute lookup',
    'body of ptc:1',
    'render',
    'post-execute lookup ok',
    'finalize',
    'result lookup ok',
    'sub-call-settle',
    'log copy of ptc:1',
    'console',
    'post-execute run_code ok',
    'result run_code ok',
  ])
  const { run, calls, console } = ptc.log.run(outcome.runId)
  expect(run).toMatchObject({ outcome: 'ok', description: 'Count the people of Lima', source, value: 4 })
  expect(calls).toMatchObject([
    {
      sub_call_id: `${outcome.runId}:ptc:1`,
      name: 'lookup',
      arguments: { city: 'Lima' },
      content: [{ type: 'text', text: '4 people' }],
      is_error: false,
    },
  ])
  expect(console).toMatchObject([{ level: 'log', text: 'found' }])
  await ptc.close()
})
