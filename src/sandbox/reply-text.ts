/** JSON text of one value on its way into a program, with every digit of every number. */
import { holdsExactNumber, isExactNumber } from '../json/number.ts'
import { stringifyJson } from '../json/text.ts'
import type { JsonValue } from '../json/value.ts'

/** Text of a value; `isTagged` says that exact numbers are in it, see runtime/messages.ts. */
export interface ReplyText {
  readonly text: string
  readonly isTagged: boolean
}

/** Writes a value as the guest reads it. */
export function replyText(value: JsonValue): ReplyText {
  const isTagged = holdsExactNumber(value)
  return { text: stringifyJson(isTagged ? tag(value) : value), isTagged }
}

/** A copy in which strings carry `s:` and exact numbers are strings with `n:`. */
function tag(root: JsonValue): JsonValue {
  const box: JsonValue[] = []
  const pending: { readonly value: JsonValue; readonly put: (copy: JsonValue) => void }[] = [
    { value: root, put: (copy) => (box[0] = copy) },
  ]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, put } = next
    if (isExactNumber(value)) put(`n:${String(value)}`)
    else if (typeof value === 'string') put(`s:${value}`)
    else if (Array.isArray(value)) {
      const copy: JsonValue[] = []
      put(copy)
      value.forEach((item, index) => pending.push({ value: item, put: (tagged) => (copy[index] = tagged) }))
    } else if (typeof value === 'object' && value !== null) {
      const copy: { [key: string]: JsonValue } = {}
      put(copy)
      for (const [key, item] of Object.entries(value)) {
        setOwn(copy, key, null)
        pending.push({ value: item, put: (tagged) => setOwn(copy, key, tagged) })
      }
    } else put(value)
  }
  return box[0] ?? null
}

/** `__proto__` is a key like any other. */
function setOwn(target: object, key: string, value: JsonValue): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
