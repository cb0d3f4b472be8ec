/** Who may call a tool: a model by itself, or its programs. */
import type { ToolCaller, ToolDefinition } from './definition.ts'

/** Whether a tool takes calls of this kind; a tool that does not say is as the executor has it. */
export function mayBeCalledBy(
  { allowedCallers }: ToolDefinition,
  caller: ToolCaller,
  byDefault: readonly ToolCaller[],
): boolean {
  return (allowedCallers ?? byDefault).includes(caller)
}

/** Whether programs may call a tool. */
export function isForPrograms(tool: ToolDefinition): boolean {
  return mayBeCalledBy(tool, 'program', ['program'])
}
