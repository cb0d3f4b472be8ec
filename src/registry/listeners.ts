/** Listeners of tool events, in the order of their registration, routed by agent. */
import type { Agent } from '../tool/content.ts'
import type { ToolEventName, ToolEvents } from '../tool/events.ts'
import { ancestry } from './layers.ts'

/** Options of one listener. */
export interface ListenerOptions {
  /** Puts it outermost; default: behind those that are there. */
  readonly prepend?: boolean
  /** Sees the calls of this agent and its descendants only; default: all calls. */
  readonly scope?: Agent
}

interface Entry<Name extends ToolEventName> {
  readonly listener: ToolEvents[Name]
  readonly scope: Agent | undefined
}

type Table = { [Name in ToolEventName]: Entry<Name>[] }

/** All listeners of one service. */
export class Listeners {
  readonly #table: Table = {
    'tools/change': [],
    'tools/pre-execute': [],
    'tools/execute': [],
    'tools/post-execute': [],
    'tools/ptc-dispatch-log': [],
    'tools/result': [],
  }

  /** Whether there is an event of this name. */
  knows(event: string): event is ToolEventName {
    return Object.hasOwn(this.#table, event)
  }

  /** Adds a listener and returns its exact, idempotent disposer. */
  add<Name extends ToolEventName>(event: Name, listener: ToolEvents[Name], options: ListenerOptions = {}): () => void {
    const entries: Entry<Name>[] = this.#table[event]
    const entry: Entry<Name> = { listener, scope: options.scope }
    if (options.prepend === true) entries.unshift(entry)
    else entries.push(entry)
    return () => {
      const index = entries.indexOf(entry)
      if (index !== -1) entries.splice(index, 1)
    }
  }

  /** Listeners that see this agent's calls; `tools/change` is seen by all. */
  for<Name extends ToolEventName>(event: Name, agent?: Agent): readonly ToolEvents[Name][] {
    const entries: readonly Entry<Name>[] = this.#table[event]
    if (entries.length === 0) return []
    const agents = ancestry(agent)
    return entries
      .filter(({ scope }) => scope === undefined || event === 'tools/change' || agents.includes(scope))
      .map(({ listener }) => listener)
  }
}
