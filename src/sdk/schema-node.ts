/** Reading schemas of unknown origin: own properties only, and no read can throw. */

/** An own property's value; undefined when there is none or when it cannot be read. */
export function ownValue(node: unknown, key: string): unknown {
  if (typeof node !== 'object' || node === null) return undefined
  try {
    return Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined
  } catch {
    return undefined
  }
}

/** Own string keys in code-unit order as written; empty when they cannot be read. */
export function ownKeys(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  try {
    return Object.keys(node)
  } catch {
    return []
  }
}

/** The elements of an array; undefined for anything else. */
export function elementsOf(value: unknown): unknown[] | undefined {
  try {
    return Array.isArray(value)
      ? Array.from({ length: value.length }, (_, index) => ownValue(value, String(index)))
      : undefined
  } catch {
    return undefined
  }
}
