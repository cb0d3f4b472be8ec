/** What the engine's own words do not say: what to write instead. */

const BIGINT_HINT =
  'a tool number beyond 2^53 arrives as a bigint: convert with Number(x) where precision may go, or use bigint on both sides'
const SEALED_HINT = 'a program has no modules, files, network or process; call a tool instead'

/** Globals that programs reach for and that are not there. */
const ABSENT_GLOBAL =
  /^(?:require|module|exports|process|Buffer|fetch|XMLHttpRequest|WebSocket|window|document|Deno|Bun|__dirname|__filename|WebAssembly|Atomics|SharedArrayBuffer) is not defined$/
/** What V8 says of `import()` where there is no loader. */
const NO_LOADER = 'Not supported'
const MISSING_TOOL = /\btools(?:\.|\[")([^\s"(]{1,100})"?\]? is not a function/

/** Advice for an uncaught error, to stand behind its message; empty where there is none. */
export function hintFor(message: string, source: string, toolNames: readonly string[]): string {
  if (message.startsWith('Cannot mix BigInt')) return `; ${BIGINT_HINT}`
  if (ABSENT_GLOBAL.test(message)) return `; ${SEALED_HINT}`
  if (message === NO_LOADER && source.includes('import')) return `: import() is not available; ${SEALED_HINT}`
  const missing = MISSING_TOOL.exec(message)?.[1]
  return missing === undefined ? '' : `; there is no tool "${missing}": ${suggestion(missing, toolNames)}`
}

const MAX_SUGGESTIONS = 3
const MAX_LISTED = 20
/** Names are compared by their beginning, so that a long one costs no more than others. */
const MAX_COMPARED = 60

function suggestion(wanted: string, names: readonly string[]): string {
  const near = nearestNames(wanted, names)
  if (near.length > 0) return `did you mean ${near.join(' or ')}?`
  return `known tools: ${names.slice(0, MAX_LISTED).join(', ') || '(none)'}`
}

function nearestNames(wanted: string, names: readonly string[]): string[] {
  const allowed = Math.max(2, Math.floor(wanted.length / 3))
  return names
    .map((name) => ({ name, distance: editDistance(wanted.slice(0, MAX_COMPARED), name.slice(0, MAX_COMPARED)) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name)
}

/** Levenshtein's distance by Wagner and Fischer's rows (1974). */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const swap = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
