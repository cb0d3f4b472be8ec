/** Names the host callback that failed, so that an error says whose it is. */
import { messageOf } from '../errors.ts'

/** What a callback threw, with the name of the callback in front of the message. */
export class CallbackFailure extends Error {
  /** The value as it was thrown; identity and cancellation are read off it. */
  readonly thrown: unknown

  /** @param party the callback as a reader finds it, such as `guard "quota"`. */
  constructor(party: string, thrown: unknown) {
    super(`${party} failed: ${messageOf(thrown)}`, { cause: thrown })
    this.name = 'CallbackFailure'
    this.thrown = thrown
  }
}

/** A callback by its role and its function name, or by its place among its siblings, from 1. */
export function partyName(role: string, callback: unknown, place: number): string {
  const name = typeof callback === 'function' ? callback.name : ''
  return name === '' ? `${role} #${place}` : `${role} ${JSON.stringify(name)}`
}

/** Runs one callback of a party. @throws CallbackFailure with what it threw. */
export function blaming<Result>(party: string, call: () => Result): Result {
  try {
    return call()
  } catch (thrown) {
    throw new CallbackFailure(party, thrown)
  }
}
