/** The registry: who may call what, who decides, and which executor takes a batch. */
import { PtcUsageError } from '../errors.ts'
import { snapshotJson } from '../json/snapshot.ts'
import { blaming, partyName } from '../tool/blame.ts'
import type { Agent, ScopeKey, ToolSchema } from '../tool/content.ts'
import type { ResolvedToolSet, ToolDefinition, ToolExecution, ToolGuard, ToolGuardDenial } from '../tool/definition.ts'
import type { ToolEventName, ToolEvents } from '../tool/events.ts'
import type {
  ToolActivationContext,
  ToolBatchInput,
  ToolBatchResult,
  ToolExecutor,
  ToolRegistrationOptions,
  ToolRequestParts,
  ToolRestriction,
} from '../tool/executor.ts'
import { checkDefinition } from './check-definition.ts'
import { type ExecutorSelection, type GuardEntry, Layers, type Registration } from './layers.ts'
import { type ListenerOptions, Listeners } from './listeners.ts'
import { compileRestriction } from './restriction.ts'
import { resolveToolSet } from './tool-set.ts'
import { settledAtOnce } from '../tool/settled-at-once.ts'

/** Registers tools, policies and executors by scope; every disposer is exact and idempotent. */
export class ToolsService {
  #layers = new Layers()
  #listeners = new Listeners()
  #scope: ScopeKey | undefined;

  /** The same service with an agent's scope: what is registered through it belongs to that agent. */
  in(agent: Agent): ToolsService {
    const scoped = new ToolsService()
    scoped.#layers = this.#layers
    scoped.#listeners = this.#listeners
    scoped.#scope = agent
    return scoped
  }

