import { afterAll, expect, it } from 'vitest'
import { IsolateRuntime } from '../../src/sandbox/isolate-runtime.ts'
import { programs } from '../helpers/corpus.ts'
import { runIn } from '../helpers/sandbox.ts'

const runtime = new IsolateRuntime()
afterAll(() => runtime.dispose())

/** What only a host has: its globals, its secrets, its paths, its native objects. */
const CANARY = 'canary-7f3a'
process.env['PTC_TEST_SECRET'] = CANARY
Object.defineProperty(globalThis, '__hostCanary', { value: CANARY, configurable: true })
const HOST_TRACES = [CANARY, 'object Reference', 'isolated-vm/', 'node:internal', '/src/sandbox', '/test/', '/runtime/']

it.each(programs('escapes', 'escape-attempts.jsonl'))('$name stays inside', async ({ program }) => {
  const before = Object.getOwnPropertyNames(globalThis).length
  const { value, error, logs } = await runIn(runtime, program, { limits: { cpuMs: 2_000, wallMs: 10_000 } })
  const seen = JSON.stringify({ value, error, logs })

  for (const trace of HOST_TRACES) expect(seen).not.toContain(trace)
  expect(typeof value === 'string' ? value.split(/\W/) : []).not.toContain('objectfunction')
  expect(Object.getOwnPropertyNames(globalThis).length).toBe(before)
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})
