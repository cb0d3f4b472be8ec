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
    return listener === undefined ? innermost() : call(listener, () => at(index + 1))
  }
  return at(0)
}
