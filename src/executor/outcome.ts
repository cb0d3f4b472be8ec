/** What became of a program, in the program's own coordinates. */
import { type LogError, ProgramError } from '../errors.ts'
import type { CompiledProgram } from '../program/compile.ts'
import { codeFrame, positionFromStack, type SourcePosition } from '../program/source-position.ts'
import type { PtcRunResult, RunFailure } from '../sandbox/ptc-runtime.ts'
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
  const logs = [...result.logs.map((line) => remapFrames(line, program)), ...cutNotes(cut)]
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

function toRunError(failure: RunFailure, { program, calls, toolNames }: OutcomeParts): RunError {
  const { kind, code, name, stack } = failure
  const inCode = stack === undefined ? undefined : positionFromStack(stack, program.filename)
  const position = inCode === undefined ? undefined : program.locate(inCode)
  const isNamed = kind === 'exception' && name !== undefined && name !== 'Error'
  const message = `${isNamed ? `${name}: ` : ''}${failure.message}${hintFor(failure, toolNames)}`
  return { kind, code, message, ...placed(program.source, position), retryable: calls.length === 0 }
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
  const message = `the run was stopped because its log could not be written: ${failure.message}`
  return { kind: 'sandbox-unavailable', code: 'LOG_WRITE_FAILED', message }
}

/** What the engine's own words do not say. */
function hintFor({ kind, message }: RunFailure, toolNames: readonly string[]): string {
  if (kind !== 'exception') return ''
  if (message.startsWith('Cannot mix BigInt')) {
    return '; a tool number beyond 2^53 arrives as a bigint: convert with Number(x) where precision may go, or use bigint on both sides'
  }
  const missing = /\btools(?:\.|\[")([^\s"(]{1,100})"?\]? is not a function/.exec(message)?.[1]
  if (missing === undefined) return ''
  const near = nearestNames(missing, toolNames)
  const known =
    near.length > 0
      ? `did you mean ${near.join(' or ')}?`
      : `known tools: ${toolNames.slice(0, 20).join(', ') || '(none)'}`
  return `; there is no tool "${missing}": ${known}`
}

const MAX_SUGGESTIONS = 3
const MAX_COMPARED = 60

function nearestNames(wanted: string, names: readonly string[]): string[] {
  const allowed = Math.max(2, Math.floor(wanted.length / 3))
  return names
    .map((name) => ({ name, distance: editDistance(wanted.slice(0, MAX_COMPARED), name.slice(0, MAX_COMPARED)) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name)
}

/** Levenshtein's distance by Wagner and Fischer's rows (1974). */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const swap = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
