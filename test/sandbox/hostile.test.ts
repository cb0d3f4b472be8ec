import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { IsolateRuntime } from '../../src/sandbox/isolate-runtime.ts'
import { watchLag } from '../helpers/lag.ts'
import { runIn, valueOf } from '../helpers/sandbox.ts'

const folder = new URL('../programs/', import.meta.url).pathname
const limits = { cpuMs: 700, wallMs: 8_000, memoryMb: 64, maxOutputBytes: 1_048_576 }
const runtime = new IsolateRuntime()
afterAll(() => runtime.dispose())

const files = readdirSync(folder).map((file) => ({
  name: basename(file, '.js'),
  program: readFileSync(join(folder, file), 'utf8'),
}))

const corpus = process.env['PTC_CORPUS']
const corpusFile = corpus === undefined ? undefined : join(corpus, 'hostile-programs.jsonl')
const rows: { name: string; program: string }[] =
  corpusFile !== undefined && existsSync(corpusFile)
    ? readFileSync(corpusFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []

/** Every way in which a contained run may end. */
const KINDS = [undefined, 'exception', 'timeout', 'worker-exit', 'invalid-output', 'output-limit', 'protocol']

describe('a hostile program', () => {
  it.each([...files, ...rows])(
    '$name ends by itself or is ended, and the host goes on',
    { timeout: 60_000 },
    async ({ program }) => {
      const lag = watchLag()
      const result = await runIn(runtime, program, { limits })
      const worst = lag.stop()

      expect(KINDS).toContain(result.error?.kind)
      expect(await valueOf(runIn(runtime, 'return (await tools.echo({ alive: true })).alive'))).toBe(true)
      expect(worst, 'longest block of the host in ms').toBeLessThan(1_000)
    },
  )
})
