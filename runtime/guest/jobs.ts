/** Promise jobs that no patch of the program's prototypes can divert. */
import { defineProperty, NewPromise, promiseThen } from './primordials.ts'

/** Runs a function from the job queue, once what runs now has returned. */
export function later(job: () => unknown): void {
  const settled = new NewPromise((resolve) => resolve(undefined))
  void promiseThen(unspecied(settled), job)
}

/** Calls one of two functions once a promise of the program settles. */
export function whenSettled(
  promise: Promise<unknown>,
  handlers: { readonly fulfilled: (value: unknown) => void; readonly rejected: (reason: unknown) => void },
): void {
  void promiseThen(unspecied(promise), handlers.fulfilled, handlers.rejected)
}

/** Hides the `constructor` that a program can patch from `then`, which looks it up on the promise. */
function unspecied(promise: Promise<unknown>): Promise<unknown> {
  void defineProperty(promise, 'constructor', { value: undefined })
  return promise
}
