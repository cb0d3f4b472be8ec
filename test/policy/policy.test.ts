import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadPolicy, parseJson, type PolicyCondition, type PolicyDefinition } from '../../src/index.ts'

const decide = async (definition: PolicyDefinition, name: string, args: unknown = {}): Promise<unknown> =>
  (await loadPolicy(definition)).decide({ name, arguments: args }).kind

/** Whether one condition on `value` makes an allow rule and a deny rule match. */
async function matches(condition: PolicyCondition, args: unknown, path = 'value'): Promise<readonly boolean[]> {
  const when = { [path]: condition }
  const allowed = await decide({ rules: [{ tool: 't', when, decision: 'allow' }], default: 'deny' }, 't', args)
  const denied = await decide({ rules: [{ tool: 't', when, decision: 'deny' }], default: 'allow' }, 't', args)
  const asked = await decide({ rules: [{ tool: 't', when, decision: 'ask' }], default: 'allow' }, 't', args)
  expect(asked === 'ask').toBe(denied === 'deny')
  return [allowed === 'allow', denied === 'deny']
}

const [YES, NO, UNKNOWN] = [
  [true, true],
  [false, false],
  [false, true],
]

describe('rules', () => {
  it('are asked in order, and the first that matches decides', async () => {
    const policy = await loadPolicy({
      rules: [
        { tool: 'fs.read', decision: 'allow' },
        { tool: 'fs.*', decision: 'deny', reason: 'read only' },
        { tool: '*', decision: 'ask' },
      ],
      default: 'deny',
    })
    expect(policy.explain({ name: 'fs.read', arguments: {} })).toMatchObject({ decision: 'allow', rule: 1 })
    expect(policy.explain({ name: 'fs.write', arguments: {} })).toEqual({
      decision: 'deny',
      rule: 2,
      reason: 'read only',
      passedOver: [{ rule: 1, because: 'the tool is not named by it' }],
    })
    expect(policy.explain({ name: 'x', arguments: {} })).toMatchObject({ decision: 'ask', rule: 3 })
  })

  it('tell the model the reason of a denial with a code', async () => {
    const policy = await loadPolicy({ rules: [{ tool: 'x', decision: 'deny', reason: 'not here' }], default: 'allow' })
    expect(policy.decide({ name: 'x', arguments: {} })).toEqual({
      kind: 'deny',
      reason: 'not here',
      info: { name: 'PolicyError', code: 'POLICY_DENIED' },
    })
  })

  it.each([
    ['fs.*', 'fs.read', true],
    ['fs.*', 'fs.', true],
    ['fs.*', 'fs', false],
    ['fs.*', 'xfs.read', false],
    ['*', 'anything at all', true],
    ['*.read', 'a.b.read', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a*bb*b', 'abb', false],
    ['*a*a*', 'xay', false],
    ['read', 'Read', false],
    ['f.x', 'fax', false],
    ['toString', 'toString', true],
    ['**', 'x', true],
  ])('a pattern %j and the tool %j match: %j', async (tool, name, isMatch) => {
    expect(await decide({ rules: [{ tool, decision: 'ask' }], default: 'allow' }, name)).toBe(isMatch ? 'ask' : 'allow')
  })

  it('match by any of several patterns', async () => {
    const definition = { rules: [{ tool: ['a', 'b.*'], decision: 'deny' }], default: 'allow' } as const
    expect([await decide(definition, 'a'), await decide(definition, 'b.c'), await decide(definition, 'c')]).toEqual([
      'deny',
      'deny',
      'allow',
    ])
  })

  it.each([
    ['*', 'deny', 'allow'],
    ['run_*', 'deny', 'allow'],
    ['run_code', 'deny', 'deny'],
  ] as const)('%j with the default %j makes of run_code: %j', async (tool, fallback, decision) => {
    expect(await decide({ rules: [{ tool, decision: 'deny' }], default: fallback }, 'run_code')).toBe(decision)
  })

  it('name tools that nobody has, which is told', async () => {
    const rules = ['fs.*', 'fs.delte', 'run_code'].map((tool) => ({ tool, decision: 'deny' as const }))
    const policy = await loadPolicy({ rules, default: 'allow' })
    expect(policy.rulesWithoutTools(['fs.delete'])).toEqual([{ rule: 2, patterns: ['fs.delte'] }])
  })

  it('do not change when the definition is changed afterwards', async () => {
    const definition = { rules: [{ tool: 'x', decision: 'deny' as 'deny' | 'allow' }], default: 'deny' as const }
    const policy = await loadPolicy(definition)
    for (const rule of definition.rules) rule.decision = 'allow'
    expect(policy.decide({ name: 'x', arguments: {} }).kind).toBe('deny')
  })
})

describe('conditions', () => {
  const here = process.cwd()
  it.each<[PolicyCondition, unknown, readonly boolean[]]>([
    [{ equals: 'a' }, 'a', YES],
    [{ equals: 'a' }, 'b', NO],
    [{ equals: 'a' }, ['a'], UNKNOWN],
    [{ equals: 1 }, 1, YES],
    [{ equals: 1 }, 1n, YES],
    [{ equals: 1 }, '1', UNKNOWN],
    [{ equals: true }, true, YES],
    [{ equals: true }, false, NO],
    [{ equals: null }, null, YES],
    [{ equals: 9007199254740993n }, 9007199254740993n, YES],
    [{ equals: 9007199254740993n }, 9007199254740992, NO],
    [{ oneOf: ['a', 'b'] }, 'b', YES],
    [{ oneOf: ['a', 'b'] }, 'c', NO],
    [{ oneOf: ['a', 1] }, true, UNKNOWN],
    [{ matches: '^git (status|log)$' }, 'git log', YES],
    [{ matches: '^git (status|log)$' }, 'git log; rm', NO],
    [{ matches: 'rm' }, 'sudo rm -rf', YES],
    [{ matches: '(a+)+$' }, `${'a'.repeat(50_000)}!`, NO],
    [{ matches: 'a' }, 'a'.repeat(65_537), UNKNOWN],
    [{ matches: 'a' }, 5, UNKNOWN],
    [{ less: 10 }, 9.5, YES],
    [{ less: 10 }, 10, NO],
    [{ greater: 10 }, 10, NO],
    [{ greater: 10 }, 11n, YES],
    [{ greater: 10, less: 20 }, 15, YES],
    [{ greater: 10, less: 20 }, 25, NO],
    [{ greater: 10 }, '11', UNKNOWN],
    [{ greater: 9007199254740992 }, 9007199254740993n, YES],
    [{ less: 1 }, parseJson('0.99999999999999999999'), YES],
    [{ greater: 1 }, parseJson('1.00000000000000000001'), YES],
    [{ less: 0 }, parseJson('-1e-400'), YES],
    [{ greater: 0 }, parseJson('1e-400'), YES],
    [{ less: 5 }, parseJson('1e400'), NO],
    [{ less: 5 }, parseJson('-1e400'), YES],
    [{ under: '/data' }, '/data/x', YES],
    [{ under: '/data' }, '/data', YES],
    [{ under: '/data' }, '/data/', YES],
    [{ under: '/data/' }, '/data/x/../y', YES],
    [{ under: '/data' }, '/data/../etc/passwd', NO],
    [{ under: '/data' }, '/database', NO],
    [{ under: '/data' }, '/data/..x', YES],
    [{ under: '/' }, '/anything', YES],
    [{ under: here }, 'src/index.ts', YES],
    [{ under: '.' }, './src', YES],
    [{ under: '.' }, '../elsewhere', NO],
    [{ under: 'src' }, resolve(here, 'src/json'), YES],
    [{ under: '.' }, 'file:///etc/passwd', UNKNOWN],
    [{ under: '.' }, '~/.ssh/id', UNKNOWN],
    [{ under: '/data' }, '/data/x\0/../../etc', UNKNOWN],
    [{ under: '.' }, '', UNKNOWN],
    [{ under: '/data' }, 7, UNKNOWN],
  ])(
    'an operator and a value, row %#: an allow rule matches, a deny or ask rule matches',
    async (condition, value, expected) => {
      expect(await matches(condition, { value })).toEqual(expected)
    },
  )

  it.each([
    ['value', {}, UNKNOWN],
    ['value', { Value: 'a' }, UNKNOWN],
    ['toString', {}, UNKNOWN],
    ['value.deep', { value: 'a' }, UNKNOWN],
    ['value[*]', { value: ['a', 'a'] }, YES],
    ['value[*]', { value: ['a', 'b'] }, UNKNOWN],
    ['value[*]', { value: ['b', 'b'] }, NO],
    ['value[*]', { value: [] }, UNKNOWN],
    ['value[*].x', { value: [{ x: 'a' }, {}] }, UNKNOWN],
    ['value', 'no object', UNKNOWN],
    ['$', 'a', YES],
  ] as const)('what %s leads to in %j equals "a": %j', async (path, args, expected) => {
    expect(await matches({ equals: 'a' }, args, path)).toEqual(expected)
  })

  it('must all be met', async () => {
    const when = { env: { equals: 'prod' }, force: { equals: true } }
    const definition: PolicyDefinition = { rules: [{ tool: 'deploy', when, decision: 'deny' }], default: 'allow' }
    expect(await decide(definition, 'deploy', { env: 'prod', force: true })).toBe('deny')
    expect(await decide(definition, 'deploy', { env: 'test', force: true })).toBe('allow')
  })
})
