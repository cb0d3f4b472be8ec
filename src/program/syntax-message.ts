/** Turns the compiler's complaints about the wrapped text into one error about the program's own text. */
import { ProgramError } from '../errors.ts'
import type { CompilerDiagnostic } from './compiler-process.ts'
import type { SourceScan } from './source-scan.ts'
import { countLines, positionAt, type SourcePosition } from './source-position.ts'

/** What is known about a text that did not compile. */
export interface SyntaxFailure {
  readonly source: string
  readonly scan: SourceScan
  /** Complaints about the wrapped text, at least one. */
  readonly diagnostics: readonly CompilerDiagnostic[]
  /** Lines of the wrapper before the program's first. */
  readonly linesBefore: number
}

/** The first complaint as a ProgramError with the program's own position; the others are counted. */
export function explainSyntax(failure: SyntaxFailure): ProgramError {
  const { diagnostics, source } = failure
  const [first] = diagnostics
  if (first === undefined || first.location === null) {
    return new ProgramError(
      `the compiler failed on this program: ${first?.text ?? 'it gave no reason'}; simplify or split it`,
      'COMPILE_FAILED',
    )
  }
  const { text, position } = describe(first, first.location, failure)
  const others = diagnostics.length - 1
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'error' : 'errors'})`
  const lines = countLines(source)
  const place = position.line > lines ? positionAt(source, source.length) : position
  return new ProgramError(text + more, 'SYNTAX_ERROR', { position: place })
}

/**
 * The refusal of a text whose braces close the function that it is the body of.
 * `diagnostics` are those of another wrapper, in which such a text cannot go on.
 */
export function unbalancedBraces({ source, scan, diagnostics, linesBefore }: SyntaxFailure): ProgramError {
  const advice = 'closes the program itself, what follows stands outside of it; remove it, or add the missing "{"'
  if (scan.strayCloser !== undefined) {
    const position = positionAt(source, scan.strayCloser)
    return new ProgramError(`unbalanced braces: this "}" ${advice}`, 'SYNTAX_ERROR', { position })
  }
  const location = diagnostics[0]?.location
  const options = location ? { position: placeOf(location, linesBefore) } : {}
  return new ProgramError(`unbalanced braces: a "}" before this place ${advice}`, 'SYNTAX_ERROR', options)
}

function describe(
  diagnostic: CompilerDiagnostic,
  location: NonNullable<CompilerDiagnostic['location']>,
  failure: SyntaxFailure,
): { text: string; position: SourcePosition } {
  const { source, scan, linesBefore } = failure
  const position = placeOf(location, linesBefore)
  if (position.line > countLines(source)) return describeAtEnd(diagnostic, failure)
  const before = location.lineText.slice(0, position.column - 1)
  const hint = notAvailable(before, location.lineText.slice(position.column - 1), position.line)
  if (hint !== undefined) return { text: hint, position }
  const stray = scan.strayCloser === undefined ? undefined : positionAt(source, scan.strayCloser)
  const isAfterStray =
    stray !== undefined &&
    (stray.line < position.line || (stray.line === position.line && stray.column < position.column))
  const note = isAfterStray ? `; the bracket at line ${stray.line}, column ${stray.column} closes nothing` : ''
  return { text: diagnostic.text + note, position }
}

/** The complaint is about the wrapper's end: something in the program is unfinished, or closed too often. */
function describeAtEnd(
  diagnostic: CompilerDiagnostic,
  failure: SyntaxFailure,
): { text: string; position: SourcePosition } {
  const { source, scan, linesBefore } = failure
  if (scan.strayCloser !== undefined) {
    const bracket = source[scan.strayCloser] ?? ''
    return {
      text: `this "${bracket}" closes nothing; remove it, or add what it should close`,
      position: positionAt(source, scan.strayCloser),
    }
  }
  if (scan.unclosed !== undefined) {
    const bracket = source[scan.unclosed] ?? ''
    return {
      text: `this "${bracket}" is never closed; the program ends before it`,
      position: positionAt(source, scan.unclosed),
    }
  }
  const start = diagnostic.notes[0]?.location
  if (start) return { text: diagnostic.text, position: placeOf(start, linesBefore) }
  return {
    text: 'the program ends in the middle of a statement; finish it',
    position: positionAt(source, source.trimEnd().length),
  }
}

/** Columns of the compiler count bytes of UTF-8 from 0. */
function placeOf(location: NonNullable<CompilerDiagnostic['location']>, linesBefore: number): SourcePosition {
  const bytes = Buffer.from(location.lineText, 'utf8').subarray(0, location.column)
  return { line: location.line - linesBefore, column: bytes.toString('utf8').length + 1 }
}

/** Module syntax is the usual habit that cannot work here. */
function notAvailable(before: string, at: string, line: number): string | undefined {
  if (/(?:^|[\s;{}])import\s*(?:type\s*)?$/u.test(before.slice(-64))) {
    return `import is not available in a program; tools are in scope as \`tools\`, remove the import at line ${line}`
  }
  if (/^export\b/u.test(at)) {
    return `export is not available in a program; end it with \`return\` and the value, remove the export at line ${line}`
  }
  const namespace = /(?:^|[\s;{}])(namespace|module)\s+$/u.exec(before.slice(-64))?.[1]
  return namespace === undefined ? undefined : `${namespace} is not available in a program; use a const object instead`
}
