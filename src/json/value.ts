import type { LosslessNumber } from 'lossless-json'

/**
 * Any JSON value. A number token that a double cannot hold exactly is a `bigint` (integers)
 * or a `LosslessNumber` (all others), so that no digit is lost on any way through the host.
 */
export type JsonValue =
  | null
  | boolean
  | string
  | number
  | bigint
  | LosslessNumber
  | JsonValue[]
  | { [key: string]: JsonValue }
