import { afterAll, describe, expect, it } from 'vitest'
import { ProgramError } from '../../src/errors.ts'
import { type CompiledProgram, compileProgram } from '../../src/program/compile.ts'
import { stopCompiler } from '../../src/program/compiler-service.ts'
import { positionFromStack } from '../../src/program/source-position.ts'

const LIMITS = { maxSourceBytes: 128 * 1024 }
type AsyncBody = (tools: unknown) => Promise<unknown>
/** The engine's own constructor, used the way the sandbox uses it. */
const AsyncFunction: new (...texts: string[]) => AsyncBody = Object.getPrototypeOf(async () => {}).constructor

const tools = {
  add: async ({ a, b }: { a: number; b: number }): Promise<number> => a + b,
  import: async (): Promise<string> => 'imported',
}

/** The sandbox puts one line before the program; the engine puts two. */
const LINES_BEFORE = 3

async function execute(source: string): Promise<unknown> {
  return await start(await compileProgram(source, LIMITS))
}

async function start(program: CompiledProgram): Promise<unknown> {
  const body = new AsyncFunction('tools', `"use strict";\n${program.code}\n//# sourceURL=${program.filename}`)
  return await body(tools)
}

async function refusal(source: string, options: { maxSourceBytes: number } = LIMITS): Promise<ProgramError> {
  const outcome = await compileProgram(source, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (outcome instanceof ProgramError) return outcome
  throw new Error(`a ProgramError was expected, ${String(outcome)} came`)
}

afterAll(stopCompiler)

describe('a compiled program', () => {
  const programs: [title: string, source: string, value: unknown][] = [
    ['an empty text', '', undefined],
    ['blank lines and a comment', '\n\n  // nothing\n', undefined],
    ['a return', 'return 1 + 1', 2],
    ['a return with a trailing comment', 'return 1 // done', 1],
    ['a return with a comment without an end of line after code', 'const a = 1; return a /* x */', 1],
    ['top-level await', 'return await tools.add({ a: 1, b: 2 })', 3],
    ['a tool named like a keyword', 'return await tools.import()', 'imported'],
    ['a program that returns nothing', 'await tools.add({ a: 1, b: 2 })', undefined],
    ['a directive', '"use strict"\nreturn typeof this', 'undefined'],
    ['types on everything', 'const a: number = 1; function f<T>(x: T): T { return x }; return f<number>(a)', 1],
    [
      'an interface and a type alias',
      'interface A { x: number }\ntype B = A | undefined\nconst b: B = { x: 4 }; return b?.x',
      4,
    ],
    ['an enum', 'enum Color { Red, Green = 5, Blue }; return [Color.Blue, Color[5]]', [6, 'Green']],
    ['a string enum', 'enum E { A = "x" }; return E.A', 'x'],
    ['a const enum', 'const enum E { A = 1 << 3 }; return E.A', 8],
    ['satisfies', 'return ({ a: 1 } satisfies Record<string, number>).a', 1],
    ['as const', 'return [1, 2] as const', [1, 2]],
    ['a chain of assertions', 'return ("5" as unknown as number)', '5'],
    ['non-null assertions', 'const a: { b?: string } = { b: "x" }; return a.b!.length', 1],
    ['a generic arrow in the style of files with markup', 'const id = <T,>(x: T) => x; return id(7)', 7],
    ['a generic arrow with a constraint', 'const f = <T extends object>(x: T) => x; return f([1])', [1]],
    ['a type assertion in angle brackets', 'return <number>3', 3],
    [
      'overloads',
      'function f(a: string): string\nfunction f(a: number): number\nfunction f(a: any) { return a }\nreturn f(1)',
      1,
    ],
    ['a this parameter', 'function f(this: { v: number }) { return this.v }; return f.call({ v: 2 })', 2],
    [
      'parameter properties',
      'class P { constructor(private a: number, public b = 2) {} sum() { return this.a + this.b } }; return new P(1).sum()',
      3,
    ],
    [
      'private members and a static block',
      'class P { static n = 0; #x = 1; static { P.n = 5 } get x() { return this.#x } }; return [P.n, new P().x]',
      [5, 1],
    ],
    ['an accessor field', 'class P { accessor x = 3 }; return new P().x', 3],
    [
      'an abstract class',
      'abstract class A { abstract f(): number; g() { return this.f() } }\nclass B extends A { override f() { return 9 } }; return new B().g()',
      9,
    ],
    [
      'fields that are defined, not assigned',
      'class A { set x(v: number) { throw new Error("set") } }; class B extends A { x = 1 }; return new B().x',
      1,
    ],
    [
      'a decorator on a class and a method',
      'const log: string[] = []; const d = (v: any, c: any) => { log.push(c.kind); return v }\n@d class A { @d f() { return 1 } }\nreturn [new A().f(), log]',
      [1, ['method', 'class']],
    ],
    [
      'using',
      'const log: string[] = []; { using r = { [Symbol.dispose]() { log.push("end") } }; log.push("in") } return log',
      ['in', 'end'],
    ],
    [
      'await using',
      'const log: string[] = []; { await using r = { async [Symbol.asyncDispose]() { log.push("end") } } } return log',
      ['end'],
    ],
    [
      'optional chaining and nullish operators',
      'const o: any = null; let n; n ??= 4; return [o?.a?.[0]?.(), o ?? 1, n]',
      [undefined, 1, 4],
    ],
    ['logical assignment', 'let a = 0, b = 1; a ||= 5; b &&= 6; return [a, b]', [5, 6]],
    ['exponents and separators', 'return 2 ** 3 ** 2 + 1_000', 1512],
    ['a bigint', 'return 2n ** 64n', 2n ** 64n],
    ['a regular expression with braces', 'return "a{2}}".replace(/[{}\\/]|\\}/g, "")', 'a2'],
    [
      'a regular expression after a bracket',
      'if (true) /}/.test("}") ; return /\\{(\\d+)\\}/v.exec("{12}")?.[1]',
      '12',
    ],
    ['divisions that look like one', 'const a = 8, g = 2; return a / 2 / g', 2],
    ['nested templates', 'const x = [1, 2]; return `a${`b${x.map((y) => `<${y}>`).join("}")}`}`', 'ab<1>}<2>'],
    [
      'a template with lines at the left margin',
      'return `\n}\nevil()\nasync function x() {\n`',
      '\n}\nevil()\nasync function x() {\n',
    ],
    ['a tagged template', 'const raw = (s: TemplateStringsArray) => s.raw[0]; return raw`\\n}`', '\\n}'],
    ['strings with brackets', 'return ["}", \'{\', "\\"}", `{`].join("")', '}{"}{'],
    ['a line continuation', 'return "a\\\nb"', 'ab'],
    ['a generator', 'function* g() { yield 1; yield* [2, 3] }; return [...g()]', [1, 2, 3]],
    [
      'an async generator and for await',
      'async function* g() { yield 1; yield 2 }\nlet sum = 0; for await (const x of g()) sum += x; return sum',
      3,
    ],
    ['parallel calls', 'return await Promise.all([1, 2, 3].map((a) => tools.add({ a, b: 1 })))', [2, 3, 4]],
    [
      'labels',
      'outer: for (const a of [1, 2]) { for (const b of [1, 2]) { if (b === 2) continue outer; if (a === 2) break outer } } return "ok"',
      'ok',
    ],
    [
      'a switch with blocks',
      'switch (3 as number) { case 1: return 1; case 3: { return "three" } default: return 0 }',
      'three',
    ],
    [
      'try, catch without a binding, finally',
      'const log = []; try { throw 1 } catch { log.push("c") } finally { log.push("f") } return log',
      ['c', 'f'],
    ],
    [
      'destructuring with defaults',
      'const { a: { b = 2 } = {}, ...rest } = { c: 3 } as any; const [x, , ...y] = [1, 2, 3]; return [b, rest, x, y]',
      [2, { c: 3 }, 1, [3]],
    ],
    [
      'getters, setters and computed keys',
      'const k = "z"; const o = { get [k]() { return 1 }, async *g() {}, ["a" + k]: 2 }; return [o.z, o.az]',
      [1, 2],
    ],
    ['duplicate functions, the last wins', 'function f() { return 1 } function f() { return 2 } return f()', 2],
    [
      'hoisted functions and vars',
      'const r = f(); var f2 = 1; function f() { return typeof f2 } return r',
      'undefined',
    ],
    [
      'a local with the name of a helper',
      'const __name = 1, __ptc_program = 2; @((x: any) => x) class A {} ; return [__name, __ptc_program, typeof A]',
      [1, 2, 'function'],
    ],
    ['lines without semicolons', 'let a = 1\nlet b = a\n++b\nconst f = function () { return b }\nreturn f()', 2],
    [
      'types only',
      'declare const x: number\ntype A<T> = T extends (infer U)[] ? U : never\ninterface B { (): void; new (): B; readonly [k: string]: unknown }',
      undefined,
    ],
    [
      'mapped and template types',
      'type M<T> = { readonly [K in keyof T as `get${string & K}`]-?: () => T[K] }; const m: M<{ a: 1 }> = { geta: () => 1 }; return m.geta()',
      1,
    ],
    [
      'type predicates and asserts',
      'function is(x: unknown): x is string { return true }; function must(x: unknown): asserts x {} ; must(1); return is("a")',
      true,
    ],
    [
      'a generic call with a comparison beside it',
      'const f = <T,>(x: T) => x; const a = 1, b = 2; return [f<number>(1), a < b, b > a]',
      [1, true, true],
    ],
    ['carriage returns', 'const a = 1\r\nconst b = 2\r\nreturn a + b\r\n', 3],
    ['a byte order mark', '\uFEFFreturn 5', 5],
    ['a line separator in a string', 'return "a\u2028b".length', 3],
    ['a paragraph separator between statements', 'const a = 1\u2029return a', 1],
    ['text outside of ASCII', 'const größe = "😀é"; return größe', '😀é'],
    ['a comment with a closing brace', '/*! } keep */ // }\nreturn 1 /* } */', 1],
    ['an async arrow that is called', 'return await (async () => { return await Promise.resolve(1) })()', 1],
    [
      'dynamic names',
      'const o: any = { __proto__: { inherited: 1 }, ["__proto__"]: 2 }; return Object.keys(o)',
      ['__proto__'],
    ],
  ]

  it.each(programs)('runs %s', async (_title, source, value) => {
    expect(await execute(source)).toEqual(value)
  })

  it('is frozen, keeps its source and carries the file name of its frames', async () => {
    const program = await compileProgram('return 1', LIMITS)
    expect(program).toMatchObject({ code: '  return 1;\n', filename: 'program.ts', source: 'return 1' })
    expect(Object.isFrozen(program)).toBe(true)
  })

  it('is answered from the cache when the text is the same', async () => {
    const first = await compileProgram('return "cached"', LIMITS)
    expect(await compileProgram('return "cached"', LIMITS)).toBe(first)
    expect((await refusal('return "cached"', { maxSourceBytes: 4 })).code).toBe('SOURCE_TOO_LARGE')
  })
})

describe('locate', () => {
  const throwers: [title: string, source: string, line: number, column: number][] = [
    ['the first line', 'throw new Error("x")', 1, 7],
    ['a later line', 'const a = 1\n\n\n  throw new Error("x")', 4, 9],
    ['a line after types that vanish', 'interface A {\n  x: number\n}\ntype B = A\nthrow new Error("x")', 5, 7],
    ['a line after an enum', 'enum E {\n  A,\n  B,\n}\nthrow new Error(String(E.A))', 5, 7],
    ['a line after a template of many lines', 'const t = `\n\n}\n`\nthrow new Error(t)', 5, 7],
    ['a line that starts with a tab', 'if (true) {\n\tthrow new Error("x")\n}', 2, 8],
    ['a line after carriage returns', 'const a = 1\r\n\r\nthrow new Error("x")', 3, 7],
    ['a line after a line separator', 'const a = "\u2028"\u2028throw new Error("x")', 3, 7],
    ['a column after characters outside of the basic plane', 'const s = "😀"; throw new Error(s)', 1, 23],
    ['a nested function', 'function f(): never {\n  throw new Error("x")\n}\nf()', 2, 9],
    ['a program with a decorator', '@((x: any) => x) class A {}\nthrow new Error("x")', 2, 7],
    ['a missing function', 'const a: any = {}\na.b.c()', 2, 5],
  ]

  it.each(throwers)('finds %s', async (...[, source, line, column]) => {
    const program = await compileProgram(source, LIMITS)
    const thrown = await start(program).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!(thrown instanceof Error)) throw new Error('the program did not throw')
    const inCode = positionFromStack(thrown.stack ?? '', program.filename)
    if (inCode === undefined) throw new Error(`no frame in ${thrown.stack}`)
    expect(program.locate({ line: inCode.line - LINES_BEFORE, column: inCode.column })).toEqual({ line, column })
  })

  it.each([
    { line: 0, column: 1 },
    { line: -1, column: 1 },
    { line: 1, column: 0 },
    { line: Number.NaN, column: 1 },
    { line: 1, column: Number.NaN },
    { line: 2, column: 1 },
    { line: 1e9, column: 1 },
    { line: Infinity, column: 1 },
  ])('knows nothing about $line:$column of a program of one line', async (position) => {
    expect((await compileProgram('return 1', LIMITS)).locate(position)).toBeUndefined()
  })
})

