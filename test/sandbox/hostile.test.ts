import { afterAll, describe, expect, it } from 'vitest'
import { IsolateRuntime } from '../../src/sandbox/isolate-runtime.ts'
import { programs } from '../helpers/corpus.ts'
import { watchLag } from '../helpers/lag.ts'
import { runIn, valueOf } from '../helpers/sandbox.ts'

const limits = { cpuMs: 700, wallMs: 8_000, memoryMb: 64, maxOutputBytes: 1_048_576 }
const runtime = new IsolateRuntime()
afterAll(() => runtime.dispose())

/** Every way in which a contained run may end. */
const KINDS = [undefined, 'exception', 'timeout', 'worker-exit', 'invalid-output', 'output-limit', 'protocol']

describe('a hostile program', () => {
  it.each(programs('programs', 'hostile-programs.jsonl'))(
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
