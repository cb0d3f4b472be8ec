import { describe, expect, it } from 'vitest'
import { ProgramError } from '../../src/errors.ts'
import { guardNesting, MAX_NESTING } from '../../src/program/source-guard.ts'
import { scanSource } from '../../src/program/source-scan.ts'

const OVER = MAX_NESTING + 1

describe('nesting over the limit', () => {
  const units = [
    '(',
    '[',
    '{',
    '`${',
    'f(',
    'a[',
    '[...',
    '{a:',
    'x=>{',
    'function a(){',
    'try{',
    '!',
    '~',
    '- ',
    '+ ',
    'typeof ',
    'void ',
    'await ',
    'new ',
    'delete ',
    'yield ',
    'a?',
    'a?b:',
    'a=',
    'a+=',
    'a=>',
    '(a)=>',
    'async()=>',
    'a**',
    'a:',
    'a ? (b) : ',
    'if(a)',
    'if(a)\n',
    'if(a);else ',
    'if(a){}else ',
    'for(;;)',
    'for await(a of b)',
    'while(a)',
    'do ',
    'with(a)',
    'class a extends ',
    'class a extends class\n',
    'a<',
    'a<b,',
    'type a=keyof ',
    'a={}?',
    'let x:[',
    '/*(*/(',
    '//(\n(',
    '"("+(',
    '`(`+(',
    '/[(]/.a(',
    'a.if(',
  ]

  it.each(units)('is refused: %j', (unit) => {
    expect(() => guardNesting(unit.repeat(OVER))).toThrow(ProgramError)
  })

  it('names the place where it passed the limit', () => {
    const source = `const a = 1;\n${'('.repeat(OVER)}`
    expect(() => guardNesting(source)).toThrow(
      expect.objectContaining({ code: 'SYNTAX_ERROR', position: { line: 2, column: OVER } }),
    )
  })

  it('is refused in brackets that are closed again', () => {
    expect(scanSource('('.repeat(OVER) + ')'.repeat(OVER), MAX_NESTING).tooDeepAt).toBe(MAX_NESTING)
    expect(scanSource('('.repeat(MAX_NESTING) + ')'.repeat(MAX_NESTING), MAX_NESTING).tooDeepAt).toBeUndefined()
  })

  it('adds up over kinds of nesting', () => {
    const each = 'if(a)!b(c=>[d?'
    expect(scanSource(each.repeat(201), MAX_NESTING).tooDeepAt).toBeGreaterThan(0)
    expect(scanSource(each.repeat(100), MAX_NESTING).tooDeepAt).toBeUndefined()
  })
})

describe('an ordinary text', () => {
  const many = 3 * MAX_NESTING
  const texts: [title: string, source: string][] = [
    ['a long list of numbers', `const a = [${'-1, '.repeat(many)}]`],
    ['a long list of objects', `const a = [${'{ a: [1, { b: !c }], d: (e) => f },\n'.repeat(many)}]`],
    ['many arguments', `f(${'!a, b => c, typeof d, '.repeat(many)})`],
    ['statements with semicolons', 'a = b; if (a) c = d; else e = f; for (;;) g = !h; x: y = z;'.repeat(many)],
    [
      'statements without semicolons',
      'a = b\nif (a) c = d\nelse e = f\nconst g = async () => h\nlet i = j ? k : l\n'.repeat(many),
    ],
    [
      'statements that end with a block',
      'if (a) { b = c } for (const a of b) { c = d } function f() { return !a }\n'.repeat(many),
    ],
    ['a chain of blocks', `${'if (a) { b() }\n'.repeat(many)}else { c() }`],
    [
      'an interface without separators',
      `interface A {\n${'  a?: string\n  readonly b: Map<string, number>\n'.repeat(many)}}`,
    ],
    ['a long sum', `a = 1${' + b - -c * !d'.repeat(many)}`],
    ['a long condition', `a = b${' && c || d ?? e'.repeat(many)}`],
    ['comparisons line by line', 'const a = b < c\n'.repeat(many)],
    ['generic calls', 'f<Map<string, Set<number>>>(a);'.repeat(many)],
    ['a long chain of calls', `a${'.b((c) => d)\n  .e[0]?.f'.repeat(many)}`],
    ['a switch of many cases', `switch (a) {\n${'case 1:\n  b = c\n  break\n'.repeat(many)}default:\n}`],
    ['brackets and signs in a string', `a = "${'([{!a?'.repeat(many)}"`],
    ['brackets and signs in a quoted string with escapes', `a = '${"\\'([{!a?".repeat(many)}'`],
    ['brackets and signs in a template', `a = \`${'([{!a?\n'.repeat(many)}\``],
    ['substitutions in a template', `a = \`${'([{${b({ c: "}" })}'.repeat(many)}\``],
    ['brackets and signs in a line comment', `// ${'([{!a?'.repeat(many)}\na = 1`],
    ['brackets and signs in a comment', `/* ${'([{!a?\n'.repeat(many)} */`],
    ['brackets and signs in a regular expression', `a = /[${'([{!?'.repeat(many)}]/g`],
    ['regular expressions in calls', 'a.replace(/[({"`]/g, b); c = d / e / f\n'.repeat(many)],
    ['classes', 'class A extends B { static a = 1; get b() { return !this.a } c = (d: E) => f }\n'.repeat(many)],
  ]

  it.each(texts)('passes: %s', (_title, source) => {
    expect(scanSource(source, MAX_NESTING)).toEqual({})
  })
})

describe('a scan', () => {
  it.each([
    ['}', { strayCloser: 0 }],
    ['a(b))', { strayCloser: 4 }],
    ['(]', { strayCloser: 1, unclosed: 0 }],
    ['a({', { unclosed: 2 }],
    ['`${a', { unclosed: 2 }],
    ['`a', { unclosed: 0 }],
    ['`${`', { unclosed: 3 }],
    ['"a', {}],
    ['/*', {}],
    ['\\', {}],
    ['"\\', {}],
    ['/a\\', {}],
    ['a = {} / 2; b = {}\n/}/.test(c)', {}],
  ])('of %j finds %j', (source, found) => {
    expect(scanSource(source, MAX_NESTING)).toEqual(found)
  })

  it('reads long texts of anything to the end', () => {
    const endless = [
      '/',
      '/a',
      '"',
      '`',
      '/*',
      '\\',
      ';',
      ' ',
      '\n',
      '{}',
      'if(a);\n',
      '"\\\n',
      'a',
      '1',
      '\u2028',
      '\uD800',
    ]
    for (const unit of endless) {
      const source = unit.repeat(500_000 / unit.length)
      expect(scanSource(source, MAX_NESTING).tooDeepAt, unit).toBeUndefined()
    }
    for (const start of ['"', '`', '/', '/[', '//', '/*', '#']) {
      expect(scanSource(start + 'a'.repeat(2_000_000), MAX_NESTING).tooDeepAt, start).toBeUndefined()
    }
  })
})
