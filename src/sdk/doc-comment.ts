/** Doc comments out of foreign descriptions: whatever a text holds, it stays inside its comment. */
import { snapshotJson } from '../json/snapshot.ts'
import { stringifyJson } from '../json/text.ts'
import { ownValue } from './schema-node.ts'

/** Longest default, example or constraint that is shown, in characters. */
const MAX_TAG_LENGTH = 200
/** Examples shown for one node. */
const MAX_EXAMPLES = 3
/** Constraints that a type cannot say. */
const CONSTRAINTS = [
  'format',
  'pattern',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
] as const

/** Lines of a doc comment of these texts, none when all are empty. Each text becomes one line. */
export function docComment(texts: readonly (string | undefined)[], indent: string): string[] {
  const lines = texts.map((text) => inComment(text ?? '')).filter((text) => text !== '')
  const [first] = lines
  if (first === undefined) return []
  if (lines.length === 1) return [`${indent}/** ${first} */`]
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`]
}

/** What a schema node says beside its type: description (or title), constraints, default, examples. */
export function describeNode(node: unknown): string[] {
  const texts = [textOf(ownValue(node, 'description')) ?? textOf(ownValue(node, 'title')) ?? '']
  for (const keyword of CONSTRAINTS) texts.push(tag(keyword, ownValue(node, keyword)))
  if (ownValue(node, 'type') === 'integer') texts.push('@integer')
  texts.push(tag('default', ownValue(node, 'default')))
  const examples = ownValue(node, 'examples')
  const list = Array.isArray(examples) ? examples.slice(0, MAX_EXAMPLES) : [examples]
  for (const example of list) texts.push(tag('example', example))
  return texts
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function tag(name: string, value: unknown): string {
  const text = jsonText(value)
  if (text === undefined) return ''
  return `@${name} ${text.length > MAX_TAG_LENGTH ? `${text.slice(0, MAX_TAG_LENGTH)}…` : text}`
}

/** JSON of an annotation, every digit of its numbers; undefined for what is not JSON. */
function jsonText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  try {
    return stringifyJson(snapshotJson(value))
  } catch {
    return undefined
  }
}

/** One line that cannot end the comment, open a fence or turn the text around. */
function inComment(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll('*/', '*\\/')
    .replaceAll('```', "'''")
    .trim()
}
