/**
 * The way of one program: prepareProgram → bindTools → runtime.run → toOutcome. Everything else
 * in this folder is a stop on it.
 */
import { createHash, randomUUID } from 'node:crypto'
import { CodeRunFailedError, LogError, messageOf, ToolArgsError } from '../errors.ts'
import type { JsonValue } from '../json/value.ts'
import type { DispatchLog, RunLog } from '../log/dispatch-log.ts'
import type { ConsoleRecord } from '../log/events.ts'
import type { ToolExecutionPipeline } from '../pipeline/pipeline.ts'
import { type CompiledProgram, compileProgram } from '../program/compile.ts'
import type { PtcLimits } from '../sandbox/limits.ts'
import type { PtcRunResult, PtcRuntime } from '../sandbox/ptc-runtime.ts'
import { isForPrograms } from '../tool/callers.ts'
import type { ToolDefinition, ToolRunContext } from '../tool/definition.ts'
import { Bridge } from './bridge.ts'
import { cutForModel, failureText, successText } from './model-text.ts'
import { toOutcome, uncompiledOutcome, unrecordedOutcome } from './outcome.ts'
import { runCodeSchema } from './prompt.ts'
import type { RunEvent, RunEventListener, RunOutcome } from './run-outcome.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'

/** What a `run_code` tool works with. */
export interface RunCodeOptions {
  readonly pipeline: ToolExecutionPipeline
  readonly runtime: PtcRuntime
  readonly log: DispatchLog
  readonly limits: PtcLimits
  /** Owner of runs whose call has no agent. */
  readonly owner: string
  /** Identity of the run; a fresh one where absent. */
  readonly runId?: string
  readonly onEvent?: RunEventListener
  /** Told the whole outcome, of which the model reads a part. */
  readonly onOutcome?: (outcome: RunOutcome) => void
}

/** The tool that a model calls with a program. */
export function createRunCodeTool(options: RunCodeOptions): ToolDefinition {
  return {
    ...runCodeSchema(options.runtime),
    output: { schema: {}, render: (_args, value) => [{ type: 'text', text: renderedText(value) }] },
    execute: async (args, exec) => {
      const request = readRequest(args)
      const outcome = await runProgram(options, request, exec)
      options.onOutcome?.(outcome)
      return toToolValue(outcome)
    },
    presentCall: (args) => {
      const { code, description } = readRequest(args)
      return { card: 'generic', title: description, kind: 'execute', rawInput: code }
    },
  }
}

/** What the model asked for. */
interface RunRequest {
  readonly code: string
  readonly description: string
  readonly timeoutMs: number | undefined
}

async function runProgram(options: RunCodeOptions, request: RunRequest, exec: ToolRunContext): Promise<RunOutcome> {
  const { runId = randomUUID(), pipeline } = options
  const tools = callableTools(pipeline, exec)
  try {
    const log = await openRun({ options, runId, request, exec, tools })
    return await runRecorded({ options, runId, request, exec, tools, log, emit: contained(options.onEvent), lines: [] })
  } catch (failure) {
    if (!(failure instanceof LogError)) throw failure
    return unrecordedOutcome({ runId, logs: [], calls: [] }, failure)
  }
}

async function runRecorded(run: RecordedRun): Promise<RunOutcome> {
  const { options, runId, request, log, emit, lines } = run
  emit({ type: 'program-start', runId, source: request.code, description: request.description })

  const program = await prepareProgram(request.code, options.limits.maxSourceBytes)
  const outcome =
    'failure' in program
      ? uncompiledOutcome(runId, request.code, program.failure)
      : await runCompiled({ ...run, program })

  const ended = await endRun(log, outcome, lines)
  emit({ type: 'program-end', outcome: ended })
  return ended
}

/** What the program may call: conditional tools are left out where no step admitted them. */
function callableTools(
  { tools }: ToolExecutionPipeline,
  { agent, toolSet }: ToolRunContext,
): readonly ToolDefinition[] {
  return tools
    .definitions(agent, toolSet)
    .filter((tool) => isForPrograms(tool) && tools.executable(tool.name, agent, toolSet) !== undefined)
}

async function prepareProgram(source: string, maxSourceBytes: number): Promise<CompiledProgram | { failure: unknown }> {
  try {
    return await compileProgram(source, { maxSourceBytes })
  } catch (failure) {
    return { failure }
  }
}

/** One run that is on record. */
interface RecordedRun {
  readonly options: RunCodeOptions
  readonly runId: string
  readonly request: RunRequest
  readonly exec: ToolRunContext
  readonly tools: readonly ToolDefinition[]
  readonly log: RunLog
  readonly emit: RunEventListener
  /** Takes the console lines as they come, with their time. */
  readonly lines: ConsoleRecord[]
}

