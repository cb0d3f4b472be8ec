/** The rule for numbers: a token that a double holds is a `number`, every other keeps its digits. */
import { isLosslessNumber, LosslessNumber } from 'lossless-json'

/** Longest number token that is accepted, in characters. */
export const MAX_NUMBER_CHARACTERS = 1_000

/**
 * Value of a JSON number token. A token is exact when the shortest text of its double
 * (ECMAScript's Number::toString) denotes the same decimal: 0.1, 1.10, 1e30 and -0 are. Of the
 * others, whole numbers written in digits are `bigint`, the rest `LosslessNumber`.
 */
export function numberFromToken(token: string): number | bigint | LosslessNumber {
  const double = Number(token)
  const shortest = String(double)
  if (shortest === token || (Number.isFinite(double) && isSameDecimal(token, shortest))) return double
  return /^-?\d+$/.test(token) ? BigInt(token) : new LosslessNumber(token)
}

/** Whether a value is an exact number: one that a double cannot hold. */
export function isExactNumber(value: unknown): value is bigint | LosslessNumber {
  return typeof value === 'bigint' || isLosslessNumber(value)
}

/** Digits of an exact number; undefined for every other value, whatever it pretends or throws. */
export function exactText(value: unknown): string | undefined {
  try {
    if (typeof value === 'bigint') return String(value)
    if (!isLosslessNumber(value)) return undefined
    const token: unknown = Object.getOwnPropertyDescriptor(value, 'value')?.value
    return typeof token === 'string' && isNumberToken(token) ? token : undefined
  } catch {
    return undefined
  }
}

/** Whether a text is a number as JSON writes it. */
function isNumberToken(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
}

/**
 * Compares two numbers of any kind by the decimals that they denote.
 * @returns below 0, 0 or above 0, as sorting takes it.
 */
export function compareNumbers(
  left: number | bigint | LosslessNumber,
  right: number | bigint | LosslessNumber,
): number {
  if (typeof left !== 'object' && typeof right !== 'object') return left < right ? -1 : left > right ? 1 : 0
  const [one, other] = [decimalOf(String(left)), decimalOf(String(right))]
  const [signOfOne, signOfOther] = [signOf(one), signOf(other)]
  if (signOfOne !== signOfOther || signOfOne === 0) return signOfOne - signOfOther
  return signOfOne * compareMagnitudes(one, other)
}

/** Whether there is an exact number anywhere in a value; false for what cannot be read. */
export function holdsExactNumber(root: unknown): boolean {
  const pending: unknown[] = [root]
  const seen = new Set<unknown>()
  try {
    while (pending.length > 0) {
      const value = pending.pop()
      if (isExactNumber(value)) return true
      if (typeof value !== 'object' || value === null || seen.has(value)) continue
      seen.add(value)
      for (const item of Array.isArray(value) ? value : Object.values(value)) {
        if (typeof item === 'bigint' || (typeof item === 'object' && item !== null)) pending.push(item)
      }
    }
  } catch {
    // A getter or proxy that throws: whoever takes the value as JSON will say so with its path.
  }
  return false
}

function isSameDecimal(left: string, right: string): boolean {
  const [one, other] = [decimalOf(left), decimalOf(right)]
  return (
    one.digits === other.digits && (one.digits === '' || (one.exponent === other.exponent && one.sign === other.sign))
  )
}

function signOf({ sign, digits }: Decimal): number {
  if (digits === '') return 0
  return sign === '-' ? -1 : 1
}

function compareMagnitudes(one: Decimal, other: Decimal): number {
  const places = one.digits.length + one.exponent - (other.digits.length + other.exponent)
  if (places !== 0 && !Number.isNaN(places)) return places
  if (one.digits === other.digits) return 0
  return one.digits < other.digits ? -1 : 1
}

interface Decimal {
  readonly sign: string
  /** Significant digits, without zeros at either end; empty for zero. */
  readonly digits: string
  /** Power of ten that the digits are multiplied by. */
  readonly exponent: number
}

function decimalOf(token: string): Decimal {
  const [mantissa = '', power = '0'] = token.toLowerCase().split('e')
  const unsigned = mantissa.replace('-', '')
  const [whole = '', fraction = ''] = unsigned.split('.')
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = trimZeros(all)
  const exponent = Number(power) - fraction.length + (all.length - digits.length)
  return { sign: mantissa.startsWith('-') ? '-' : '', digits, exponent }
}

/** A loop, since /0+$/ takes quadratic time on a text of zeros. */
function trimZeros(digits: string): string {
  let end = digits.length
  while (end > 0 && digits.codePointAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}
