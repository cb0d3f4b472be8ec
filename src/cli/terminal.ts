/** Text on a terminal: foreign text made harmless, columns, colours. */
import { stripVTControlCharacters, styleText } from 'node:util'
import { type JsonValue, stringifyJson } from '../index.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Control and bidi characters, which can hide or rewrite what a person reads; line feeds and tabs stay. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Shows hidden characters of a foreign text as escapes, such as `\u001b`. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** JSON whose hidden characters are escapes; it stands for the same value. */
export function jsonText(value: JsonValue, indent?: number): string {
  return visible(stringifyJson(value, indent))
}

/** Foreign text on one line, cut to a width. */
export function oneLine(text: string, width: number): string {
  const line = visible(text.slice(0, width * 4))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}

/** A text as one word of a shell command, to be copied. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${visible(text).replaceAll("'", String.raw`'\''`)}'`
}

/** Colours text where this stream shows colours (NO_COLOR, FORCE_COLOR and dumb terminals are respected). */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream })
}

/** Pads a text that may hold colours. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stripVTControlCharacters(text).length))
}

/** Milliseconds as people read them. */
export function readableMs(ms: number | null): string {
  if (ms === null) return '…'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 60_000
    ? `${(ms / 1_000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

/** Width of the terminal, 100 where there is none. */
export function terminalWidth(): number {
  return Math.min(Math.max(process.stdout.columns ?? 100, 60), 160)
}
