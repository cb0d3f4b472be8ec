import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8')

/** Cells of each row: number, behaviour, where it is shown. */
const rows = page
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()))

/** What a row cites: files, each with the titles that follow it. */
const citations = rows.flatMap(([number = '', behaviour = '', shown = '']) =>
  [...shown.matchAll(/`(test\/[^`]+)` ((?:"[^"]+"(?:, )?)+)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ row: `${number} ${behaviour}`, file, title })),
  ),
)

describe('the conformance page', () => {
  it('has a test for every row', () => {
    const bare = rows.filter((cells) => cells.length !== 3 || !/^`test\/[^`]+` "/.test(cells[2] ?? ''))
    expect(bare).toEqual([])
    expect(rows.length).toBeGreaterThan(250)
  })

  it('cites tests and rows of tables that exist', () => {
    const texts = new Map<string, string>()
    const textOf = (file: string): string => {
      const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8').replaceAll(String.raw`\'`, "'")
      texts.set(file, text)
      return text
    }
    expect(citations.filter(({ file, title }) => !textOf(file).includes(title))).toEqual([])
  })
})
