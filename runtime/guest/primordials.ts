/**
 * Everything of the language that the guest itself uses, captured before the program runs, so
 * that a program which patches prototypes or globals changes its own code and nothing of ours.
 */

/** Turns a method into a function of its receiver that no later patch of `call` or `apply` reaches. */
const uncurry: <Fn>(method: (...args: never[]) => unknown) => Fn = Function.prototype.bind.bind(
  Function.prototype.call,
) as never // The type of bind over call cannot be written; each use below names the type it gets.

export const IntrinsicObject: object = Object.prototype
export const IntrinsicArray: object = Array.prototype
export const NewPromise: PromiseConstructor = Promise
export const NewError: ErrorConstructor = Error
export const NewTypeError: TypeErrorConstructor = TypeError
export const NewSet: SetConstructor = Set
export const NewWeakMap: WeakMapConstructor = WeakMap
export const StringOf: (value: unknown) => string = String
export const NumberOf: (value: unknown) => number = Number
export const BigIntOf: (token: string) => bigint = BigInt

export const create: (prototype: null) => Record<never, never> = Object.create
const definePropertyByDescriptor: ObjectConstructor['defineProperty'] = Object.defineProperty

/** Defines a property by own fields of the descriptor only: a program may have given Object.prototype a `get`. */
export function defineProperty(target: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
  definePropertyByDescriptor(target, key, { __proto__: null, ...descriptor } as PropertyDescriptor)
}

export const freeze: (value: object) => unknown = Object.freeze
export const getOwnPropertyDescriptor: ObjectConstructor['getOwnPropertyDescriptor'] = Object.getOwnPropertyDescriptor
export const getPrototypeOf: (value: unknown) => unknown = Object.getPrototypeOf
export const isSame: (left: unknown, right: unknown) => boolean = Object.is
export const hasOwn: (value: object, key: PropertyKey) => boolean = Object.hasOwn
export const ownKeys: (value: object) => (string | symbol)[] = Reflect.ownKeys
export const apply: (
  callee: (...args: readonly unknown[]) => unknown,
  receiver: unknown,
  args: readonly unknown[],
) => unknown = Reflect.apply
export const isArray: (value: unknown) => value is unknown[] = Array.isArray
export const isFiniteNumber: (value: unknown) => boolean = Number.isFinite
export const stringify: (text: string) => string = JSON.stringify
export const parse: (text: string) => unknown = JSON.parse
export const now: () => number = Date.now
export const floor: (value: number) => number = Math.floor

/** V8's own: cuts the frames above a function off a stack. */
export const captureStackTrace: (target: object, below: (...args: never[]) => unknown) => void = (
  Error as ErrorConstructor & {
    // V8 has it, the language's library does not name it.
    captureStackTrace(target: object, below: (...args: never[]) => unknown): void
  }
).captureStackTrace

/** A number literal that JSON.stringify writes as it is; newer than the language library that types it. */
export const rawJSON: (token: string) => object = (JSON as JSON & { rawJSON(token: string): object }).rawJSON

export const isEnumerable: (value: object, key: PropertyKey) => boolean = uncurry(Object.prototype.propertyIsEnumerable)
export const objectTag: (value: unknown) => string = uncurry(Object.prototype.toString)
export const charCodeAt: (text: string, index: number) => number = uncurry(String.prototype.charCodeAt)
export const slice: (text: string, start: number, end?: number) => string = uncurry(String.prototype.slice)
export const indexOf: (text: string, part: string, from?: number) => number = uncurry(String.prototype.indexOf)
export const includes: (text: string, part: string) => boolean = uncurry(String.prototype.includes)
export const repeat: (text: string, times: number) => string = uncurry(String.prototype.repeat)
export const toISOString: (date: object) => string = uncurry(Date.prototype.toISOString)
export const symbolText: (value: symbol) => string = uncurry(Symbol.prototype.toString)
export const regExpText: (value: object) => string = uncurry(RegExp.prototype.toString)
export const setAdd: (set: Set<unknown>, value: unknown) => void = uncurry(Set.prototype.add)
export const setHas: (set: Set<unknown>, value: unknown) => boolean = uncurry(Set.prototype.has)
export const setDelete: (set: Set<unknown>, value: unknown) => boolean = uncurry(Set.prototype.delete)
export const setForEach: (set: object, visit: (value: unknown) => void) => void = uncurry(Set.prototype.forEach)
export const mapForEach: (map: object, visit: (value: unknown, key: unknown) => void) => void = uncurry(
  Map.prototype.forEach,
)
export const weakMapGet: <Value>(map: WeakMap<object, Value>, key: object) => Value | undefined = uncurry(
  WeakMap.prototype.get,
)
export const weakMapSet: <Value>(map: WeakMap<object, Value>, key: object, value: Value) => void = uncurry(
  WeakMap.prototype.set,
)
export const promiseThen: (
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => unknown,
  rejected?: (reason: unknown) => unknown,
) => Promise<unknown> = uncurry(Promise.prototype.then)
export const mapSize: (map: object) => number = uncurry(getter(Map.prototype, 'size'))
export const setSize: (set: object) => number = uncurry(getter(Set.prototype, 'size'))

/** Parses a function body on its own, so that no text can close it and go on outside. */
export const AsyncFunction: (body: string) => () => Promise<unknown> = (async () => {}).constructor as never // Its type says only `Function`.

function getter(owner: object, key: string): () => unknown {
  const found = getOwnPropertyDescriptor(owner, key)?.get
  if (found === undefined) throw new NewError(`this engine has no ${key}`)
  return found
}
