/**
 * An approximate tokenizer: it follows brackets and unfinished operators, not the grammar. It is
 * linear and never throws; what it misjudges is left to the compiler, which is replaced when it dies.
 */

import {
  CONTINUING_WORDS,
  endOfFlags,
  HEAD_WORDS,
  JOINING_WORDS,
  LABEL_WORDS,
  NESTING_WORDS,
  OPENING_WORDS,
  POSTFIX_SIGNS,
  PREFIX_SIGNS,
  PREFIX_WORDS,
  RIGHT_RECURSIVE,
  type Token,
  tokenAt,
} from './source-token.ts'

/** What a scan learned. Offsets are in UTF-16 code units. */
export interface SourceScan {
  /** Where nesting passed the limit; the scan ended there. */
  readonly tooDeepAt?: number
  /** First closing bracket that closes nothing. */
  readonly strayCloser?: number
  /** Innermost bracket or template that is open at the end. */
  readonly unclosed?: number
}

/**
 * Scans a TypeScript text.
 * @param maxNesting open brackets, prefix operators and right-recursive constructs that may be unfinished at once.
 */
export function scanSource(source: string, maxNesting: number): SourceScan {
  return new Scanner(source, maxNesting).scan()
}

interface OpenBracket {
  readonly offset: number
  readonly character: '(' | '[' | '{' | '`'
  /** Nesting and angle brackets outside, restored when it closes. */
  readonly depth: number
  readonly angles: number
  /** Nesting at the start of each statement or element inside. */
  readonly inside: number
  /** The head of `if`, `for`, `while` or `with`: a statement follows, not an operator. */
  readonly isHead: boolean
}

/** What the token before may be followed by: an operator, or the start of an operand. */
type Before = 'operand' | 'operator' | 'head'

class Scanner {
  readonly #source: string
  readonly #maxNesting: number
  readonly #open: OpenBracket[] = []
  #at = 0
  /** Levels of brackets and right-recursive constructs that are unfinished. */
  #depth = 0
  /** Prefix operators that wait for their operand. */
  #prefixes = 0
  #angles = 0
  #before: Before = 'operator'
  /** What ended a statement: its nesting ends too unless the next token continues it. */
  #ended: ';' | '}' | undefined
  #lineEnded = false
  #previous = ''
  #headOpener = false
  #noRegexBefore = 0
  #strayCloser: number | undefined

  constructor(source: string, maxNesting: number) {
    this.#source = source
    this.#maxNesting = maxNesting
  }

  scan(): SourceScan {
    while (this.#at < this.#source.length) {
      const start = this.#at
      this.#step()
      if (this.#depth + this.#prefixes + this.#angles > this.#maxNesting) return { tooDeepAt: start }
    }
    const unclosed = this.#open.at(-1)?.offset
    return {
      ...(this.#strayCloser === undefined ? {} : { strayCloser: this.#strayCloser }),
      ...(unclosed === undefined ? {} : { unclosed }),
    }
  }

  #step(): void {
    const start = this.#at
    const token = tokenAt(this.#source, start)
    const { kind, text } = token
    this.#at += text.length
    if (kind === 'space') return
    if (kind === 'line') this.#lineEnded = true
    else if (kind === 'comment') this.#skipComment()
    else {
      this.#endStatement(token)
      if (kind === 'word') this.#word(text)
      else if (kind === 'number') this.#operand()
      else if (kind === 'quote') this.#string(text)
      else if (kind === 'open') this.#openBracket(text, start)
      else if (kind === 'close') this.#closeBracket(text, start)
      else this.#punctuation(text, start)
      this.#lineEnded = false
    }
  }

  #skipComment(): void {
    const end = this.#source.indexOf('*/', this.#at)
    const next = end === -1 ? this.#source.length : end + 2
    this.#at = next
  }

  /** Nesting ends with a statement: after `;` or `}`, or at a line that cannot continue the one before. */
  #endStatement({ kind, text }: Token): void {
    const isWord = kind === 'word'
    const startsOperand = isWord || kind === 'number' || kind === 'quote'
    const joins = isWord && (JOINING_WORDS.has(text) || CONTINUING_WORDS.has(text))
    const isNewStatement =
      this.#ended === ';' ||
      (this.#ended === '}' && (startsOperand || kind === 'open')) ||
      (this.#lineEnded && this.#before === 'operand' && startsOperand)
    this.#ended = undefined
    if (isNewStatement && !joins) this.#resetLevel()
  }

  #resetLevel(): void {
    this.#depth = this.#open.at(-1)?.inside ?? 0
    this.#angles = 0
    this.#prefixes = 0
  }

  #word(text: string): void {
    const before = this.#previous
    // `for await (` is a head too.
    const isHeadWord = HEAD_WORDS.has(text) || (text === 'await' && this.#headOpener)
    this.#previous = text
    this.#headOpener = false
    if (before === '.') this.#operand(text)
    else if (PREFIX_WORDS.has(text) && !isHeadWord) this.#prefix()
    else if (NESTING_WORDS.has(text) || isHeadWord) {
      if (before !== 'else' && text !== 'await') this.#depth += 1
      this.#before = 'operator'
      this.#headOpener = isHeadWord
    } else if (LABEL_WORDS.has(text)) {
      this.#resetLevel()
      this.#before = 'operator'
    } else {
      this.#operand(text)
      if (JOINING_WORDS.has(text) || OPENING_WORDS.has(text)) this.#before = 'operator'
    }
  }

  #operand(word = ''): void {
    this.#prefixes = 0
    this.#before = 'operand'
    this.#previous = word
    this.#headOpener = false
  }

