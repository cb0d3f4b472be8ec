/** Refuses, before the compiler reads it, a text that is too large or nested too deep for it. */
import { ProgramError } from '../errors.ts'
import { positionAt } from './source-position.ts'
import { scanSource, type SourceScan } from './source-scan.ts'

/** Deepest accepted nesting, brackets and unfinished operators together. */
export const MAX_NESTING = 1_000

/**
 * Checks what a text is made of.
 * @throws ProgramError `SOURCE_TOO_LARGE` above `maxSourceBytes` of UTF-8, `SYNTAX_ERROR` for half a surrogate pair.
 */
export function guardText(source: string, maxSourceBytes: number): void {
  // Each code unit takes at least one byte, so an endless text is not measured.
  const isHuge = source.length > maxSourceBytes
  const bytes = isHuge ? source.length : Buffer.byteLength(source, 'utf8')
  if (bytes > maxSourceBytes) {
    throw new ProgramError(
      `a program may have ${maxSourceBytes} bytes of UTF-8, this one has ${isHuge ? 'at least ' : ''}${bytes}; ` +
        'let a tool read large data, or split the program',
      'SOURCE_TOO_LARGE',
    )
  }
  refuseLoneSurrogates(source)
}

/**
 * Checks the nesting of a text in linear time.
 * @returns what the scan learned about its brackets.
 * @throws ProgramError `SYNTAX_ERROR` with the position where nesting passes MAX_NESTING.
 */
export function guardNesting(source: string): SourceScan {
  const scan = scanSource(source, MAX_NESTING)
  if (scan.tooDeepAt === undefined) return scan
  throw new ProgramError(
    `the program nests deeper than ${MAX_NESTING} brackets and unfinished operators here; use a loop, or data in place of code`,
    'SYNTAX_ERROR',
    { position: positionAt(source, scan.tooDeepAt) },
  )
}

/** UTF-8 cannot carry half a pair: the compiler would silently get another character. */
function refuseLoneSurrogates(source: string): void {
  if (source.isWellFormed()) return
  const at = source.search(/\p{Surrogate}/u)
  const unit = source.charCodeAt(at).toString(16).toUpperCase()
  throw new ProgramError(
    `the program holds half of a surrogate pair here; write it as the escape \\u${unit}`,
    'SYNTAX_ERROR',
    { position: positionAt(source, at) },
  )
}
