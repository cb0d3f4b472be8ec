/** One scope's filter over what it inherits. */
import { PtcUsageError } from '../errors.ts'
import type { ToolRestriction } from '../tool/executor.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'

/** A filter whose names were copied when it was made. */
export interface CompiledRestriction {
  admits(name: string): boolean
}

/**
 * Compiles a filter.
 * @param inherited names that the scope inherits now.
 * @throws PtcUsageError for an empty filter, an unknown name or the reserved one.
 */
export function compileRestriction(
  { allow, deny }: ToolRestriction,
  inherited: readonly string[],
): CompiledRestriction {
  if (allow === undefined && deny === undefined) {
    throw new PtcUsageError('tools.restrict({}) is a no-op; give allow, deny or both')
  }
  const named = [...(allow ?? []), ...(deny ?? [])]
  if (named.includes(RUN_CODE_NAME)) {
    throw new PtcUsageError(
      `tools.restrict cannot name reserved "${RUN_CODE_NAME}", the PTC mode presentation transport`,
    )
  }
  const unknown = named.filter((name) => !inherited.includes(name))
  if (unknown.length > 0) {
    const known = inherited.length === 0 ? '(none)' : [...inherited].sort().join(', ')
    const list = unknown.map((name) => JSON.stringify(name)).join(', ')
    throw new PtcUsageError(`tools.restrict names unknown global tool(s) ${list}; known global tools: ${known}`)
  }
  const [allowed, denied] = [allow === undefined ? undefined : new Set(allow), new Set(deny)]
  return { admits: (name) => (allowed === undefined || allowed.has(name)) && !denied.has(name) }
}