  #prefix(): void {
    this.#prefixes += 1
    this.#before = 'operator'
  }

  #string(quote: string): void {
    this.#skipUntil((character) => character === quote || isLineEnd(character))
    if (this.#source[this.#at] === quote) this.#at += 1
    this.#operand()
  }

  #openBracket(text: string, offset: number): void {
    // The pattern of the token admits these four only.
    const character = text as OpenBracket['character']
    const isHead = character === '(' && this.#headOpener
    const inside = this.#depth + 1 + this.#prefixes + this.#angles
    this.#open.push({ offset, character, depth: this.#depth, angles: this.#angles, inside, isHead })
    this.#depth = inside
    this.#prefixes = 0
    this.#angles = 0
    this.#before = 'operator'
    this.#previous = ''
    this.#headOpener = false
    if (character === '`') this.#templatePart()
  }

  #closeBracket(text: string, offset: number): void {
    const top = this.#open.pop()
    if (top === undefined || !matches(top.character, text)) {
      this.#strayCloser ??= offset
      if (top !== undefined) this.#open.push(top)
      return
    }
    this.#depth = top.depth
    this.#angles = top.angles
    this.#operand()
    if (top.isHead) this.#before = 'head'
    if (text !== '}') return
    if (this.#open.at(-1)?.character === '`') {
      this.#templatePart()
      return
    }
    // A block's end: what follows starts an operand, also where it looks like a postfix operator.
    this.#ended = '}'
    this.#before = 'operator'
  }

  /** Text of a template up to its end or to the next `${`, which opens a bracket of its own. */
  #templatePart(): void {
    this.#skipUntil((character, next) => character === '`' || (character === '$' && next === '{'))
    if (this.#source[this.#at] === '$') {
      this.#at += 2
      this.#openBracket('{', this.#at - 1)
      return
    }
    if (this.#at === this.#source.length) return
    this.#at += 1
    const top = this.#open.pop()
    this.#depth = top?.depth ?? 0
    this.#angles = top?.angles ?? 0
    this.#operand()
  }

  #punctuation(text: string, offset: number): void {
    if (text === '/' || text === '/=') {
      if (this.#before !== 'operand' && this.#regex(offset)) return
    }
    // A postfix operator stands on the line of its operand.
    const isPostfix = this.#before === 'operand' && POSTFIX_SIGNS.has(text) && !this.#lineEnded
    const isPrefix = PREFIX_SIGNS.has(text) && (this.#before !== 'operand' || (POSTFIX_SIGNS.has(text) && !isPostfix))
    this.#previous = text === '?.' ? '.' : text
    this.#headOpener = false
    if (text === ';') this.#ended = ';'
    else if (text === ',') this.#endElement()
    else if (text === '<') this.#angles += 1
    else if (text === '>') this.#angles = Math.max(0, this.#angles - 1)
    else if (isPrefix) this.#prefixes += 1
    else if (RIGHT_RECURSIVE.has(text)) this.#depth += 1
    if (!isPostfix) this.#before = 'operator'
  }

  /** The next element of a list nests no deeper than this one; type arguments stay open. */
  #endElement(): void {
    const angles = this.#angles
    this.#resetLevel()
    this.#angles = angles
  }

  #regex(offset: number): boolean {
    if (offset < this.#noRegexBefore) return false
    const start = this.#at
    let isInClass = false
    this.#skipUntil((character) => {
      if (character === '[') isInClass = true
      else if (character === ']') isInClass = false
      return isLineEnd(character) || (character === '/' && !isInClass)
    })
    if (this.#source[this.#at] !== '/') {
      // No later slash of this line needs another look: that keeps the scan linear.
      this.#noRegexBefore = this.#at
      this.#at = start
      return false
    }
    this.#at = endOfFlags(this.#source, this.#at + 1)
    this.#operand()
    return true
  }

  /** Moves to the first code unit that ends the text, or to the end; a backslash takes the next one with it. */
  #skipUntil(isEnd: (character: string, next: string) => boolean): void {
    const source = this.#source
    while (this.#at < source.length && !isEnd(source.charAt(this.#at), source.charAt(this.#at + 1))) {
      this.#at += source[this.#at] === '\\' ? 2 : 1
    }
    this.#at = Math.min(this.#at, source.length)
  }
}

function isLineEnd(character: string): boolean {
  return character === '\n' || character === '\r' || character === '\u2028' || character === '\u2029'
}

function matches(open: OpenBracket['character'], close: string): boolean {
  return (open === '(' && close === ')') || (open === '[' && close === ']') || (open === '{' && close === '}')
}
