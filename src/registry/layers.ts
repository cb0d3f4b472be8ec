/** Registrations by scope: one global layer, and one for each agent that has its own. */
import type { Agent, ScopeKey } from '../tool/content.ts'
import type { ToolDefinition, ToolGuard } from '../tool/definition.ts'
import type { ToolExecutor, ToolRegistrationOptions } from '../tool/executor.ts'
import type { CompiledRestriction } from './restriction.ts'

/** One registered tool; its identity tells an admitted registration from a later one of the same name. */
export interface Registration {
  readonly definition: ToolDefinition
  readonly when: ToolRegistrationOptions['when']
}

/** One guard; the same function registered twice is two guards. */
export interface GuardEntry {
  readonly guard: ToolGuard
}

/** The executor of a scope; `executor` is undefined after it was unloaded and not replaced. */
export interface ExecutorSelection {
  executor: ToolExecutor | undefined
}

/** What one scope registered. */
export interface Layer {
  readonly tools: Map<string, Registration>
  readonly restrictions: Set<CompiledRestriction>
  /** Replaced once it is empty; never refilled. */
  guards: Set<GuardEntry>
  selection: ExecutorSelection | undefined
}

/** All layers of one service. */
export class Layers {
  readonly #global: Layer = emptyLayer()
  readonly #scoped = new WeakMap<ScopeKey, Layer>()

  /** The layer of a scope, made on first use. */
  of(scope: ScopeKey | undefined): Layer {
    if (scope === undefined) return this.#global
    const found = this.#scoped.get(scope)
    if (found !== undefined) return found
    const made = emptyLayer()
    this.#scoped.set(scope, made)
    return made
  }

  /** Drops the layer of a scope that has nothing left. */
  reclaim(scope: ScopeKey | undefined): void {
    const layer = scope === undefined ? undefined : this.#scoped.get(scope)
    if (scope === undefined || layer === undefined) return
    const { tools, restrictions, guards, selection } = layer
    if (tools.size + restrictions.size + guards.size === 0 && selection === undefined) this.#scoped.delete(scope)
  }

  /** Layers from the global one down to the scope's own. */
  chain(scope: ScopeKey | undefined): readonly Layer[] {
    const scoped = ancestry(scope)
      .toReversed()
      .flatMap((agent) => this.#scoped.get(agent) ?? [])
    return [this.#global, ...scoped]
  }

  /** The registration that a scope sees under a name. */
  find(name: string, scope: ScopeKey | undefined): Registration | undefined {
    for (const layer of this.chain(scope).toReversed()) {
      const own = layer.tools.get(name)
      if (own !== undefined) return own
      for (const restriction of layer.restrictions) if (!restriction.admits(name)) return undefined
    }
    return undefined
  }

  /** Everything that a scope sees: inherited names pass each layer's restrictions, own ones shadow them. */
  view(scope: ScopeKey | undefined): ReadonlyMap<string, Registration> {
    let seen = new Map<string, Registration>()
    for (const { tools, restrictions } of this.chain(scope)) {
      if (restrictions.size > 0) {
        seen = new Map([...seen].filter(([name]) => [...restrictions].every((restriction) => restriction.admits(name))))
      }
      for (const [name, registration] of tools) seen.set(name, registration)
    }
    return seen
  }

  /** Names that a scope inherits, before its own layer. */
  inheritedNames(scope: ScopeKey): readonly string[] {
    return [...this.view(scope.parent).keys()]
  }
}

/** An agent and its parents, nearest first; a circle of parents ends where it closes. */
export function ancestry(agent: Agent | undefined): readonly Agent[] {
  const found: Agent[] = []
  for (let next = agent; next !== undefined && !found.includes(next); next = next.parent) found.push(next)
  return found
}

function emptyLayer(): Layer {
  return { tools: new Map(), restrictions: new Set(), guards: new Set(), selection: undefined }
}
