/** `ptc log ls` and `ptc log show`: what programs did. */
import {
  type CallRow,
  type ContentBlock,
  openDispatchLog,
  type RunRecord,
  type RunRow,
  stringifyJson,
} from '../index.ts'
import { drawCards, genericCard } from './card.ts'
import { CommandError } from './exit-code.ts'
import { logPath } from './log-path.ts'
import { jsonText, oneLine, padded, readableMs, styled, terminalWidth, visible } from './terminal.ts'
import { drawWaterfall } from './waterfall.ts'

/** Calls whose cards are shown. */
const MAX_CARDS = 20

/** Lists runs, newest first. */
export async function logLsCommand(options: { log?: string; limit: string; json?: boolean }): Promise<void> {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1)
    throw new CommandError(`--limit takes a whole number from 1, "${options.limit}" came`)
  const log = await openDispatchLog(logPath(options.log), { readOnly: true })
  try {
    const runs = log.runs({ limit })
    if (options.json === true) process.stdout.write(`${visible(JSON.stringify(runs, null, 2))}\n`)
    else process.stdout.write(`${runs.map(runLine).join('\n') || '(no runs yet)'}\n`)
  } finally {
    await log.close()
  }
}

/** Shows one run. */
export async function logShowCommand(id: string, options: { log?: string; json?: boolean }): Promise<void> {
  const log = await openDispatchLog(logPath(options.log), { readOnly: true })
  try {
    const record = log.run(id)
    if (options.json === true) process.stdout.write(`${jsonText(jsonRecord(record))}\n`)
    else process.stdout.write(`${describeRun(record).join('\n')}\n`)
  } finally {
    await log.close()
  }
}

function runLine({ run_id, started_at, ended_at, outcome, description }: RunRow): string {
  const duration = ended_at === null ? null : ended_at - started_at
  const time = new Date(started_at).toISOString().slice(0, 19).replace('T', ' ')
  return `${oneLine(run_id.slice(0, 8), 8)}  ${time}  ${padded(verdict(outcome), 20)}  ${readableMs(duration).padStart(9)}  ${oneLine(description, 60)}`
}

function describeRun({ run, calls, console }: RunRecord): string[] {
  const duration = run.ended_at === null ? null : run.ended_at - run.started_at
  return [
    `${styled('bold', `run ${oneLine(run.run_id, 100)}`)}  ${verdict(run.outcome)}  ${readableMs(duration)}`,
    `${new Date(run.started_at).toISOString()}  ${oneLine(run.description, 100)}  (owner ${oneLine(run.owner, 60)})`,
    '',
    styled('bold', 'Program'),
    visible(run.source.trimEnd()).replaceAll(/^/gm, '  '),
    '',
    styled('bold', `Calls (${calls.length})`),
    ...drawWaterfall(calls.map(waterfallRow), terminalWidth()),
    ...cardLines(calls),
    ...(console.length === 0
      ? []
      : ['', styled('bold', 'Console'), ...console.map(({ text }) => `  ${visible(text)}`)]),
    ...resultLines(run),
  ]
}

function cardLines(calls: readonly CallRow[]): string[] {
  const shown = calls.slice(0, MAX_CARDS)
  const lines = shown.flatMap((call) => {
    const [title = '', ...rest] = cardOf(call)
    return ['', `  ${styled('dim', `#${numberOf(call)}`)} ${title}`, ...rest.map((line) => `  ${line}`)]
  })
  const rest = calls.length - shown.length
  return rest === 0 ? lines : [...lines, '', `  … ${rest} more calls; --json has all of them`]
}

function cardOf({ name, arguments: args, content, cards }: CallRow): string[] {
  // Both were checked before they were written.
  if (cards !== undefined) return drawCards(cards as Parameters<typeof drawCards>[0])
  return genericCard(name, args, content as ContentBlock[] | undefined)
}

function numberOf({ sub_call_id }: CallRow): string {
  return sub_call_id.slice(sub_call_id.lastIndexOf(':') + 1)
}

function resultLines({ value, error }: RunRecord['run']): string[] {
  const shown = error ?? value
  if (shown === undefined) return []
  const text = typeof shown === 'string' ? shown : stringifyJson(shown, 2)
  return ['', styled('bold', error === undefined ? 'Result' : 'Error'), visible(text).replaceAll(/^/gm, '  ')]
}

function waterfallRow(call: CallRow): Parameters<typeof drawWaterfall>[0][number] {
  const { name, started_at, settled_at, is_error, error_code, arguments: args } = call
  return {
    label: `#${numberOf(call)} ${name}`,
    startedAt: started_at,
    settledAt: settled_at,
    isError: is_error === true,
    note: error_code ?? stringifyJson(args),
  }
}

function verdict(outcome: string | null): string {
  if (outcome === null) return styled('yellow', 'not ended')
  return outcome === 'ok' ? styled('green', 'ok') : styled('red', oneLine(outcome, 20))
}

function jsonRecord({ run, calls, console }: RunRecord): Parameters<typeof stringifyJson>[0] {
  return { run: { ...run }, calls: calls.map((call) => ({ ...call })), console: console.map((line) => ({ ...line })) }
}
