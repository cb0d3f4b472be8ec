/** The tools admitted for one step: conditions are evaluated once, removals count at once. */
import type { ScopeKey } from '../tool/content.ts'
import type { ResolvedToolSet, ToolDefinition } from '../tool/definition.ts'
import type { ToolActivationContext } from '../tool/executor.ts'
import type { Layers, Registration } from './layers.ts'

/**
 * Evaluates every condition of the agent's view.
 * Rejects with the signal's reason, or with what a condition threw; nothing is published then.
 */
export async function resolveToolSet(layers: Layers, context: ToolActivationContext): Promise<ResolvedToolSet> {
  const { agent, signal } = context
  signal.throwIfAborted()
  const registrations = [...layers.view(agent).values()]
  const verdicts = await Promise.all(
    registrations.map(async ({ when }) => when === undefined || (await when(context)) === true),
  )
  signal.throwIfAborted()
  return new AdmittedTools(layers, agent, new Set(registrations.filter((_, index) => verdicts[index] === true)))
}

class AdmittedTools implements ResolvedToolSet {
  readonly #layers: Layers
  readonly #agent: ScopeKey
  #admitted: ReadonlySet<Registration>

  constructor(layers: Layers, agent: ScopeKey, admitted: ReadonlySet<Registration>) {
    this.#layers = layers
    this.#agent = agent
    this.#admitted = admitted
  }

  dispose(): void {
    this.#admitted = new Set()
  }

  view(scope: ScopeKey | undefined): ReadonlyMap<string, ToolDefinition> {
    if (scope !== this.#agent) return new Map()
    const live = [...this.#layers.view(scope)].filter(([, registration]) => this.#admitted.has(registration))
    return new Map(live.map(([name, { definition }]) => [name, definition]))
  }
}
