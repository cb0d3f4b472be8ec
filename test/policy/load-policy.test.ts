import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPtc, loadPolicy, PolicyError, type PolicyDefinition } from '../../src/index.ts'
import { echo, withPtc } from '../helpers/ptc.ts'

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'ptc-policy-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const problemOf = async (source: unknown): Promise<PolicyError> => {
  // Policies come from people who write JSON.
  const failure: unknown = await loadPolicy(source as PolicyDefinition).catch((problem: unknown) => problem)
  if (!(failure instanceof PolicyError)) throw new Error(`a PolicyError was expected, ${String(failure)} came`)
  return failure
}

describe('a policy file', () => {
  it.each([
    ['policy.json', '{ "default": "deny" }'],
    ['named.ts', "export const policy: { readonly default: string } = { default: 'deny' }"],
    ['default.mjs', "export default { default: 'deny' }"],
    ['common.cjs', "module.exports = { default: 'deny' }"],
  ])('%s is taken', async (name, text) => {
    const policy = await loadPolicy(file(name, text))
    expect(policy.decide({ name: 'x', arguments: {} }).kind).toBe('deny')
  })

  it('keeps every digit of its numbers', async () => {
    const rule = '{ "tool": "x", "when": { "id": { "equals": 9007199254740993 } }, "decision": "deny" }'
    const policy = await loadPolicy(file('digits.json', `{ "rules": [${rule}], "default": "allow" }`))
    expect(policy.decide({ name: 'x', arguments: { id: 9007199254740993n } }).kind).toBe('deny')
    expect(policy.decide({ name: 'x', arguments: { id: 9007199254740992 } }).kind).toBe('allow')
  })

  it.each([
    ['missing.json', undefined, /ENOENT/],
    ['broken.json', '{ "default": ', /line|character|position|end/i],
    ['policy.yaml', 'default: deny', /must end with \.json/],
    ['nothing.ts', 'export const other = 1', /exports no policy/],
    ['throws.ts', "throw new Error('on purpose')", /on purpose/],
  ])('%s is refused with its name', async (name, text, problem) => {
    const path = text === undefined ? join(folder, name) : file(name, text)
    const { message, code } = await problemOf(path)
    expect(code).toBe('INVALID_POLICY')
    expect(message).toContain(name)
    expect(message).toMatch(problem)
  })
})

