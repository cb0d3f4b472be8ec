/** Freezes a value that is JSON, all levels of it, iteratively. */
export function deepFreeze<Value>(value: Value): Value {
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const item of Object.values(next)) if (typeof item === 'object' && item !== null) pending.push(item)
  }
  return value
}
