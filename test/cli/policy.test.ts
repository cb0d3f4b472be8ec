import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ptc, root } from '../helpers/cli.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-policy-cli-'))
  const rules = [
    { tool: 'read_file', when: { path: { under: '.' } }, decision: 'allow', reason: 'inside' },
    { tool: 'delete_*', decision: 'deny', reason: 'nothing is deleted' },
  ]
  writeFileSync(join(folder, 'policy.json'), JSON.stringify({ rules, default: 'deny' }))
  writeFileSync(join(folder, 'bad.json'), JSON.stringify({ rules }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const policyFile = (name = 'policy.json'): readonly string[] => ['--policy', join(folder, name)]

describe('ptc policy test', () => {
  it.each([
    ['read_file', '{"path":"src/index.ts"}', /^allow {2}by rule 1: inside\n$/],
    [
      'read_file',
      '{"path":"src/../../x"}',
      /^deny {2}by default: .*\n {2}rule 1 does not match: its condition on path/,
    ],
    ['delete_all', '{}', /^deny {2}by rule 2: nothing is deleted\n {2}rule 1 does not match: the tool is not named/],
    ['run_code', '{}', /^allow {2}by default/],
  ])('says which rule decides %s with %s', async (tool, args, expected) => {
    const { code, stdout } = await ptc(['policy', 'test', tool, args, ...policyFile()])
    expect(stdout).toMatch(expected)
    expect(code).toBe(0)
  })

  it('prints the decision as JSON', async () => {
    const { stdout } = await ptc(['policy', 'test', 'other', '--json', ...policyFile()])
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'deny', rule: null, passedOver: [{ rule: 1 }, { rule: 2 }] })
  })

  it.each([
    [['policy', 'test', 'x', '{', '--policy', 'POLICY'], /arguments must be JSON/],
    [['policy', 'test', 'x'], /--policy/],
    [['policy', 'test', 'x', '--policy', 'missing.json'], /missing\.json/],
  ])('%j is refused with what to do', async (args, expected) => {
    const given = args.map((arg) => (arg === 'POLICY' ? join(folder, 'policy.json') : arg))
    const { code, stderr } = await ptc(given)
    expect(stderr).toMatch(expected)
    expect(code).toBe(2)
  })
})

describe('ptc run --policy', () => {
  const run = (program: string, policy: string): ReturnType<typeof ptc> =>
    ptc(
      ['run', '-', '--tools', join(root, 'examples/tools/repository.ts'), '--log', ':memory:', ...policyFile(policy)],
      { input: program },
    )

  it('decides the calls of the program and names rules without tools', async () => {
    const program =
      "return [(await tools.read_file({ path: 'package.json' })).length > 9, await tools.list_files().catch((error) => error.code)]"
    const { stdout, stderr } = await run(program, 'policy.json')
    expect(JSON.parse(stdout)).toEqual([true, 'POLICY_DENIED'])
    expect(stderr).toContain('note: rule 2 of the policy names none of the tools: delete_*')
  })

  it('runs nothing under a policy that has faults', async () => {
    const { code, stdout, stderr } = await run("console.log('ran')", 'bad.json')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/INVALID_POLICY: .*bad\.json is no valid policy: default must be/)
    expect(stderr).not.toContain('ran')
  })
})