describe('a syntax error', () => {
  const errors: [title: string, source: string, line: number, column: number, message: string][] = [
    ['on the first line', 'const = 1', 1, 7, 'Expected identifier but found "="'],
    ['on line 3 of 4', 'const a = 1\nconst b = 2\nconst c = = 3\nreturn c', 3, 11, 'Unexpected "="'],
    ['after tabs', '\t\ta b', 1, 5, 'Expected ";" but found "b"'],
    ['after carriage returns', 'let a\r\nlet b\r\na b', 3, 3, 'Expected ";" but found "b"'],
    ['after a lone carriage return', 'let a\rlet b\ra b', 3, 3, 'Expected ";" but found "b"'],
    ['after a line separator', 'let a\u2028a b', 2, 3, 'Expected ";" but found "b"'],
    ['after characters outside of ASCII', 'é; "😀"; a b', 1, 12, 'Expected ";" but found "b"'],
    ['a wrong closing bracket', 'foo(]', 1, 5, 'Unexpected "]"'],
    ['an open brace', 'const a = 1\nif (a) {\n  a', 2, 8, 'this "{" is never closed; the program ends before it'],
    ['an open bracket', 'const a = [1,\n', 1, 11, 'this "[" is never closed; the program ends before it'],
    ['an open template', 'const a = 1\nreturn `x', 2, 8, 'this "`" is never closed; the program ends before it'],
    ['an open string', 'return "x', 1, 10, 'Unterminated string literal'],
    ['an open comment', 'return 1\n /* x', 2, 2, 'Expected "*/" to terminate multi-line comment'],
    ['an unfinished statement', 'const a =  \n\n', 1, 10, 'the program ends in the middle of a statement; finish it'],
    ['a lone closing brace', 'return 1\n}', 2, 1, 'this "}" closes nothing; remove it, or add what it should close'],
    ['two closing braces', 'return 1\n}}', 2, 2, 'Unexpected "}"; the bracket at line 2, column 1 closes nothing'],
    [
      'a way out of the wrapper',
      '} evil(); async function x() {',
      1,
      1,
      'unbalanced braces: this "}" closes the program itself, what follows stands outside of it; remove it, or add the missing "{"',
    ],
    [
      'a way out that leaves only types',
      'return 1\n} interface X {',
      2,
      1,
      'unbalanced braces: this "}" closes the program itself, what follows stands outside of it; remove it, or add the missing "{"',
    ],
    [
      'a way out that the scan takes for a regular expression',
      'let x = {} / 2 } evil(); async function y() { let x = {} / 1',
      1,
      18,
      'unbalanced braces: a "}" before this place closes the program itself, what follows stands outside of it; remove it, or add the missing "{"',
    ],
    ['a way out of a method', '}, evil() {', 1, 2, 'Unexpected ","; the bracket at line 1, column 1 closes nothing'],
    [
      'an import',
      'const a = 1\nimport fs from "node:fs"',
      2,
      8,
      'import is not available in a program; tools are in scope as `tools`, remove the import at line 2',
    ],
    ['an import of names', 'import { a } from "b"', 1, 8, 'import is not available'],
    ['an import of types', 'import type { A } from "b"', 1, 8, 'import is not available'],
    ['an import of a namespace', 'import * as a from "b"', 1, 8, 'import is not available'],
    ['an import for its effect', 'import "b"', 1, 8, 'import is not available'],
    [
      'an export',
      'export const a = 1',
      1,
      1,
      'export is not available in a program; end it with `return` and the value, remove the export at line 1',
    ],
    ['a default export', '\n  export default 1', 2, 3, 'export is not available'],
    [
      'a namespace',
      'namespace N { export const a = 1 }',
      1,
      11,
      'namespace is not available in a program; use a const object instead',
    ],
    [
      'await in a plain function',
      'function f() {\n  await 1\n}',
      2,
      3,
      '"await" can only be used inside an "async" function',
    ],
    ['a name declared twice', 'const a = 1\nconst a = 2', 2, 7, 'The symbol "a" has already been declared'],
    [
      'several errors',
      'let a; let a; let a; let a',
      1,
      12,
      'The symbol "a" has already been declared (and 2 more errors)',
    ],
    ['sloppy code', 'with ({}) {}', 1, 1, 'With statements cannot be used in strict mode'],
    ['an octal literal', 'return 010', 1, 8, 'Legacy octal literals cannot be used in strict mode'],
    [
      'half of a surrogate pair',
      'const a = 1\nreturn "\uD83D"',
      2,
      9,
      'the program holds half of a surrogate pair here; write it as the escape \\uD83D',
    ],
  ]

  it.each(errors)('is placed: %s', async (...[, source, line, column, message]) => {
    const error = await refusal(source)
    expect({ code: error.code, ...error.position }).toEqual({ code: 'SYNTAX_ERROR', line, column })
    expect(error.message).toContain(message)
  })

  it('never lets a text out of the wrapper, whatever closes it', async () => {
    const ways = [
      '}\nevil()\nasync function x() {',
      '} async function __ptc_program() {',
      '}, async __ptc_program() {',
      '}\n} {\n{',
      '}/*\n*/evil();{',
      '} class X { static {',
      '} import x from "y"; async function z() {',
      '} export const a = 1; async function z() {',
      '} enum E {',
      '} declare global {',
      '} type T = {',
      '} abstract class A {',
      '`${`}`}`\n} async function x() { `',
      '} }); ({ async x() {',
      'let x = {} / 2 } evil(); async function y() { let x = {} / 1',
    ]
    for (const source of ways) expect((await refusal(source)).code, source).toBe('SYNTAX_ERROR')
  })
})

describe('limits of a source', () => {
  it('counts bytes of UTF-8, and the limit itself is allowed', async () => {
    expect(await compileProgram('"é"', { maxSourceBytes: 4 })).toMatchObject({ source: '"é"' })
    expect(await refusal('"éé"', { maxSourceBytes: 5 })).toMatchObject({
      code: 'SOURCE_TOO_LARGE',
      message: 'a program may have 5 bytes of UTF-8, this one has 6; let a tool read large data, or split the program',
    })
    expect((await refusal('x'.repeat(200), { maxSourceBytes: 5 })).message).toContain('at least 200')
  })

  it('lets a caller that aborts go with its own reason', async () => {
    const reason = new Error('the user went away')
    await expect(compileProgram('return 41', { ...LIMITS, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const compiling = compileProgram('return 42', { ...LIMITS, signal: controller.signal })
    controller.abort(reason)
    await expect(compiling).rejects.toBe(reason)
  })
})
