/** Puts the house together: one instance with its tools, its sandbox and its log. */
import { randomUUID } from 'node:crypto'
import { PtcUsageError } from './errors.ts'
import { NativeExecutor } from './executor/native-executor.ts'
import { PtcExecutor } from './executor/ptc-executor.ts'
import type { RunEventListener, RunOutcome } from './executor/run-outcome.ts'
import { type DispatchLog, openDispatchLog } from './log/dispatch-log.ts'
import type { ApprovalHandler } from './pipeline/approval.ts'
import { ToolExecutionPipeline } from './pipeline/pipeline.ts'
import type { PolicyDefinition } from './policy/definition.ts'
import type { Policy } from './policy/policy.ts'
import { loadPolicy } from './policy/load-policy.ts'
import { retainCompiler } from './program/compiler-service.ts'
import { ToolsService } from './registry/tools-service.ts'
import { IsolateRuntime } from './sandbox/isolate-runtime.ts'
import type { PtcRuntime } from './sandbox/ptc-runtime.ts'
import { lowerLimits, type PtcLimits, resolveLimits } from './sandbox/limits.ts'
import type { Agent } from './tool/content.ts'
import type { ResolvedToolSet, ToolDefinition } from './tool/definition.ts'
import type { ToolBatchInput, ToolBatchResult, ToolRequestParts } from './tool/executor.ts'
import { RUN_CODE_NAME } from './tool/reserved.ts'

/** Options of {@link createPtc}. */
export interface PtcOptions {
  /** Tools registered for every agent; more can be registered later through `ptc.tools`. */
  readonly tools?: readonly ToolDefinition[]
  /** Path of the log file, or `:memory:` (default) for a log that ends with the instance. */
  readonly log?: string
  /** Budgets of every run, see docs/limits.md for names, units and defaults. */
  readonly limits?: Partial<PtcLimits>
  /** How the child process is walled in; `default` works on every platform. */
  readonly profile?: 'default'
  /**
   * How models reach the tools: `ptc` (default) through programs alone, save tools whose `allowedCallers` has
   * `direct`; `native` directly alone; `both` as they like. `tools.in(agent).setExecutor(…)` differs for one agent.
   */
  readonly executor?: ExecutorChoice
  /** Whether programs are type-checked before they run; only `off` is available. */
  readonly typeCheck?: 'off'
  /**
   * Rules that decide every call before any listener: a file (see `loadPolicy`) or the policy itself; docs/policies.md.
   * Default: listeners and guards alone decide.
   */
  readonly policy?: string | PolicyDefinition | Policy
  /** Answers calls that a policy wants approved; without it such calls are refused. */
  readonly approve?: ApprovalHandler
  /** Milliseconds until an unanswered approval counts as cancelled; positive, default 1,800,000 (30 minutes). */
  readonly approvalMs?: number
  /**
   * Milliseconds after which a tool body or policy that ignores its cancellation is given up; a body is
   * recorded as EFFECTS_UNKNOWN. Default: never, it is awaited.
   */
  readonly abandonAfterMs?: number
}

/** How models reach the tools of an instance. */
export type ExecutorChoice = 'ptc' | 'native' | 'both'

/** Options of one `ptc.run`. */
export interface PtcRunOptions {
  /** Cancels the run; default: nothing does. */
  readonly signal?: AbortSignal
  /** On whose behalf the program runs; default: the instance itself. */
  readonly agent?: Agent
  /** Tools admitted for this run. */
  readonly toolSet?: ResolvedToolSet
  /** Budgets lower than the instance's; a higher one has no effect. */
  readonly limits?: Partial<PtcLimits>
  /** What the program does, for the log. */
  readonly description?: string
  /** Told what happens, as it happens. */
  readonly onEvent?: RunEventListener
}

