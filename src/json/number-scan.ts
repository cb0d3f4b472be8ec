/** Finds the number tokens of a JSON text that a double would not hold, in linear time. */
import { JsonValueError } from '../errors.ts'
import { MAX_NUMBER_CHARACTERS, numberFromToken } from './number.ts'

/** Fifteen digits always survive a double; longer ones and exponents have to be looked at. */
const SUSPICIOUS = /[0-9](?:[0-9.]{15}|[0-9.]{0,14}[eE])/
const NEXT_STRING_OR_SUSPICIOUS = /"|-?[0-9](?:[0-9.]{15}|[0-9.]{0,14}[eE])/g
const TOKEN = /[-+.0-9eE]+/y
const BACKSLASH = 0x5c

/** Where an inexact number token stands. */
export interface TokenRange {
  readonly start: number
  readonly end: number
}

/**
 * Inexact number tokens of a valid JSON text, in order.
 * @throws JsonValueError for a token of over 1,000 characters, before anything converts it.
 */
export function findInexactNumbers(text: string): TokenRange[] {
  if (!SUSPICIOUS.test(text)) return []
  const found: TokenRange[] = []
  NEXT_STRING_OR_SUSPICIOUS.lastIndex = 0
  for (let match = NEXT_STRING_OR_SUSPICIOUS.exec(text); match !== null; match = NEXT_STRING_OR_SUSPICIOUS.exec(text)) {
    const start = match.index
    const end = match[0] === '"' ? endOfString(text, start) : endOfToken(text, start)
    if (match[0] !== '"' && isInexact(text.slice(start, end), start)) found.push({ start, end })
    NEXT_STRING_OR_SUSPICIOUS.lastIndex = end
  }
  return found
}

function isInexact(token: string, start: number): boolean {
  if (token.length > MAX_NUMBER_CHARACTERS) {
    throw new JsonValueError(
      `character ${start + 1}`,
      `a number of over ${MAX_NUMBER_CHARACTERS} characters is refused`,
    )
  }
  return typeof numberFromToken(token) !== 'number'
}

function endOfToken(text: string, start: number): number {
  TOKEN.lastIndex = start
  return TOKEN.test(text) ? TOKEN.lastIndex : start + 1
}

function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote === -1 ? text.length : quote + 1
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1
  while (text.codePointAt(before) === BACKSLASH) before--
  return (quote - before) % 2 === 0
}
