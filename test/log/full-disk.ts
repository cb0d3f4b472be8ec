// Records more than fits and prints what became of it: full-disk.ts <file>
import { type LogError, openDispatchLog } from '../../src/index.ts'

const log = await openDispatchLog(process.argv[2] ?? '')
const open = (runId: string, source = ''): Promise<'written' | string> =>
  log
    .openRun({ runId, callId: 'c', owner: 'o', description: '', source, sourceHash: '', toolNames: [], limits: {} })
    .then(
      () => 'written',
      ({ code, message }: LogError) => `${code}: ${message}`,
    )

const kept = await open('kept')
// One turn, one transaction: the small one shares the fate of the large one.
const [large, beside] = await Promise.all([open('large', 'x'.repeat(4_000_000)), open('beside')])
const small = await open('small')
const runs = log.runs().map(({ run_id }) => run_id)
console.log(JSON.stringify({ kept, large, beside, small, runs }))
await log.close()