/** One instance; `close` ends everything that it started. */
export interface Ptc {
  /** Registry, scopes, policies: the contract's ToolsService. */
  readonly tools: ToolsService
  /** The durable record of every run. */
  readonly log: DispatchLog
  /** The way of every call; an executor of one's own takes it. */
  readonly pipeline: ToolExecutionPipeline
  /** Where programs run; `new PtcExecutor({ pipeline, runtime, log })` takes it. */
  readonly runtime: PtcRuntime
  /**
   * What to put into a model request, as the executor of the agent has it: under `ptc` one schema, `run_code`, and the prompt's sections.
   * @throws PtcUsageError when the agent's executor was unloaded and not replaced.
   */
  describe(scope?: { readonly agent?: Agent; readonly toolSet?: ResolvedToolSet }): ToolRequestParts
  /** Executes a model's calls: one result per call, in their order. */
  execute(input: ToolBatchInput): Promise<ToolBatchResult>
  /**
   * Runs one program without a model around it. Resolves for every failure of the program and of its sandbox and log.
   * @throws PtcUsageError on misuse.
   */
  run(code: string, options?: PtcRunOptions): Promise<RunOutcome>
  /** An agent whose calls, policies and log entries are its own. */
  agent(options: { readonly id: string; readonly parent?: Agent }): Agent
  /**
   * Cancels live runs and resolves once no child, timer or open file is left. A tool that ignores its
   * cancellation is awaited; with `abandon` it is given up at once and recorded as EFFECTS_UNKNOWN.
   */
  close(options?: { readonly abandon?: boolean }): Promise<void>
}

const OPTION_NAMES = [
  'tools',
  'log',
  'limits',
  'profile',
  'typeCheck',
  'executor',
  'policy',
  'approve',
  'approvalMs',
  'abandonAfterMs',
]
const RUN_OPTION_NAMES = ['signal', 'agent', 'toolSet', 'limits', 'description', 'onEvent']

/**
 * Creates an instance.
 * @throws PtcUsageError for an option or tool that cannot be, PolicyError for a policy that has faults, LogError for a log that cannot be opened.
 */
export async function createPtc(options: PtcOptions = {}): Promise<Ptc> {
  checkOptions(options)
  const limits = resolveLimits(options.limits)
  const tools = new ToolsService()
  for (const tool of options.tools ?? []) tools.register(tool)
  const policy = options.policy === undefined ? undefined : await loadPolicy(options.policy)
  const log = await openDispatchLog(options.log ?? ':memory:')
  try {
    return new PtcInstance({ options, limits, tools, log, policy })
  } catch (failure) {
    await log.close()
    throw failure
  }
}

interface InstanceParts {
  readonly options: PtcOptions
  readonly limits: PtcLimits
  readonly tools: ToolsService
  readonly log: DispatchLog
  readonly policy: Policy | undefined
}

class PtcInstance implements Ptc {
  readonly tools: ToolsService
  readonly log: DispatchLog
  readonly pipeline: ToolExecutionPipeline
  readonly runtime: PtcRuntime
  readonly #limits: PtcLimits
  readonly #executor: PtcExecutor
  readonly #releaseCompiler: () => Promise<void>
  readonly #closing = new AbortController()
  readonly #abandoning = new AbortController()
  readonly #live = new Set<Promise<unknown>>()
  readonly #self: Agent
  #closed: Promise<void> | undefined

  constructor(parts: InstanceParts) {
    const { options, limits, tools, log, policy } = parts
    this.tools = tools
    this.log = log
    this.#limits = limits
    this.runtime = new IsolateRuntime({ limits })
    this.pipeline = new ToolExecutionPipeline({
      tools,
      abandonSignal: this.#abandoning.signal,
      ...(policy === undefined ? {} : { policy }),
      ...(options.approve === undefined ? {} : { approve: options.approve }),
      ...(options.approvalMs === undefined ? {} : { approvalMs: options.approvalMs }),
      ...(options.abandonAfterMs === undefined ? {} : { abandonAfterMs: options.abandonAfterMs }),
    })
    this.#releaseCompiler = retainCompiler()
    const { pipeline, runtime } = this
    const { executor = 'ptc' } = options
    const directCalls = executor === 'both' ? 'all' : 'declared'
    this.#executor = new PtcExecutor({ pipeline, runtime, log, limits, directCalls })
    tools.setExecutor(executor === 'native' ? new NativeExecutor({ pipeline }) : this.#executor)
    this.#self = this.agent({ id: `ptc-${randomUUID()}` })
  }

  describe({ agent, toolSet }: { readonly agent?: Agent; readonly toolSet?: ResolvedToolSet } = {}): ToolRequestParts {
    return this.tools.describe(agent, toolSet)
  }

  execute(input: ToolBatchInput): Promise<ToolBatchResult> {
    return this.#alive(() =>
      this.tools.execute({ ...input, agent: input.agent ?? this.#self, signal: this.#fused(input.signal) }),
    )
  }

  run(code: string, options: PtcRunOptions = {}): Promise<RunOutcome> {
    return this.#alive(async () => {
      checkRunOptions(code, options)
      const { signal, agent = this.#self, toolSet, limits, description, onEvent } = options
      const runId = randomUUID()
      return this.#executor.run({
        runId,
        limits: lowerLimits(this.#limits, limits),
        ...(onEvent === undefined ? {} : { onEvent }),
        input: {
          callId: runId,
          name: RUN_CODE_NAME,
          arguments: { code, ...(description === undefined ? {} : { description }) },
          agent,
          ...(toolSet === undefined ? {} : { toolSet }),
          signal: this.#fused(signal),
        },
      })
    })
  }

