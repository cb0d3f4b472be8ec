import { afterEach, describe, expect, it } from 'vitest'
import { presentToolCall, presentToolResult, type ToolResult } from '../../src/index.ts'

const result: ToolResult = { isError: false, content: [{ type: 'text', text: 'done' }] }
const warnings: string[] = []
const keep = ({ message }: Error): void => void warnings.push(message)
process.on('warning', keep)
afterEach(() => warnings.splice(0))

/** Presenters may be written without types. */
const call = (presentCall: unknown): unknown =>
  presentToolCall({ name: 't', presentCall: presentCall as never }, { a: 1 })
const settled = (presentResult: unknown): unknown =>
  presentToolResult({ name: 't', presentResult: presentResult as never }, { a: 1 }, result)
const warned = async (): Promise<string> => {
  await new Promise((resolve) => setImmediate(resolve))
  return warnings.join('\n')
}

describe('the card of a pending call', () => {
  it.each([
    [{ card: 'generic', title: 'T' }],
    [
      {
        card: 'generic',
        title: 'T',
        kind: 'read',
        rawInput: { a: [1] },
        content: [{ type: 'text', text: 'x' }],
        locations: [{ path: 'a', line: 3 }],
      },
    ],
    [{ card: 'terminal', title: 'ls', description: 'lists', cwd: '/' }],
    [{ card: 'diff', title: 'T', diffs: [{ path: 'a', oldText: null, newText: 'x' }], locations: [{ path: 'a' }] }],
    [{ card: 'diff', title: 'T', diffs: [], more: 'fields are for other readers' }],
  ])('is the one of the tool: %j', (view) => {
    expect(call(() => view)).toEqual(view)
  })

  it.each([
    ['nothing', () => undefined, ''],
    [
      'a title that is none',
      () => ({ card: 'generic', title: 5 }),
      'presentCall of tool "t" failed: "view.title" must be a string',
    ],
    ['no title', () => ({ card: 'terminal' }), 'missing required property "view.title"'],
    [
      'a card of a settled call',
      () => ({ card: 'read', title: 'T' }),
      'there is no card "read"; there are generic, terminal, diff',
    ],
    ['an unknown kind', () => ({ card: 'generic', title: 'T', kind: 'guess' }), '"view.kind" must be one of'],
    ['a card that is none', () => ({ card: 'toString' }), 'there is no card "toString"'],
    ['a text', () => 'T', 'there is no card "undefined"'],
    ['null', () => null, 'there is no card'],
    ['what is not JSON', () => ({ card: 'generic', title: 'T', rawInput: () => 1 }), '$.rawInput'],
    ['a promise', async () => ({ card: 'generic', title: 'T' }), 'presentCall of tool "t" failed'],
    ['a rejection', async () => Promise.reject(new Error('late')), 'presentCall of tool "t" failed'],
    [
      'a throw',
      () => {
        throw new Error('on purpose')
      },
      'presentCall of tool "t" failed: on purpose',
    ],
  ])('is a generic one where the tool gives %s, and that is told', async (_title, presenter, warning) => {
    expect(call(presenter)).toEqual({ card: 'generic', title: 't', rawInput: { a: 1 } })
    expect(await warned()).toContain(warning)
  })

  it('is a generic one for a tool without presenters', () => {
    expect(presentToolCall({ name: 't' }, [1])).toEqual({ card: 'generic', title: 't', rawInput: [1] })
    expect(presentToolResult({ name: 't' }, [1], result)).toEqual({ card: 'generic', content: result.content })
  })

  it('is a copy that later changes do not reach', () => {
    const view = { card: 'generic', title: 'T' }
    const card = call(() => view)
    view.title = 'changed'
    expect(card).toEqual({ card: 'generic', title: 'T' })
  })
})

describe('the card of a settled call', () => {
  const found = { truncated: false, total: 1 }
  it.each([
    [{ card: 'generic' }],
    [{ card: 'terminal', output: 'x', exitCode: 0 }],
    [{ card: 'terminal', signal: 'SIGKILL' }],
    [{ card: 'diff', diffs: [{ path: 'a', oldText: 'x', newText: 'y' }] }],
    [{ card: 'search', shape: 'matches', ...found, files: [{ path: 'a', matches: [{ number: 1, text: 'x' }] }] }],
    [{ card: 'search', shape: 'paths', ...found, paths: ['a'] }],
    [{ card: 'read', path: 'a', offset: 1, lines: [], totalLines: 0 }],
    [
      {
        card: 'web',
        kind: 'search',
        sources: [{ title: 'T', url: 'https://example.org' }],
        answer: 'x',
        truncated: true,
      },
    ],
    [{ card: 'web', kind: 'fetch', url: 'https://example.org', statusCode: 200 }],
  ])('is the one of the tool: %j', (view) => {
    expect(settled(() => view)).toEqual(view)
  })

  it.each([
    [{ card: 'search', ...found, paths: [] }, 'there is no card "search undefined"'],
    [{ card: 'search', shape: 'paths', paths: [] }, 'missing required property "view.truncated"'],
    [{ card: 'web', kind: 'fetch', url: 'x', statusCode: '200' }, '"view.statusCode" must be an integer'],
    [{ card: 'diff', diffs: [{ path: 'a', newText: 'y' }] }, 'missing required property "view.diffs[0].oldText"'],
    [
      { card: 'read', path: 'a', offset: 1, lines: [{ number: 1.5, text: '' }], totalLines: 1 },
      '"view.lines[0].number" must be an integer',
    ],
  ])('is a generic one for %j, and that is told', async (view, warning) => {
    expect(settled(() => view)).toEqual({ card: 'generic', content: result.content })
    expect(await warned()).toContain(`presentResult of tool "t" failed: ${warning}`)
  })
})
