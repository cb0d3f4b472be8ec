/** What counts as a plain object or a plain array, of any realm, whatever the value throws. */

/** Kind of a plain container; undefined for anything else. Throws what a proxy throws. */
export function containerKind(value: object): 'array' | 'object' | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(value)) return isIntrinsic(prototype, 'Array') ? 'array' : undefined
  return prototype === null || isIntrinsic(prototype, 'Object') ? 'object' : undefined
}

/** Whether a value is an object with the prototype of a plain object of any realm, or with none. */
export function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return kindOf(value) === 'object'
}

/** Copy of the own properties of a plain object; undefined when any is hidden, named by a symbol or throws. */
export function plainFields(value: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    if (!isPlainRecord(value)) return undefined
    const keys = Reflect.ownKeys(value)
    const isClean = keys.every(
      (key) => typeof key === 'string' && Object.getOwnPropertyDescriptor(value, key)?.enumerable === true,
    )
    return isClean ? Object.fromEntries(keys.map((key) => [String(key), value[String(key)]])) : undefined
  } catch {
    return undefined
  }
}

/** Copy of the items of a plain array; undefined when it has gaps or other properties, or throws. */
export function plainItems(value: unknown): readonly unknown[] | undefined {
  try {
    if (kindOf(value) !== 'array' || !Array.isArray(value)) return undefined
    return Reflect.ownKeys(value).length === value.length + 1 ? Array.from<unknown>(value) : undefined
  } catch {
    return undefined
  }
}

/** As Array.isArray, which throws for a revoked proxy. */
export function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

function kindOf(value: unknown): 'array' | 'object' | undefined {
  try {
    return typeof value === 'object' && value !== null ? containerKind(value) : undefined
  } catch {
    return undefined
  }
}

/** The intrinsic prototype of this realm, or of another one, which only its native constructor tells. */
function isIntrinsic(prototype: unknown, name: 'Array' | 'Object'): boolean {
  if (prototype === (name === 'Array' ? Array.prototype : Object.prototype)) return true
  if (typeof prototype !== 'object' || prototype === null) return false
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  return (
    typeof constructor === 'function' &&
    Object.getOwnPropertyDescriptor(constructor, 'prototype')?.value === prototype &&
    Function.prototype.toString.call(constructor) === `function ${name}() { [native code] }`
  )
}
