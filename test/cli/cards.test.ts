import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineTool, type ToolCallView, type ToolDefinition, type ToolResultView } from '../../src/index.ts'
import { ptc } from '../helpers/cli.ts'
import { withPtc } from '../helpers/ptc.ts'

const presenting = (name: string, call?: ToolCallView, result?: ToolResultView): ToolDefinition =>
  defineTool({
    name,
    description: 'A tool.',
    parameters: {},
    ...(call === undefined ? {} : { presentCall: () => call }),
    ...(result === undefined ? {} : { presentResult: () => result }),
    execute: () => 'content',
  })

const terminal = presenting(
  'shell',
  { card: 'terminal', title: 'make test', description: 'tests', cwd: '/app' },
  { card: 'terminal', output: 'one\n\u001b[31mtwo\u202e\n', exitCode: 2 },
)
const edit = presenting(
  'edit',
  { card: 'diff', title: 'Edit a.ts', diffs: [] },
  {
    card: 'diff',
    diffs: [
      { path: 'a.ts', oldText: 'one\ntwo\nthree\nfour\n', newText: 'one\ntwo\nTHREE\nfour\n' },
      { path: 'b.ts', oldText: null, newText: 'new\n' },
    ],
  },
)
const grep = presenting(
  'grep',
  { card: 'generic', title: 'Search x', kind: 'search', rawInput: { x: 1 } },
  {
    card: 'search',
    shape: 'matches',
    truncated: true,
    total: 40,
    files: [{ path: 'a.ts', matches: [{ number: 7, text: 'x = 1' }] }],
  },
)
const glob = presenting('glob', undefined, {
  card: 'search',
  shape: 'paths',
  title: 'Files',
  truncated: false,
  total: 1,
  paths: ['src/a.ts'],
})
const read = presenting('read', undefined, {
  card: 'read',
  title: 'Read a.ts',
  path: 'a.ts',
  offset: 9,
  lines: [
    { number: 9, text: 'nine' },
    { number: 10, text: 'ten' },
  ],
  totalLines: 20,
  lang: 'ts',
})
const web = presenting('web', undefined, {
  card: 'web',
  kind: 'fetch',
  title: 'Fetch',
  url: 'https://example.org',
  statusCode: 404,
})
const find = presenting('find', undefined, {
  card: 'web',
  kind: 'search',
  title: 'Find',
  sources: [{ title: 'Example', url: 'https://example.org' }],
  answer: 'yes',
  truncated: true,
})
const plain = presenting('plain')
const broken = {
  ...presenting('broken'),
  presentCall: () => {
    throw new Error('on purpose')
  },
}

let folder = ''
let shown = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-cards-'))
  const log = join(folder, 'log.db')
  const tools = [terminal, edit, grep, glob, read, web, find, plain, broken]
  await withPtc({ tools, log }, async (ptc) => {
    const outcome = await ptc.run(tools.map(({ name }) => `await tools.${name}({ of: '${name}' })`).join('\n'))
    expect(outcome.ok).toBe(true)
  })
  shown = (await ptc(['log', 'show', 'last', '--log', log])).stdout
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('ptc log show', () => {
  it.each([
    ['terminal', ['#1 $ make test  tests, in /app', '    one', '    \\u001b[31mtwo\\u202e', '    exit 2']],
    [
      'diff',
      [
        '#2 Edit a.ts',
        '    a.ts',
        '      one',
        '      two',
        '    - three',
        '    + THREE',
        '      four',
        '    b.ts  new file',
        '    + new',
      ],
    ],
    [
      'search by matches',
      ['#3 Search x (search) {"x":1}', '    a.ts', '    7  x = 1', '    40 in all, not all of them shown'],
    ],
    ['search by paths', ['#4 Files', '    src/a.ts', '    1 in all']],
    ['read', ['#5 Read a.ts', '    a.ts  lines 9-10 of 20, ts', '     9  nine', '    10  ten']],
    ['web fetch', ['#6 Fetch', '    https://example.org  404']],
    ['web search', ['#7 Find', '    yes', '    Example  https://example.org', '    not all of it shown']],
    ['generic, of a tool without presenters,', ['#8 plain {"of":"plain"}', '    content']],
    ['generic, of a tool whose presenter throws,', ['#9 broken {"of":"broken"}', '    content']],
  ])('draws the %s card', (_card, lines) => {
    expect(shown).toContain(`\n  ${lines.join('\n')}\n`)
  })

  it('keeps the cards in what it prints as JSON', async () => {
    const { stdout } = await ptc(['log', 'show', 'last', '--json', '--log', join(folder, 'log.db')])
    const cards: unknown[] = JSON.parse(stdout).calls.map(({ cards }: { cards?: unknown }) => cards)
    expect(cards[3]).toMatchObject({ result: { card: 'search', shape: 'paths' } })
    expect(cards.slice(7)).toEqual([undefined, undefined])
  })
})
