/** A chain of listeners: each one may pass on with `next()`, or answer by itself. */

/**
 * Runs listeners outermost first; behind the last one stands `innermost`.
 * @param call calls one listener with its `next`.
 */
export function runWaterfall<Listener, Result>(
  listeners: readonly Listener[],
  call: (listener: Listener, next: () => Promise<Result>) => Promise<Result>,
  innermost: () => Promise<Result>,
): Promise<Result> {
  const at = async (index: number): Promise<Result> => {
    const listener = listeners[index]
    if (listener === undefined) return innermost()
    return call(listener, () => {
      const passedOn = at(index + 1)
      // A listener that does not wait for the rest must not end the host when the rest fails.
      passedOn.catch(() => undefined)
      return passedOn
    })
  }
  return at(0)
}