  agent({ id, parent }: { readonly id: string; readonly parent?: Agent }): Agent {
    if (typeof id !== 'string' || id === '') throw new PtcUsageError('an agent id must be a text that is not empty')
    const session = this.log.session(id)
    return Object.freeze(parent === undefined ? { id, session } : { id, parent, session })
  }

  close({ abandon = false }: { readonly abandon?: boolean } = {}): Promise<void> {
    this.#closed ??= this.#close()
    if (abandon) this.#abandoning.abort()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort(new PtcUsageError('the instance was closed'))
    await Promise.allSettled(this.#live)
    await this.runtime.dispose()
    await this.#releaseCompiler()
    await this.log.close()
  }

  /** Runs work that `close` waits for. @throws PtcUsageError after close. */
  async #alive<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed !== undefined) throw new PtcUsageError('this instance is closed: create a new one with createPtc')
    const running = work()
    this.#live.add(running)
    try {
      return await running
    } finally {
      this.#live.delete(running)
    }
  }

  #fused(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
  }
}

function checkOptions(options: PtcOptions): void {
  refuseUnknown('createPtc', options, OPTION_NAMES)
  const { profile = 'default', typeCheck = 'off', tools = [], log = ':memory:' } = options
  if (profile !== 'default') throw new PtcUsageError(`profile must be 'default', ${JSON.stringify(profile)} came`)
  if (typeCheck !== 'off') throw new PtcUsageError(`typeCheck must be 'off', ${JSON.stringify(typeCheck)} came`)
  const choices: readonly unknown[] = ['ptc', 'native', 'both'] satisfies readonly ExecutorChoice[]
  if (!choices.includes(options.executor ?? 'ptc')) {
    throw new PtcUsageError(`executor must be 'ptc', 'native' or 'both', ${JSON.stringify(options.executor)} came`)
  }
  if (!Array.isArray(tools)) throw new PtcUsageError('tools must be an array of tool definitions, see defineTool')
  if (typeof log !== 'string' || log === '') throw new PtcUsageError("log must be a path or ':memory:'")
}

function checkRunOptions(code: string, options: PtcRunOptions): void {
  if (typeof code !== 'string') throw new PtcUsageError(`ptc.run takes the program as a text, ${typeof code} came`)
  if (typeof options !== 'object' || options === null)
    throw new PtcUsageError('the options of ptc.run must be an object')
  refuseUnknown('ptc.run', options, RUN_OPTION_NAMES)
  const { signal, agent, limits, description, onEvent } = options
  const faults = [
    [signal === undefined || signal instanceof AbortSignal, 'signal must be an AbortSignal'],
    [agent === undefined || typeof agent?.session?.append === 'function', 'agent must come from ptc.agent'],
    [limits === undefined || (typeof limits === 'object' && limits !== null), 'limits must be an object'],
    [description === undefined || typeof description === 'string', 'description must be a text'],
    [onEvent === undefined || typeof onEvent === 'function', 'onEvent must be a function'],
  ] as const
  const fault = faults.find(([isFine]) => !isFine)
  if (fault !== undefined) throw new PtcUsageError(`ptc.run: ${fault[1]}`)
}

function refuseUnknown(callee: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new PtcUsageError(`${callee} does not know the option ${unknown.join(', ')}; it knows ${known.join(', ')}`)
}
