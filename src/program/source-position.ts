/** Places in a program's own text: line and column arithmetic, code frames, stack texts. */

/** A place in a text; both numbers are 1-based, columns count UTF-16 code units. */
export interface SourcePosition {
  readonly line: number
  readonly column: number
}

/** What JavaScript, and so every stack text and source map, counts as the end of a line. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/gu
const FRAME_WIDTH = 120
const FRAME_REACH = 2
const MAX_STACK_CHARACTERS = 65_536

/** Position of the code unit at `offset`; an offset past the end is the end. */
export function positionAt(source: string, offset: number): SourcePosition {
  let line = 1
  let lineStart = 0
  for (const end of source.matchAll(LINE_END)) {
    const next = end.index + end[0].length
    if (next > offset) break
    line += 1
    lineStart = next
  }
  return { line, column: Math.min(offset, source.length) - lineStart + 1 }
}

/** Number of lines of a text; an empty text has one. */
export function countLines(source: string): number {
  let lines = 1
  for (const _ of source.matchAll(LINE_END)) lines += 1
  return lines
}

/**
 * The line of `position`, up to two lines before and after it, and a caret below the column.
 * Long lines are cut around the column, control and bidirectional characters are made visible.
 * Empty when the source has no such line.
 */
export function codeFrame(source: string, position: SourcePosition): string {
  const first = Math.max(1, position.line - FRAME_REACH)
  const lines = linesFrom(source, first, position.line + FRAME_REACH)
  const target = lines[position.line - first]
  if (target === undefined) return ''
  const column = Math.min(Math.max(position.column, 1), target.length + 1)
  const start = cutStart(target.length, column)
  const gutter = String(first + lines.length - 1).length
  const frame: string[] = []
  for (const [index, text] of lines.entries()) {
    const line = first + index
    const mark = line === position.line ? '>' : ' '
    frame.push(`${mark} ${String(line).padStart(gutter)} | ${cut(text, start)}`.trimEnd())
    if (line === position.line) frame.push(`  ${' '.repeat(gutter)} | ${' '.repeat(caretColumn(text, start, column))}^`)
  }
  return frame.join('\n')
}

/**
 * Position of the first frame of `filename` in a V8 stack text, undefined when there is none.
 * The text is untrusted: only its first 64 Ki characters are read, in linear time.
 */
export function positionFromStack(stack: string, filename: string): SourcePosition | undefined {
  const text = stack.slice(0, MAX_STACK_CHARACTERS)
  const needle = `${filename}:`
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    const place = /^(\d{1,7}):(\d{1,7})(?!\d)/u.exec(text.slice(at + needle.length, at + needle.length + 16))
    if (place === null || !startsFrame(text, at)) continue
    const position = { line: Number(place[1]), column: Number(place[2]) }
    if (position.line > 0 && position.column > 0) return position
  }
  return undefined
}

/** A frame names its file after a bracket or a blank, on a line that starts with `at`. */
function startsFrame(text: string, at: number): boolean {
  const before = text[at - 1]
  if (before !== '(' && before !== ' ') return false
  // A frame's function name is far shorter; the bound keeps hostile texts linear.
  const lineStart = text.lastIndexOf('\n', at) + 1
  return /^\s*at\s/u.test(text.slice(lineStart, lineStart + 64))
}

function linesFrom(source: string, first: number, last: number): string[] {
  const lines: string[] = []
  let line = 1
  let start = 0
  for (const end of source.matchAll(LINE_END)) {
    if (line >= first) lines.push(source.slice(start, end.index))
    line += 1
    start = end.index + end[0].length
    if (line > last) return lines
  }
  if (line >= first) lines.push(source.slice(start))
  return lines
}

/** First code unit of the window that holds the column near its middle. */
function cutStart(length: number, column: number): number {
  if (length <= FRAME_WIDTH) return 0
  return Math.max(0, Math.min(column - 1 - FRAME_WIDTH / 2, length - FRAME_WIDTH))
}

function cut(text: string, start: number): string {
  const head = start > 0 ? '…' : ''
  const tail = start + FRAME_WIDTH < text.length ? '…' : ''
  return `${head}${visible(text.slice(start, start + FRAME_WIDTH))}${tail}`
}

/** The caret stands below the visible form of its character. */
function caretColumn(text: string, start: number, column: number): number {
  return (start > 0 ? 1 : 0) + visible(text.slice(start, column - 1)).length
}

/** A tab is one blank, so that the caret is right in every terminal. */
function visible(text: string): string {
  return text.replaceAll('\t', ' ').replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}
