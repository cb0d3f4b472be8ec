/** `ptc run`: one program, its tools, its result. */
import { createPtc, type Ptc, type PtcLimits, type RunEvent, type RunOutcome, stringifyJson } from '../index.ts'
import { CommandError, EXIT } from './exit-code.ts'
import { loadTools, readProgram } from './load-tools.ts'
import { loadCliPolicy } from './load-policy.ts'
import { logPath } from './log-path.ts'
import { jsonText, oneLine, readableMs, shellWord, styled, visible } from './terminal.ts'

/** Options of `ptc run` as the command line gives them. */
export interface RunCommandOptions {
  readonly tools: readonly string[]
  readonly log?: string
  readonly limit: readonly string[]
  readonly policy?: string
  readonly description?: string
  readonly json?: boolean
}

/** A body that ignores its cancellation is given up after so many milliseconds, so that Ctrl+C always ends. */
const ABANDON_AFTER_MS = 10_000

/** After a second Ctrl+C the record gets so many milliseconds, whatever else hangs. */
const LEAVE_AFTER_MS = 3_000

/** Runs the program at `path`, or from standard input for `-`. */
export async function runCommand(path: string, options: RunCommandOptions): Promise<number> {
  const source = await readProgram(path)
  const tools = await loadTools(options.tools)
  const policy = await loadCliPolicy(options.policy, tools)
  const ptc = await createPtc({
    tools,
    ...(policy === undefined ? {} : { policy }),
    log: logPath(options.log),
    limits: parseLimits(options.limit),
    abandonAfterMs: ABANDON_AFTER_MS,
  })
  const interrupt = interruptible(() => ptc.close({ abandon: true }))
  try {
    const outcome = await ptc.run(source, {
      signal: interrupt.signal,
      description: options.description ?? (path === '-' ? 'ptc run -' : path),
      onEvent: options.json === true ? () => undefined : reporter(process.stderr.isTTY),
    })
    await report(ptc, outcome, options.json === true)
    return interrupt.signal.aborted ? EXIT.interrupted : exitCodeOf(outcome)
  } finally {
    interrupt.release()
    await ptc.close()
  }
}

async function report(ptc: Ptc, outcome: RunOutcome, isJson: boolean): Promise<void> {
  if (isJson) {
    await write(`${jsonText(jsonOutcome(outcome))}\n`)
    return
  }
  const { runId, value, error, calls } = outcome
  if (value !== undefined) await write(`${typeof value === 'string' ? visible(value) : jsonText(value, 2)}\n`)
  if (error !== undefined) printError(error)
  const verdict = outcome.ok ? styled('green', 'ok', process.stderr) : styled('red', 'failed', process.stderr)
  const nothing = outcome.ok && value === undefined ? ', no value returned' : ''
  note(`${verdict}${nothing}; ${calls.length} tool call(s); ${logHint(ptc, runId)}`)
}

function jsonOutcome({ runId, ok, value, logs, error, calls }: RunOutcome): Parameters<typeof stringifyJson>[0] {
  return {
    runId,
    ok,
    ...(value === undefined ? {} : { value }),
    logs: [...logs],
    ...(error === undefined ? {} : { error: { ...error } }),
    calls: calls.map((call) => ({ ...call })),
  }
}

function printError(error: NonNullable<RunOutcome['error']>): void {
  const place = error.line === undefined ? '' : ` at line ${error.line}, column ${error.column}`
  note(`${styled('red', `${error.kind} (${error.code})`, process.stderr)}${place}: ${visible(error.message)}`)
  if (error.frame !== undefined) note(visible(error.frame))
  if (error.detail !== undefined) note(visible(error.detail))
}

/** Console lines always show; sub-calls show while a person watches. */
function reporter(isWatched: boolean): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'console') note(visible(event.text))
    if (!isWatched) return
    if (event.type === 'sub-call-start') {
      note(styled('dim', `→ ${oneLine(event.name, 40)} ${oneLine(stringifyJson(event.arguments), 70)}`, process.stderr))
    }
    if (event.type === 'sub-call-settle') {
      const { call, message } = event
      const text = `${call.isError ? '✗' : '✓'} ${oneLine(call.name, 40)} ${readableMs(call.durationMs)}`
      note(
        styled(
          call.isError ? 'red' : 'dim',
          message === undefined ? text : `${text} ${oneLine(message, 70)}`,
          process.stderr,
        ),
      )
    }
  }
}

function exitCodeOf({ ok, error }: RunOutcome): number {
  if (ok) return EXIT.ok
  return error?.kind === 'sandbox-unavailable' ? EXIT.environment : EXIT.programFailed
}

function parseLimits(given: readonly string[]): Partial<PtcLimits> {
  const pairs = given.map((text) => {
    const [name = '', value = '', ...rest] = text.split('=')
    if (rest.length > 0 || value.trim() === '' || !Number.isFinite(Number(value))) {
      throw new CommandError(`--limit takes name=number, such as cpuMs=1000; "${text}" came`)
    }
    return [name, Number(value)]
  })
  return Object.fromEntries(pairs)
}

/**
 * The first Ctrl+C cancels the run and lets it settle. The second one gives up what still ignores
 * that, puts it on record and ends the process.
 */
function interruptible(abandon: () => Promise<void>): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController()
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      const leave = (): never => process.exit(EXIT.interrupted)
      setTimeout(leave, LEAVE_AFTER_MS)
      void abandon().finally(leave)
      return
    }
    note('interrupted: waiting for running tools; press Ctrl+C again to leave at once')
    controller.abort(new Error('interrupted'))
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return {
    signal: controller.signal,
    release: () => {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    },
  }
}

function logHint({ log: { location } }: Ptc, runId: string): string {
  if (location === ':memory:') return 'its log ended with it'
  return `see it again: npx ptc log show ${runId}${location === logPath(undefined) ? '' : ` --log ${shellWord(location)}`}`
}

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Resolves once the text has left, so that a large result is whole when the process ends. */
function write(text: string): Promise<void> {
  // A failure is an event of the stream, which ends the command.
  return new Promise((resolve) => process.stdout.write(text, () => resolve()))
}
