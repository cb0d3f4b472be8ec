/** The tokens of a source scan: how a text is cut, and what its words and signs do to nesting. */

/** What a token is; strings, templates and comments are cut at their start only. */
type TokenKind = 'space' | 'line' | 'comment' | 'word' | 'number' | 'quote' | 'open' | 'close' | 'punctuation'

/** One token of a text. */
export interface Token {
  readonly kind: TokenKind
  /** At least one code unit. */
  readonly text: string
}

/** The token that starts at `offset`, which must lie inside of the text. */
export function tokenAt(source: string, offset: number): Token {
  TOKEN.lastIndex = offset
  const match = TOKEN.exec(source)
  for (const [index, kind] of KINDS.entries()) {
    const text = match?.[index + 1]
    if (text !== undefined) return { kind, text }
  }
  // Half of a surrogate pair in the middle of a character: nothing that nests.
  return { kind: 'space', text: source.charAt(offset) }
}

/** End of the flags of a regular expression that start at `offset`. */
export function endOfFlags(source: string, offset: number): number {
  FLAGS.lastIndex = offset
  return offset + (FLAGS.exec(source)?.[0].length ?? 0)
}

/** Tried in this order. */
const PATTERNS: Readonly<Record<TokenKind, RegExp>> = {
  space: /[^\S\n\r\u2028\u2029]+/u,
  line: /[\n\r\u2028\u2029]|\/\/[^\n\r\u2028\u2029]*/u,
  comment: /\/\*/u,
  word: /[\p{ID_Start}$_#@\\](?:[\p{ID_Continue}$\\]|\u200c|\u200d)*/u,
  number: /\.?\d[\w.]*/u,
  quote: /["']/u,
  open: /[([{`]/u,
  close: /[)\]}]/u,
  punctuation: /=>|\?\?=?|\?\.|\.\.\.|[<>]=|\+\+|--|&&=?|\|\|=?|\*\*=?|<<=?|[=!]==?|[-+*/%&|^]=|[\s\S]/u,
}
// The keys of an object of our own are its type's.
const KINDS = Object.keys(PATTERNS) as readonly TokenKind[]
const TOKEN = new RegExp(KINDS.map((kind) => `(${PATTERNS[kind].source})`).join('|'), 'uy')
const FLAGS = /[\p{ID_Continue}$]*/uy

/** Their brackets are followed by a statement. */
export const HEAD_WORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'with'])
/** An operand or a name must follow. */
export const OPENING_WORDS: ReadonlySet<string> = new Set([
  'function',
  'class',
  'let',
  'const',
  'var',
  'enum',
  'import',
  'export',
])
/** Each adds a level that ends with its statement or expression. */
export const NESTING_WORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'with', 'do', 'else', 'extends'])
/** Operators before their operand. */
export const PREFIX_WORDS: ReadonlySet<string> = new Set([
  'typeof',
  'void',
  'delete',
  'await',
  'new',
  'yield',
  'keyof',
  'infer',
  'unique',
  'readonly',
])
/** An operator or a clause, so neither an operand's end nor the start of a statement. */
export const JOINING_WORDS: ReadonlySet<string> = new Set([
  'in',
  'of',
  'instanceof',
  'as',
  'satisfies',
  'is',
  'extends',
  'else',
  'return',
  'throw',
  'case',
])
/** Each starts a clause of its own, beside the one before. */
export const LABEL_WORDS: ReadonlySet<string> = new Set(['case', 'default'])
/** They belong to the statement before. */
export const CONTINUING_WORDS: ReadonlySet<string> = new Set(['else', 'while', 'catch', 'finally'])
/** Operators before their operand; some of them stand between two as well. */
export const PREFIX_SIGNS: ReadonlySet<string> = new Set(['!', '~', '+', '-', '++', '--', '...'])
/** Those that may also stand after their operand. */
export const POSTFIX_SIGNS: ReadonlySet<string> = new Set(['!', '++', '--'])
/** What follows is read inside of what stands before. */
export const RIGHT_RECURSIVE: ReadonlySet<string> = new Set([
  '=',
  '=>',
  '?',
  ':',
  '**',
  '**=',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
  '&=',
  '|=',
  '^=',
  '<<=',
  '&&=',
  '||=',
  '??=',
])