  /**
   * Registers a tool, globally or in the agent's scope; scoped tools shadow inherited ones.
   * @throws PtcUsageError for a duplicate within one layer, the reserved name or a bad definition;
   * JsonSchemaError for an output schema outside the subset; whatever a `tools/change` listener throws.
   */
  register(definition: ToolDefinition, { when }: ToolRegistrationOptions = {}): () => void {
    checkDefinition(definition)
    const { name } = definition
    if (when !== undefined && typeof when !== 'function') {
      throw new PtcUsageError(`tool "${name}" when must be a function`)
    }
    const { tools } = this.#layers.of(this.#scope)
    if (tools.has(name)) throw new PtcUsageError(duplicateMessage(name, this.#scope))
    const registration: Registration = { definition, when }
    tools.set(name, registration)
    return this.#announced(() => tools.get(name) === registration && tools.delete(name))
  }

  /**
   * Filters what the agent's scope inherits; filters intersect, own registrations are exempt.
   * @throws PtcUsageError without a scope, for an empty filter, an unknown name or the reserved one;
   * whatever a `tools/change` listener throws.
   */
  restrict(filter: ToolRestriction): () => void {
    const scope = this.#scope
    if (scope === undefined)
      throw new PtcUsageError('tools.restrict requires a scoped context: tools.in(agent).restrict(…)')
    const restriction = compileRestriction(filter, this.#layers.inheritedNames(scope))
    const { restrictions } = this.#layers.of(scope)
    restrictions.add(restriction)
    return this.#announced(() => restrictions.delete(restriction))
  }

  /** The definition that a scope sees under a name; without `toolSet` conditional ones are included. */
  get(name: string, scope: ScopeKey | undefined = this.#scope, toolSet?: ResolvedToolSet): ToolDefinition | undefined {
    return toolSet === undefined ? this.#layers.find(name, scope)?.definition : toolSet.view(scope).get(name)
  }

  /** The definition that a call may execute; without `toolSet` conditional ones are left out. */
  executable(
    name: string,
    scope: ScopeKey | undefined = this.#scope,
    toolSet?: ResolvedToolSet,
  ): ToolDefinition | undefined {
    if (toolSet !== undefined) return toolSet.view(scope).get(name)
    const found = this.#layers.find(name, scope)
    return found?.when === undefined ? found?.definition : undefined
  }

  /** Evaluates conditions once for a step. Rejects when one does or the signal is aborted. */
  resolve(context: ToolActivationContext): Promise<ResolvedToolSet> {
    return resolveToolSet(this.#layers, context)
  }

  /** Definitions that a scope sees, limited to the step's admission when given. */
  definitions(scope: ScopeKey | undefined = this.#scope, toolSet?: ResolvedToolSet): readonly ToolDefinition[] {
    if (toolSet !== undefined) return [...toolSet.view(scope).values()]
    return [...this.#layers.view(scope).values()].map(({ definition }) => definition)
  }

  /** Model-facing fields of those definitions, as detached copies. */
  schemas(scope: ScopeKey | undefined = this.#scope, toolSet?: ResolvedToolSet): ToolSchema[] {
    return this.definitions(scope, toolSet).map(({ name, description, parameters }) => ({
      name,
      description,
      // Registration saw to it that parameters are a JSON object.
      parameters: snapshotJson(parameters) as ToolSchema['parameters'],
    }))
  }

  /**
   * Provides the executor of the scope, or the default one.
   * @returns the disposer; the selection is unavailable after it until it is replaced.
   * @throws PtcUsageError when the scope has one already.
   */
  setExecutor(executor: ToolExecutor): () => void {
    const layer = this.#layers.of(this.#scope)
    if (layer.selection?.executor !== undefined) {
      throw new PtcUsageError('this scope has an executor already; dispose of it before setting another')
    }
    const selection: ExecutorSelection = { executor }
    layer.selection = selection
    return () => {
      selection.executor = undefined
    }
  }

  /**
   * Delegates a batch to the nearest executor of its agent, chosen now; without an agent of its own
   * the batch belongs to this scope's.
   * @throws PtcUsageError for a bad batch or when no executor is available.
   */
  async execute(batch: ToolBatchInput): Promise<ToolBatchResult> {
    const input = batch.agent === undefined && this.#scope !== undefined ? { ...batch, agent: this.#scope } : batch
    checkBatch(input)
    return this.#executorOf(input.agent).execute(input)
  }

  /**
   * What a model request of this scope needs, as its executor has it; conditional tools are in it where `toolSet` admits them.
   * @throws PtcUsageError when no executor is available.
   */
  describe(scope: ScopeKey | undefined = this.#scope, toolSet?: ResolvedToolSet): ToolRequestParts {
    const executor = this.#executorOf(scope)
    const tools = this.definitions(scope, toolSet).filter(
      (tool) => this.executable(tool.name, scope, toolSet) !== undefined,
    )
    const sections = executor.sectionsFor?.(tools) ?? executor.sections ?? []
    return { ...executor.describe(tools), sections }
  }

  /** Adds a final check that can only deny. */
  guard(guard: ToolGuard): () => void {
    if (typeof guard !== 'function') throw new PtcUsageError('a guard must be a function')
    const layer = this.#layers.of(this.#scope)
    const { guards } = layer
    const entry: GuardEntry = { guard }
    guards.add(entry)
    return () => {
      if (!guards.delete(entry)) return
      // A check under way ends with the guards it began with; what comes after the last one left is for the next.
      if (guards.size === 0) layer.guards = new Set()
      this.#layers.reclaim(this.#scope)
    }
  }

  /**
   * The first denial, global guards first, then from the farthest ancestor to the agent itself.
   * @throws CallbackFailure that names a guard which threw, or whose answer is none, a promise for example.
   */
  checkGuards(exec: ToolExecution): ToolGuardDenial | undefined {
    let place = 0
    for (const { guards } of this.#layers.chain(exec.agent)) {
      for (const { guard } of guards) {
        const party = partyName('guard', guard, ++place)
        const denial = blaming(party, () => asDenial(settledAtOnce(guard(exec))))
        if (denial !== undefined) return denial
      }
    }
    return undefined
  }

  /**
   * Adds a listener to a tool event.
   * @returns its exact disposer.
   * @throws PtcUsageError for an event that does not exist.
   */
  on<Name extends ToolEventName>(event: Name, listener: ToolEvents[Name], options: ListenerOptions = {}): () => void {
    if (!this.#listeners.knows(event)) throw new PtcUsageError(`there is no tool event ${JSON.stringify(event)}`)
    if (typeof listener !== 'function') throw new PtcUsageError(`a listener of ${event} must be a function`)
    const scope = options.scope ?? this.#scope
    return this.#listeners.add(event, listener, scope === undefined ? options : { ...options, scope })
  }

  /** Listeners that see this agent's calls, outermost first. */
  listeners<Name extends ToolEventName>(event: Name, agent?: Agent): readonly ToolEvents[Name][] {
    return this.#listeners.for(event, agent)
  }

  /** The nearest executor of a scope. @throws PtcUsageError when there is none, or it was unloaded. */
  #executorOf(scope: ScopeKey | undefined): ToolExecutor {
    const selected = this.#layers
      .chain(scope)
      .toReversed()
      .find(({ selection }) => selection !== undefined)
    const executor = selected?.selection?.executor
    if (executor !== undefined) return executor
    throw new PtcUsageError(
      selected === undefined
        ? 'no executor is set: call tools.setExecutor first'
        : 'the executor of this scope was unloaded and not replaced',
    )
  }

  /** Tells of a change just made, or takes it back when a listener throws; returns its disposer. */
  #announced(undo: () => boolean): () => void {
    const remove = (): boolean => {
      if (!undo()) return false
      this.#layers.reclaim(this.#scope)
      return true
    }
    try {
      this.#changed()
    } catch (failure) {
      remove()
      throw failure
    }
    return () => {
      if (remove()) this.#changed()
    }
  }

  #changed(): void {
    for (const listener of this.#listeners.for('tools/change')) settledAtOnce(listener())
  }
}

function duplicateMessage(name: string, scope: ScopeKey | undefined): string {
  return scope === undefined
    ? `tool "${name}" is already registered; dispose of it first, or register through tools.in(agent) to shadow it for one agent`
    : `tool "${name}" is already registered in this scope`
}

function asDenial(denial: string | ToolGuardDenial | undefined): ToolGuardDenial | undefined {
  if (denial === undefined) return undefined
  if (typeof denial === 'string') return { reason: denial }
  // Guards may be written without types; an answer that cannot be read is no permission.
  if (typeof denial?.reason === 'string') return denial
  throw new PtcUsageError('a guard must answer at once: undefined, a reason, or { reason, info? }')
}

function checkBatch({ calls, signal, agent, log, maxParallelToolCalls }: ToolBatchInput): void {
  if (!Array.isArray(calls)) throw new PtcUsageError('a batch needs calls: an array of tool calls')
  for (const call of calls) {
    const isCall =
      typeof call?.id === 'string' &&
      call.id !== '' &&
      typeof call.name === 'string' &&
      typeof call.arguments === 'string'
    if (!isCall) throw new PtcUsageError("a call must be { type: 'tool-call', id, name, arguments: raw JSON text }")
  }
  if (!(signal instanceof AbortSignal)) throw new PtcUsageError('a batch needs signal: an AbortSignal')
  if (log !== undefined && agent === undefined)
    throw new PtcUsageError('a batch with log needs the agent that owns the step')
  if (maxParallelToolCalls !== undefined && !(Number.isInteger(maxParallelToolCalls) && maxParallelToolCalls > 0)) {
    throw new PtcUsageError('maxParallelToolCalls must be a positive integer')
  }
}
