/** Measures how long the host's event loop was ever blocked. */

/** Starts watching; `stop` returns the longest gap in milliseconds. */
export function watchLag(): { stop(): number } {
  const every = 20
  let last = performance.now()
  let worst = 0
  const timer = setInterval(() => {
    const now = performance.now()
    worst = Math.max(worst, now - last - every)
    last = now
  }, every)
  return {
    stop() {
      clearInterval(timer)
      return Math.max(worst, performance.now() - last - every)
    },
  }
}
