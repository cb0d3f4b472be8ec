import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { IsolateRuntime } from '../../src/sandbox/isolate-runtime.ts'
import { runIn } from '../helpers/sandbox.ts'

const folder = new URL('../escapes/', import.meta.url).pathname
const runtime = new IsolateRuntime()
afterAll(() => runtime.dispose())

const files = readdirSync(folder).map((file) => ({
  name: basename(file, '.js'),
  program: readFileSync(join(folder, file), 'utf8'),
}))
const corpus = process.env['PTC_CORPUS']
const corpusFile = corpus === undefined ? undefined : join(corpus, 'escape-attempts.jsonl')
const rows: { name: string; program: string }[] =
  corpusFile !== undefined && existsSync(corpusFile)
    ? readFileSync(corpusFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []

/** What only a host has: its globals, its secrets, its paths, its native objects. */
const CANARY = 'canary-7f3a'
process.env['PTC_TEST_SECRET'] = CANARY
Object.defineProperty(globalThis, '__hostCanary', { value: CANARY, configurable: true })
const HOST_TRACES = [CANARY, 'object Reference', 'isolated-vm/', 'node:internal', '/src/sandbox', '/test/', '/runtime/']

it.each([...files, ...rows])('$name stays inside', async ({ program }) => {
  const before = Object.getOwnPropertyNames(globalThis).length
  const { value, error, logs } = await runIn(runtime, program, { limits: { cpuMs: 2_000, wallMs: 10_000 } })
  const seen = JSON.stringify({ value, error, logs })

  for (const trace of HOST_TRACES) expect(seen).not.toContain(trace)
  expect(typeof value === 'string' ? value.split(/\W/) : []).not.toContain('objectfunction')
  expect(Object.getOwnPropertyNames(globalThis).length).toBe(before)
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})
