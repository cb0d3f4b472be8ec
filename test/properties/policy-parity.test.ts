import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineTool, NativeExecutor, type PolicyDefinition, type Ptc, stringifyJson } from '../../src/index.ts'
import { withPtc } from '../helpers/ptc.ts'

const NAMES = ['fs.read', 'fs.write', 'mail'] as const
const tools = NAMES.map((name) =>
  defineTool({
    name,
    description: 'A tool.',
    parameters: { path: { type: 'string' }, count: { type: 'integer' } },
    isConcurrencySafe: () => name === 'fs.read',
    execute: async (args, { deferContext }) => {
      if (args.count === 3) throw new Error('three is too many')
      if (args.count === 2)
        deferContext({ role: 'user', content: [{ type: 'text', text: name }], source: { kind: 'x' } })
      return { name, ...args }
    },
  }),
)

const decision = fc.constantFrom('allow', 'ask', 'deny')
const condition = fc.oneof(
  fc.record({ path: fc.constantFrom({ under: '/data' }, { equals: '/data/a' }, { matches: '\\.ts$' }) }),
  fc.record({ count: fc.record({ less: fc.integer({ min: 0, max: 4 }) }) }),
)
const rule = fc.record(
  { tool: fc.constantFrom('*', 'fs.*', ...NAMES), decision, when: condition, reason: fc.constantFrom('one', 'two') },
  { requiredKeys: ['tool', 'decision'] },
)
// Made of parts that are policies, which the generators' types are too wide to show.
const policies = fc.record({
  rules: fc.array(rule, { maxLength: 4 }),
  default: decision,
}) as fc.Arbitrary<PolicyDefinition>
const calls = fc.array(
  fc.record({
    name: fc.constantFrom(...NAMES),
    args: fc.record(
      {
        path: fc.constantFrom<unknown>('/data/a', '/data/../etc', 'x.ts', 5),
        count: fc.integer({ min: 0, max: 4 }),
      },
      { requiredKeys: [] },
    ),
  }),
  { minLength: 1, maxLength: 8 },
)

/** Everything that happens to calls, as listeners see it: stage, name, arguments and outcome. */
function record(ptc: Ptc): string[] {
  const events: string[] = []
  const note = (stage: string, exec: { name: string; arguments: unknown }, more: unknown = null): void => {
    if (exec.name !== 'run_code') events.push(`${stage} ${exec.name} ${JSON.stringify([exec.arguments, more])}`)
  }
  ptc.tools.on('tools/pre-execute', async (exec, next) => {
    note('pre', exec)
    return next()
  })
  ptc.tools.on('tools/execute', async (exec, next) => {
    note('execute', exec)
    return next()
  })
  ptc.tools.on('tools/post-execute', async (exec, result, next) => {
    note('post', exec, result.content)
    return next()
  })
  ptc.tools.on('tools/result', (exec, result) => {
    const { isError, content, value, additionalContexts, meta } = result
    note('result', exec, {
      isError,
      content,
      value,
      additionalContexts,
      meta,
      error: result.isError ? result.error : null,
    })
    return undefined
  })
  return events
}

describe('a sub-call and a direct call of the same tool with the same arguments', () => {
  it('get the same verdict, value, content and events under any policy', async () => {
    const seen: string[] = []
    await fc.assert(
      fc.asyncProperty(
        policies,
        calls,
        fc.constantFrom('allowed-once', 'rejected', 'cancelled'),
        async (policy, list, answer) => {
          await withPtc({ tools, policy, approve: async () => answer }, async (ptc) => {
            const events = record(ptc)
            const direct = ptc.agent({ id: 'direct' })
            ptc.tools.in(direct).setExecutor(new NativeExecutor({ pipeline: ptc.pipeline }))
            for (const [index, { name, args }] of list.entries()) {
              const call = {
                type: 'tool-call',
                id: `c${index}`,
                name,
                arguments: stringifyJson(args as never),
              } as const
              await ptc.execute({ agent: direct, calls: [call], signal: new AbortController().signal })
            }
            const ofDirect = events.splice(0)
            const outcome = await ptc.run(
              `for (const { name, args } of ${JSON.stringify(list)}) await tools[name](args).catch(() => undefined)`,
            )
            expect(outcome.error).toBeUndefined()
            expect(events).toEqual(ofDirect)
            seen.push(...events)
          })
        },
      ),
      { numRuns: 25 },
    )
    // The property would hold of policies that decide nothing.
    for (const code of ['POLICY_DENIED', 'INVALID_ARGS', 'APPROVAL_']) expect(seen.join('\n')).toContain(code)
  })
})
