import { describe, expect, it } from 'vitest'
import { codeFrame, countLines, positionAt, positionFromStack } from '../../src/program/source-position.ts'

describe('positionAt', () => {
  it.each([
    ['', 0, { line: 1, column: 1 }],
    ['ab', 1, { line: 1, column: 2 }],
    ['ab', 99, { line: 1, column: 3 }],
    ['a\nb', 1, { line: 1, column: 2 }],
    ['a\nb', 2, { line: 2, column: 1 }],
    ['a\r\nb', 3, { line: 2, column: 1 }],
    ['a\rb', 2, { line: 2, column: 1 }],
    ['a\u2028b\u2029c', 4, { line: 3, column: 1 }],
    ['\t\tx', 2, { line: 1, column: 3 }],
    ['😀x', 2, { line: 1, column: 3 }],
  ])('in %j at %i is %j', (source, offset, position) => {
    expect(positionAt(source, offset)).toEqual(position)
  })
})

describe('countLines', () => {
  it.each([
    ['', 1],
    ['a', 1],
    ['a\n', 2],
    ['a\r\nb\rc\u2028d\u2029e', 5],
  ])('of %j is %i', (source, lines) => {
    expect(countLines(source)).toBe(lines)
  })
})

describe('codeFrame', () => {
  it('shows two lines before and after, numbered, and a caret below the column', () => {
    const source = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n')
    expect(codeFrame(source, { line: 9, column: 6 })).toBe(
      ['   7 | line 7', '   8 | line 8', '>  9 | line 9', '     |      ^', '  10 | line 10', '  11 | line 11'].join(
        '\n',
      ),
    )
  })

  it.each([
    ['the first line', 'a\r\nb', { line: 1, column: 1 }, '> 1 | a\n    | ^\n  2 | b'],
    ['the last line', 'a\nb', { line: 2, column: 2 }, '  1 | a\n> 2 | b\n    |  ^'],
    ['a column past the end', 'ab', { line: 1, column: 99 }, '> 1 | ab\n    |   ^'],
    ['a column before the start', 'ab', { line: 1, column: -4 }, '> 1 | ab\n    | ^'],
    ['a line that is not there', 'ab', { line: 7, column: 1 }, ''],
    ['a line before the first', 'ab', { line: 0, column: 1 }, ''],
    ['an empty line', 'a\n\nb', { line: 2, column: 1 }, '  1 | a\n> 2 |\n    | ^\n  3 | b'],
    ['tabs as one blank', '\t\tx', { line: 1, column: 3 }, '> 1 |   x\n    |   ^'],
    ['control characters', 'a\u001b[31mb', { line: 1, column: 7 }, '> 1 | a\\u{1b}[31mb\n    |            ^'],
    ['direction marks', '\u202ea', { line: 1, column: 2 }, '> 1 | \\u{202e}a\n    |         ^'],
  ])('shows %s', (...[, source, position, frame]) => {
    expect(codeFrame(source, position)).toBe(frame)
  })

  it('cuts long lines around the column', () => {
    const source = `${'a'.repeat(5_000)}X${'b'.repeat(5_000)}`
    const [line = '', caret = ''] = codeFrame(source, { line: 1, column: 5_001 }).split('\n')
    expect(line).toBe(`> 1 | …${'a'.repeat(60)}X${'b'.repeat(59)}…`)
    expect(caret.indexOf('^')).toBe(line.indexOf('X'))
  })
})

describe('positionFromStack', () => {
  it.each([
    ['Error: x\n    at f (program.ts:4:7)\n    at program.ts:9:1', { line: 4, column: 7 }],
    ['Error: x\n    at async program.ts:9:1', { line: 9, column: 1 }],
    ['Error: at (program.ts:1:1)\n    at Array.map (<anonymous>)\n    at program.ts:2:3', { line: 2, column: 3 }],
    ['    at eval (other-program.ts:1:1)', undefined],
    ['    at f (program.ts:0:0)\n    at g (program.ts:1:x)', undefined],
    ['    at f (program.ts:123456789:1)', undefined],
    ['program.ts:1:1', undefined],
    ['', undefined],
  ])('of %j is %j', (stack, position) => {
    expect(positionFromStack(stack, 'program.ts')).toEqual(position)
  })

  it('reads hostile texts without getting lost', () => {
    for (const unit of [
      'program.ts:',
      'program.ts:1:',
      '(program.ts:1:1',
      ' at \n',
      'at ',
      ' '.repeat(100) + 'program.ts:1:1',
    ]) {
      expect(positionFromStack(unit.repeat(1_000_000 / unit.length), 'program.ts'), unit).toBeUndefined()
    }
  })
})
