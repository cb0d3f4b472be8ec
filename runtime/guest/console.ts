/** The program's console: every usual method, one line of output per call, level kept. */
import { inspect } from './inspect.ts'
import type { Outbox } from './outbox.ts'
import { create, defineProperty, floor, now, repeat } from './primordials.ts'

type ConsoleMethod = (...values: readonly unknown[]) => void

/** Largest indentation of groups. */
const MAX_GROUPS = 20

/** Installs `console` on the program's global object. */
export function installConsole(target: object, outbox: Outbox, filename: string): void {
  const counts: Record<string, number> = create(null)
  const timers: Record<string, number> = create(null)
  let groups = 0

  const write = (level: string, values: readonly unknown[]): void => {
    let text = repeat('  ', groups)
    for (let index = 0; index < values.length; index++) {
      text += `${index === 0 ? '' : ' '}${inspect(values[index], filename)}`
    }
    outbox.log(level, text)
  }
  const at =
    (level: string): ConsoleMethod =>
    (...values) =>
      write(level, values)
  const group: ConsoleMethod = (...values) => {
    if (values.length > 0) write('log', values)
    if (groups < MAX_GROUPS) groups++
  }
  const elapsed = (label: string): string => `${label}: ${floor(now() - (timers[label] ?? now()))}ms`

  const methods: Record<string, ConsoleMethod> = {
    log: at('log'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    debug: at('debug'),
    trace: at('debug'),
    dir: (value) => write('log', [value]),
    table: (value) => write('log', [value]),
    assert: (condition, ...values) => {
      if (!condition) write('error', ['Assertion failed', ...values])
    },
    count: (label = 'default') => {
      const key = inspect(label, filename)
      counts[key] = (counts[key] ?? 0) + 1
      write('log', [`${key}: ${counts[key]}`])
    },
    countReset: (label = 'default') => {
      counts[inspect(label, filename)] = 0
    },
    time: (label = 'default') => {
      timers[inspect(label, filename)] = now()
    },
    timeLog: (label = 'default') => write('log', [elapsed(inspect(label, filename))]),
    timeEnd: (label = 'default') => {
      const key = inspect(label, filename)
      write('log', [elapsed(key)])
      delete timers[key]
    },
    group,
    groupCollapsed: group,
    groupEnd: () => {
      if (groups > 0) groups--
    },
  }
  defineProperty(target, 'console', { value: methods, writable: true, enumerable: false, configurable: true })
}
