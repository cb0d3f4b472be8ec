/** What became of a program, in the program's own coordinates. */
import { type LogError, messageOf, ProgramError } from '../errors.ts'
import type { CompiledProgram } from '../program/compile.ts'
import { codeFrame, positionFromStack, type SourcePosition } from '../program/source-position.ts'
import type { PtcRunResult, RunFailure } from '../sandbox/ptc-runtime.ts'
import { hintFor } from './hint.ts'
import type { RunError, RunOutcome, SubCallSummary } from './run-outcome.ts'

/** What the outcome is made of. */
export interface OutcomeParts {
  readonly runId: string
  readonly result: PtcRunResult
  readonly program: CompiledProgram
  readonly calls: readonly SubCallSummary[]
  /** Names of calls that were cut off when the program ended. */
  readonly cut: readonly string[]
  /** Raw names of the tools that the program could call. */
  readonly toolNames: readonly string[]
  /** The log broke during the run. */
  readonly logFailure: LogError | undefined
}

/** Puts an outcome together; a broken log wins over whatever the program came to. */
export function toOutcome(parts: OutcomeParts): RunOutcome {
  const { runId, result, program, calls, cut, logFailure } = parts
  const logs = [
    ...result.logs.map((line) => remapFrames(line, program)),
    ...(result.error === undefined ? cutNotes(cut) : []),
  ]
  const failure = logFailure === undefined ? result.error : logFailureOf(logFailure)
  if (failure !== undefined) return { runId, ok: false, logs, error: toRunError(failure, parts), calls }
  return { runId, ok: true, ...(result.value === undefined ? {} : { value: result.value }), logs, calls }
}

/** The outcome of a program that could not be compiled. */
export function uncompiledOutcome(runId: string, source: string, failure: unknown): RunOutcome {
  const message = failure instanceof Error ? failure.message : String(failure)
  const code = failure instanceof ProgramError ? failure.code : 'COMPILE_FAILED'
  const position = failure instanceof ProgramError ? failure.position : undefined
  const error: RunError = { kind: 'exception', code, message, ...placed(source, position), retryable: true }
  return { runId, ok: false, logs: [], error, calls: [] }
}

/** The outcome of a run whose beginning or end could not be put on record. */
export function unrecordedOutcome(outcome: Omit<RunOutcome, 'ok' | 'value' | 'error'>, failure: unknown): RunOutcome {
  const { runId, logs, calls } = outcome
  const error: RunError = {
    kind: 'sandbox-unavailable',
    code: 'LOG_WRITE_FAILED',
    message: 'the run could not be put on record, so it does not count',
    detail: messageOf(failure),
    retryable: calls.length === 0,
  }
  return { runId, ok: false, logs, error, calls }
}

function toRunError(failure: RunFailure, { program, calls, toolNames }: OutcomeParts): RunError {
  const { kind, code, name, stack } = failure
  const inCode = stack === undefined ? undefined : positionFromStack(stack, program.filename)
  const position = inCode === undefined ? undefined : program.locate(inCode)
  const isNamed = kind === 'exception' && name !== undefined && name !== 'Error'
  const hint = kind === 'exception' ? hintFor(failure.message, program.source, toolNames) : ''
  const message = `${isNamed ? `${name}: ` : ''}${failure.message}${hint}`
  const detail = failure.detail === undefined ? {} : { detail: failure.detail }
  return { kind, code, message, ...detail, ...placed(program.source, position), retryable: calls.length === 0 }
}

function placed(source: string, position: SourcePosition | undefined): Pick<RunError, 'line' | 'column' | 'frame'> {
  return position === undefined ? {} : { ...position, frame: codeFrame(source, position) }
}

/** Console lines that show a stack show it with the program's own lines. */
function remapFrames(line: string, program: CompiledProgram): string {
  const mark = `${program.filename}:`
  if (!line.includes(mark)) return line
  return line.replaceAll(/\bprogram\.ts:(\d{1,7}):(\d{1,7})/g, (frame, row: string, column: string) => {
    const found = program.locate({ line: Number(row), column: Number(column) })
    return found === undefined ? frame : `${mark}${found.line}:${found.column}`
  })
}

/** A program that returns while its calls still run learns that they were cut off. */
function cutNotes(cut: readonly string[]): string[] {
  if (cut.length === 0) return []
  const names = [...new Set(cut)].slice(0, 10).join(', ')
  return [
    `Note: ${cut.length} tool call(s) were not awaited and were cut off when the program ended (${names}); await them.`,
  ]
}

function logFailureOf(failure: LogError): RunFailure {
  const message = 'the run was stopped because its log could not be written'
  return { kind: 'sandbox-unavailable', code: 'LOG_WRITE_FAILED', message, detail: failure.message }
}
