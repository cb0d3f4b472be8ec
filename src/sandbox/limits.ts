import { PtcUsageError } from '../errors.ts'
import type { RunLimits } from './ptc-runtime.ts'

/** Budgets that an operator may set; docs/limits.md says what happens at each. */
export interface PtcLimits extends RunLimits {
  /** Sub-calls of one run whose bodies overlap. */
  readonly maxParallelSubCalls: number
  /** Source text of a program, bytes of UTF-8. */
  readonly maxSourceBytes: number
}

const KIB = 1_024
const MIB = 1_024 * KIB

/** What holds where the operator sets nothing. */
export const DEFAULT_LIMITS: PtcLimits = Object.freeze({
  cpuMs: 30_000,
  wallMs: 300_000,
  memoryMb: 128,
  maxSubCalls: 1_000,
  maxParallelSubCalls: 10,
  maxMessageBytes: 64 * MIB,
  maxMessageBytesOut: 4 * MIB,
  maxBridgeBytes: 256 * MIB,
  maxOutputBytes: 16 * MIB,
  maxSourceBytes: 128 * KIB,
})

/** Smallest and largest setting of each budget. */
const RANGES: { readonly [Name in keyof PtcLimits]: readonly [smallest: number, largest: number] } = {
  cpuMs: [1, 2_147_483_647],
  wallMs: [1, 2_147_483_647],
  memoryMb: [8, 4_096],
  maxSubCalls: [0, 1_000_000],
  maxParallelSubCalls: [1, 1_000],
  maxMessageBytes: [2, 256 * MIB],
  maxMessageBytesOut: [2, 256 * MIB],
  maxBridgeBytes: [2, Number.MAX_SAFE_INTEGER],
  maxOutputBytes: [64, 256 * MIB],
  maxSourceBytes: [1, 1 * MIB],
}

/**
 * Fills in the defaults.
 * @throws PtcUsageError for an unknown name or a number outside its range.
 */
export function resolveLimits(given: Partial<PtcLimits> = {}, base: PtcLimits = DEFAULT_LIMITS): PtcLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!isLimitName(name)) {
      throw new PtcUsageError(`unknown limit "${name}"; known limits: ${Object.keys(RANGES).join(', ')}`)
    }
    const [smallest, largest] = RANGES[name]
    if (value !== undefined && !(Number.isInteger(value) && value >= smallest && value <= largest)) {
      throw new PtcUsageError(
        `limit ${name} must be a whole number from ${smallest} to ${largest}, ${String(value)} came`,
      )
    }
  }
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...base, ...set }
}

/** Takes the lower of each pair: a run may ask for less than the operator allows, never for more. */
export function lowerLimits(allowed: PtcLimits, wanted: Partial<PtcLimits> = {}): PtcLimits {
  const asked = resolveLimits(wanted, allowed)
  const lowered = Object.entries(allowed).map(([name, value]) => [
    name,
    isLimitName(name) ? Math.min(value, asked[name]) : value,
  ])
  return { ...allowed, ...Object.fromEntries(lowered) }
}

function isLimitName(name: string): name is keyof PtcLimits {
  return Object.hasOwn(RANGES, name)
}
