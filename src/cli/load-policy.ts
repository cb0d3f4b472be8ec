/** The policy of a command line. */
import { loadPolicy, type Policy, type ToolDefinition } from '../index.ts'
import { oneLine } from './terminal.ts'

/** Loads the policy file, if there is one, and warns of rules that name no tool. @throws PolicyError */
export async function loadCliPolicy(
  path: string | undefined,
  tools: readonly ToolDefinition[],
): Promise<Policy | undefined> {
  if (path === undefined) return undefined
  const policy = await loadPolicy(path)
  for (const { rule, patterns } of policy.rulesWithoutTools(tools.map(({ name }) => name))) {
    process.stderr.write(
      `note: rule ${rule} of the policy names none of the tools: ${oneLine(patterns.join(', '), 60)}\n`,
    )
  }
  return policy
}
