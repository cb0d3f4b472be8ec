/** Cards of calls for a terminal: what a tool wants its call to look like. */
import {
  type ContentBlock,
  type FileDiff,
  type JsonValue,
  type ReadFileLine,
  stringifyJson,
  type ToolCallView,
  type ToolResultView,
} from '../index.ts'
import { oneLine, styled, visible } from './terminal.ts'

/** Lines of one card that are shown. */
const MAX_LINES = 24
const MAX_WIDTH = 160
/** Unchanged lines around a change. */
const CONTEXT_LINES = 2

/** The cards of one call as lines: the settled one replaces the pending one, whose title it keeps where it has none. */
export function drawCards(cards: { readonly call?: ToolCallView; readonly result?: ToolResultView }): string[] {
  const { call, result } = cards
  const title = result?.title ?? call?.title ?? ''
  const lines = [...headLines(call, title), ...(result === undefined ? callLines(call) : resultLines(result))]
  const shown = lines.slice(0, MAX_LINES)
  const rest = lines.length - shown.length
  return rest === 0 ? shown : [...shown, styled('dim', `  … ${rest} more lines`)]
}

/** The card of a call whose tool makes none. */
export function genericCard(name: string, args: JsonValue, content: readonly ContentBlock[] | undefined): string[] {
  return drawCards({
    call: { card: 'generic', title: name, rawInput: args },
    ...(content === undefined ? {} : { result: { card: 'generic', content: [...content] } }),
  })
}

function headLines(call: ToolCallView | undefined, title: string): string[] {
  switch (call?.card) {
    case 'terminal': {
      const about = [call.description, call.cwd === undefined ? undefined : `in ${call.cwd}`].filter(Boolean).join(', ')
      return [`${styled('bold', `$ ${line(title)}`)}${about === '' ? '' : styled('dim', `  ${line(about)}`)}`]
    }
    case 'generic': {
      const kind = call.kind === undefined ? '' : styled('dim', ` (${call.kind})`)
      const input = call.rawInput === undefined ? '' : ` ${oneLine(stringifyJson(call.rawInput as JsonValue), 100)}` // a checked card is JSON
      return [`${styled('bold', line(title))}${kind}${styled('dim', input)}`, ...locationLines(call)]
    }
    case 'diff':
      return [styled('bold', line(title)), ...locationLines(call)]
    case undefined:
      return [styled('bold', line(title))]
  }
}

function callLines(call: ToolCallView | undefined): string[] {
  if (call?.card === 'diff') return call.diffs.flatMap(diffLines)
  return call?.card === 'generic' ? contentLines(call.content) : []
}

function resultLines(view: ToolResultView): string[] {
  switch (view.card) {
    case 'generic':
      return contentLines(view.content)
    case 'terminal': {
      const end = view.signal === undefined ? view.exitCode : view.signal
      const pill = end === undefined ? [] : [styled(end === 0 ? 'green' : 'red', `  exit ${visible(String(end))}`)]
      return [...textLines(view.output ?? ''), ...pill]
    }
    case 'diff':
      return view.diffs.flatMap(diffLines)
    case 'search':
      return [...searchLines(view), partLine(view.truncated, view.total)]
    case 'read':
      return readLines(view)
    case 'web':
      return webLines(view)
  }
}

function searchLines(view: Extract<ToolResultView, { card: 'search' }>): string[] {
  if (view.shape === 'paths') return view.paths.map((path) => `  ${line(path)}`)
  return view.files.flatMap(({ path, matches }) => [`  ${styled('cyan', line(path))}`, ...numbered(matches)])
}

function partLine(isTruncated: boolean, total: number): string {
  return styled('dim', isTruncated ? `  ${total} in all, not all of them shown` : `  ${total} in all`)
}

function readLines({ path, offset, lines, totalLines, lang }: Extract<ToolResultView, { card: 'read' }>): string[] {
  const last = lines.at(-1)?.number ?? offset
  const language = lang === undefined ? '' : `, ${line(lang)}`
  const range = lines.length === 0 ? `nothing from line ${offset}` : `lines ${offset}-${last}`
  return [
    `  ${styled('cyan', line(path))}${styled('dim', `  ${range} of ${totalLines}${language}`)}`,
    ...numbered(lines),
  ]
}

function webLines(view: Extract<ToolResultView, { card: 'web' }>): string[] {
  const cut = view.truncated === true ? [styled('dim', '  not all of it shown')] : []
  if (view.kind === 'fetch') {
    const style = view.statusCode < 400 ? 'green' : 'red'
    return [`  ${line(view.url)}  ${styled(style, String(view.statusCode))}`, ...cut]
  }
  const sources = view.sources.map(({ title, url }) => `  ${line(title)}  ${styled('cyan', line(url))}`)
  return [...textLines(view.answer ?? ''), ...sources, ...cut]
}

function numbered(lines: readonly ReadFileLine[]): string[] {
  const width = String(lines.at(-1)?.number ?? '').length
  return lines.map(({ number, text }) => `  ${styled('dim', String(number).padStart(width))}  ${line(text)}`)
}

/** The lines between the first and the last one that differ, with a little around them. */
function diffLines({ path, oldText, newText }: FileDiff): string[] {
  const [before, after] = [oldText === null ? [] : linesOf(oldText), linesOf(newText)]
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const kept = (lines: readonly string[]): string[] => lines.map((text) => `    ${line(text)}`)
  return [
    `  ${styled('cyan', line(path))}${oldText === null ? styled('dim', '  new file') : ''}`,
    ...kept(before.slice(Math.max(0, head - CONTEXT_LINES), head)),
    ...before.slice(head, before.length - tail).map((text) => styled('red', `  - ${line(text)}`)),
    ...after.slice(head, after.length - tail).map((text) => styled('green', `  + ${line(text)}`)),
    ...kept(after.slice(after.length - tail, after.length - tail + CONTEXT_LINES)),
  ]
}

function locationLines({
  locations = [],
}: {
  readonly locations?: readonly { path: string; line?: number }[]
}): string[] {
  return locations.map(({ path, line: number }) =>
    styled('dim', `  ${line(path)}${number === undefined ? '' : `:${number}`}`),
  )
}

function contentLines(content: readonly ContentBlock[] = []): string[] {
  return content.flatMap((block) =>
    block.type === 'text' ? textLines(block.text) : [`  [${line(block.type)} content]`],
  )
}

function textLines(text: string): string[] {
  return text === '' ? [] : linesOf(text).map((each) => `  ${line(each)}`)
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

/** Foreign text of one line: its blanks stay, what is hidden shows. */
function line(text: string): string {
  const shown = visible(text.slice(0, MAX_WIDTH + 1)).replaceAll('\n', ' ')
  return shown.length > MAX_WIDTH ? `${shown.slice(0, MAX_WIDTH)}…` : shown
}
