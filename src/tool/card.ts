/** The shapes that cards must have, since presenters may be written without types. */
import { messageOf } from '../errors.ts'
import type { JsonSchemaNode } from '../json/schema.ts'
import { snapshotJson } from '../json/snapshot.ts'
import { validateJsonSchemaValue } from '../json/validate.ts'
import { type ParameterSchemaSpec, type ValueSchemaSpec, valueSchemaSpecToJsonSchema } from './spec.ts'

/** When a card is shown: while the call is pending, or once it has settled. */
export type CardMoment = 'call' | 'result'

const text = { type: 'string' } as const
const required = { type: 'string', required: true } as const
const line = record({ number: { type: 'integer', required: true }, text: required })
const location = record({ path: required, line: { type: 'integer' } })
const diff = record({
  path: required,
  oldText: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
  newText: required,
})
const kinds = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'] as const
const content = { type: 'array', items: record({ type: required }) } as const
const locations = { type: 'array', items: location } as const
const diffs = { type: 'array', items: diff, required: true } as const
const found = {
  title: text,
  truncated: { type: 'boolean', required: true },
  total: { type: 'integer', required: true },
} as const
const matches = record({ path: required, matches: { type: 'array', items: line, required: true } })
const source = record({ title: required, url: required })

/** By moment, and by card with what tells its shapes apart. */
const CARDS: Readonly<Record<CardMoment, Readonly<Record<string, JsonSchemaNode>>>> = {
  call: compiled({
    generic: { title: required, kind: { type: 'string', enum: kinds }, rawInput: { type: 'json' }, content, locations },
    terminal: { title: required, description: text, cwd: text },
    diff: { title: required, diffs, locations },
  }),
  result: compiled({
    generic: { title: text, content },
    terminal: { title: text, output: text, exitCode: { type: 'integer' }, signal: text },
    diff: { title: text, diffs },
    'search matches': { ...found, files: { type: 'array', items: matches, required: true } },
    'search paths': { ...found, paths: { type: 'array', items: text, required: true } },
    read: {
      title: text,
      path: required,
      offset: { type: 'integer', required: true },
      lines: { type: 'array', items: line, required: true },
      totalLines: { type: 'integer', required: true },
      lang: text,
      content: text,
    },
    'web search': {
      title: text,
      sources: { type: 'array', items: source, required: true },
      answer: text,
      truncated: { type: 'boolean' },
    },
    'web fetch': {
      title: text,
      url: required,
      statusCode: { type: 'integer', required: true },
      truncated: { type: 'boolean' },
    },
  }),
}

/** A detached copy of a card. @throws TypeError that says what is wrong with it. */
export function checkedCard<View>(moment: CardMoment, view: View): View {
  const copy = copyOf(view)
  const name = cardName(copy)
  const cards = CARDS[moment]
  const schema = Object.hasOwn(cards, name) ? cards[name] : undefined
  if (schema === undefined)
    throw new TypeError(`there is no card ${JSON.stringify(name)}; there are ${Object.keys(cards).join(', ')}`)
  const [violation] = validateJsonSchemaValue(schema, copy, { path: 'view' })
  if (violation !== undefined) throw new TypeError(violation)
  return copy as View // a copy of it
}

function copyOf(view: unknown): unknown {
  try {
    return snapshotJson(view)
  } catch (problem) {
    throw new TypeError(messageOf(problem), { cause: problem })
  }
}

function cardName(view: unknown): string {
  const { card, shape, kind }: Readonly<Record<string, unknown>> = Object(view)
  if (card === 'search') return `search ${String(shape)}`
  return card === 'web' ? `web ${String(kind)}` : String(card)
}

/** Fields that a card does not know are for other readers. */
function record<const Properties extends ParameterSchemaSpec>(properties: Properties): ValueSchemaSpec {
  return { type: 'object', additionalProperties: true, properties }
}

function compiled(cards: Readonly<Record<string, ParameterSchemaSpec>>): Record<string, JsonSchemaNode> {
  return Object.fromEntries(
    Object.entries(cards).map(([name, properties]) => [name, valueSchemaSpecToJsonSchema(record(properties))]),
  )
}