describe('a policy with faults', () => {
  it.each<[string, unknown, string]>([
    ['no default', {}, 'default must be "allow", "ask" or "deny", nothing came'],
    ['a misspelled default', { default: 'Deny' }, 'default must be "allow", "ask" or "deny", "Deny" came'],
    ['no object', [], 'policy must be an object, an array came'],
    ['null', null, 'policy must be an object, null came'],
    ['rules that are none', { default: 'deny', rules: {} }, 'rules must be an array of rules'],
    ['a rule that is none', { default: 'deny', rules: ['x'] }, 'rules[0] must be an object, "x" came'],
    ['an unknown key', { default: 'deny', rule: [] }, 'policy does not know "rule"; it knows rules, default'],
    ['no tool', { default: 'deny', rules: [{ decision: 'deny' }] }, 'rules[0].tool must be a tool name'],
    ['an empty tool', { default: 'deny', rules: [{ tool: '', decision: 'deny' }] }, 'rules[0].tool must be'],
    ['no decision', { default: 'deny', rules: [{ tool: 'x' }] }, 'rules[0].decision must be "allow", "ask" or "deny"'],
    [
      'a key of its own',
      { default: 'deny', rules: [{ tool: 'x', decision: 'deny', args: {} }] },
      'rules[0] does not know "args"',
    ],
    [
      'an empty reason',
      { default: 'deny', rules: [{ tool: 'x', decision: 'deny', reason: ' ' }] },
      'rules[0].reason must be a text',
    ],
    [
      'no conditions',
      { default: 'deny', rules: [{ tool: 'x', decision: 'deny', when: {} }] },
      'rules[0].when must hold conditions',
    ],
    ...(
      [
        ['an empty condition', {}, 'must be an object with equals'],
        ['a bare value', 'x', 'must be an object with equals'],
        ['an unknown operator', { startsWith: 'x' }, '.startsWith is no operator; there are equals, oneOf'],
        ['an inherited operator', { toString: 'x' }, '.toString is no operator'],
        ['a container', { equals: {} }, '.equals must be a text, number, boolean or null'],
        ['an empty list', { oneOf: [] }, '.oneOf must be an array'],
        ['a list of containers', { oneOf: [[]] }, '.oneOf must be an array'],
        ['a broken regex', { matches: '(' }, '.matches is no regular expression in RE2 syntax'],
        ['a look-ahead', { matches: '(?=a)' }, '.matches is no regular expression in RE2 syntax'],
        ['a URL', { under: 'file:///data' }, '.under must be a folder as a path'],
        ['an empty folder', { under: '' }, '.under must be a folder as a path'],
        ['a text to compare', { less: '5' }, '.less must be a number'],
      ] as const
    ).map(([title, condition, problem]): [string, unknown, string] => [
      title,
      { default: 'deny', rules: [{ tool: 'x', decision: 'allow', when: { 'a.b': condition } }] },
      `rules[0].when["a.b"]${problem.startsWith('.') ? '' : ' '}${problem}`,
    ]),
    [
      'a broken path',
      { default: 'deny', rules: [{ tool: 'x', decision: 'deny', when: { 'a..b': { equals: 1 } } }] },
      'breaks at character',
    ],
    ['a function in it', { default: 'deny', rules: [() => true] }, '$.rules[0]'],
  ])('%s is refused with its place', async (_title, definition, problem) => {
    expect((await problemOf(definition)).message).toContain(problem)
  })

  it('tells all of them at once', async () => {
    const { violations } = await problemOf({ rules: [{ tool: 1, decision: 2, when: { a: { b: 1 } } }] })
    expect(violations).toHaveLength(4)
  })

  it('starts no instance', async () => {
    await expect(createPtc({ policy: { default: 'maybe' as 'deny' } })).rejects.toThrow('the policy option')
  })
})

describe('a policy in force', () => {
  const policy: PolicyDefinition = {
    rules: [
      { tool: 'echo', when: { n: { less: 10 } }, decision: 'allow' },
      { tool: 'echo', when: { n: { less: 100 } }, decision: 'ask', reason: 'two digits' },
    ],
    default: 'deny',
  }
  const program = `
    const outcomes = []
    for (const n of [1, 50, 500]) outcomes.push(await tools.echo({ n }).then((value) => value.n, (error) => error.code))
    return outcomes`

  it('decides each call of a program', async () => {
    await withPtc({ tools: [echo], policy, approve: async () => 'allowed-once' }, async (ptc) => {
      expect((await ptc.run(program)).value).toEqual([1, 50, 'POLICY_DENIED'])
    })
    await withPtc({ tools: [echo], policy: await loadPolicy(policy) }, async (ptc) => {
      expect((await ptc.run(program)).value).toEqual([1, 'APPROVAL_UNAVAILABLE', 'POLICY_DENIED'])
    })
  })

  it('cannot be made milder by a listener, only stricter', async () => {
    await withPtc({ tools: [echo], policy, approve: async () => 'rejected' }, async (ptc) => {
      const seen: unknown[] = []
      ptc.tools.on(
        'tools/pre-execute',
        async (exec) => {
          seen.push(exec.arguments)
          return Reflect.get(Object(exec.arguments), 'n') === 1
            ? { kind: 'deny', reason: 'no ones' }
            : { kind: 'allow' }
        },
        { prepend: true },
      )
      expect((await ptc.run(program)).value).toEqual(['TOOL_FAILED', 'APPROVAL_REJECTED', 'POLICY_DENIED'])
      expect(seen).toContainEqual({ n: 50 })
      expect(seen).not.toContainEqual({ n: 500 })
    })
  })

  it('shows the person the reason of the rule', async () => {
    const reasons: unknown[] = []
    const approve = async ({ reason }: { readonly reason?: string }): Promise<'rejected'> => {
      reasons.push(reason)
      return 'rejected'
    }
    await withPtc({ tools: [echo], policy, approve }, (ptc) => ptc.run('return tools.echo({ n: 11 })'))
    expect(reasons).toEqual(['two digits'])
  })
})