async function runCompiled(run: RecordedRun & { readonly program: CompiledProgram }): Promise<RunOutcome> {
  const { options, runId, program, request, exec, tools, log, emit, lines } = run
  const { pipeline, runtime, limits } = options
  const logBroke = new AbortController()
  const bridge = new Bridge({
    runId,
    pipeline,
    log,
    exec,
    tools,
    maxSubCalls: limits.maxSubCalls,
    maxParallelSubCalls: limits.maxParallelSubCalls,
    onEvent: emit,
    onLogFailure: (failure) => logBroke.abort(failure),
  })
  const wallMs = Math.min(limits.wallMs, request.timeoutMs ?? limits.wallMs)
  const running = runtime.run({
    program: program.code,
    filename: program.filename,
    namespaces: [bridge.namespace()],
    limits: { ...limits, wallMs },
    owner: exec.agent?.id ?? options.owner,
    signal: AbortSignal.any([exec.signal, logBroke.signal]),
    isParked: () => bridge.isParked,
    onLog: ({ level, text }) => {
      lines.push({ at: Date.now(), level, text })
      emit({ type: 'console', level, text })
    },
  })
  // A runtime that breaks its contract and rejects still leaves calls to drain and an end to record.
  const result = await running.catch((failure: unknown) => brokenRuntime(failure))
  const cut = await bridge.drain(result.error?.message ?? 'the program ended')
  const { calls, logFailure } = bridge
  return toOutcome({ runId, result, program, calls, cut, logFailure, toolNames: tools.map(({ name }) => name) })
}

function brokenRuntime(failure: unknown): PtcRunResult {
  const message = 'the sandbox broke'
  const error = {
    kind: 'sandbox-unavailable',
    code: 'SANDBOX_UNAVAILABLE',
    message,
    detail: messageOf(failure),
  } as const
  return { logs: [], error }
}

async function openRun(run: {
  options: RunCodeOptions
  runId: string
  request: RunRequest
  exec: ToolRunContext
  tools: readonly ToolDefinition[]
}): Promise<RunLog> {
  const { options, runId, request, exec, tools } = run
  return options.log.openRun({
    runId,
    callId: exec.callId,
    sessionId: exec.agent?.session.id,
    agentId: exec.agent?.id,
    owner: exec.agent?.id ?? options.owner,
    description: request.description,
    source: request.code,
    sourceHash: createHash('sha256').update(request.code).digest('hex'),
    toolNames: tools.map(({ name }) => name),
    limits: { ...options.limits },
  })
}

/** Writes the end; a run whose end cannot be written has failed, whatever it came to. */
async function endRun(log: RunLog, outcome: RunOutcome, lines: readonly ConsoleRecord[]): Promise<RunOutcome> {
  const { ok, value, error, logs } = outcome
  // Lines that the host added stand behind those of the program.
  const console = logs.map((text, index) => ({
    at: lines[index]?.at ?? Date.now(),
    level: lines[index]?.level ?? 'warn',
    text,
  }))
  try {
    await log.end({
      outcome: ok ? 'ok' : (error?.kind ?? 'exception'),
      console,
      ...(value === undefined ? {} : { value }),
      ...(error === undefined ? {} : { error: { ...error } }),
    })
    return outcome
  } catch (failure) {
    return unrecordedOutcome(outcome, failure)
  }
}

/** The model's arguments, checked; a program that comes without a description still runs. */
function readRequest(args: unknown): RunRequest {
  const given: Readonly<Record<string, unknown>> = typeof args === 'object' && args !== null ? { ...args } : {}
  const { code, description, timeoutMs } = given
  if (typeof code !== 'string') {
    throw new ToolArgsError([code === undefined ? 'missing required property "code"' : '"code" must be a string'])
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new ToolArgsError(['"timeoutMs" must be a positive number of milliseconds'])
  }
  const label = typeof description === 'string' ? description.trim() : ''
  return { code, description: label === '' ? 'Run a program' : label, timeoutMs }
}

/** The canonical value of a successful run. @throws CodeRunFailedError for a failed one. */
function toToolValue(outcome: RunOutcome): JsonValue {
  const { runId, logs, value, error } = outcome
  const whole = `\`ptc log show ${runId}\` has all of it`
  if (error !== undefined) {
    throw new CodeRunFailedError(cutForModel(failureText(outcome), whole).text, error.code ?? 'CODE_RUN_FAILED')
  }
  const { originalBytes } = cutForModel(successText(logs, value), whole)
  return {
    runId,
    logs: [...logs],
    ...(value === undefined ? {} : { result: value }),
    ...(originalBytes === undefined ? {} : { truncated: true, originalBytes }),
  }
}

function renderedText(value: JsonValue): string {
  // The value is the one that toToolValue made and the pipeline has only copied.
  const { runId, logs, result } = value as { runId: string; logs: string[]; result?: JsonValue }
  return cutForModel(successText(logs, result), `\`ptc log show ${runId}\` has all of it`).text
}

/** A listener of the host must not break a run. */
function contained(listener: RunEventListener | undefined): (event: RunEvent) => void {
  return (event) => {
    try {
      settledAtOnce<unknown>(listener?.(event))
    } catch {
      // Events are for watching; what a watcher throws is its own affair.
    }
  }
}
