/** `ptc log ls` and `ptc log show`: what programs did. */
import { type CallRow, openDispatchLog, type RunRecord, type RunRow, stringifyJson } from '../index.ts'
import { CommandError } from './exit-code.ts'
import { logPath } from './log-path.ts'
import { jsonText, oneLine, padded, readableMs, styled, terminalWidth, visible } from './terminal.ts'
import { drawWaterfall } from './waterfall.ts'

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
    ...(console.length === 0
      ? []
      : ['', styled('bold', 'Console'), ...console.map(({ text }) => `  ${visible(text)}`)]),
    ...resultLines(run),
  ]
}

function resultLines({ value, error }: RunRecord['run']): string[] {
  const shown = error ?? value
  if (shown === undefined) return []
  const text = typeof shown === 'string' ? shown : stringifyJson(shown, 2)
  return ['', styled('bold', error === undefined ? 'Result' : 'Error'), visible(text).replaceAll(/^/gm, '  ')]
}

function waterfallRow({
  sub_call_id,
  name,
  started_at,
  settled_at,
  is_error,
  error_code,
  arguments: args,
}: CallRow): Parameters<typeof drawWaterfall>[0][number] {
  const number = sub_call_id.slice(sub_call_id.lastIndexOf(':') + 1)
  return {
    label: `#${number} ${name}`,
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
