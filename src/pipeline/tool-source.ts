import type { Agent, ScopeKey } from '../tool/content.ts'
import type { ResolvedToolSet, ToolDefinition, ToolExecution, ToolGuardDenial } from '../tool/definition.ts'
import type { ToolEventName, ToolEvents } from '../tool/events.ts'

/** The look-ups that calls need; the registry satisfies them. */
export interface ToolSource {
  /** Registered definitions that this scope sees. */
  definitions(scope?: ScopeKey, toolSet?: ResolvedToolSet): readonly ToolDefinition[]
  /** The definition this call may execute, or undefined when it must fail as UNKNOWN_TOOL. */
  executable(name: string, scope?: ScopeKey, toolSet?: ResolvedToolSet): ToolDefinition | undefined
  /** First denial of the guards in force for this execution. */
  checkGuards(exec: ToolExecution): ToolGuardDenial | undefined
  /** Listeners that apply to this agent's calls, outermost first. */
  listeners<Name extends ToolEventName>(event: Name, agent?: Agent): readonly ToolEvents[Name][]
}
