// Records runs one after the other and says each id once its record is committed: writer.ts <file> <name> <runs>
import { openDispatchLog } from '../../src/index.ts'

const [, , path = '', name = '', runs = '0'] = process.argv
const log = await openDispatchLog(path)
for (let index = 0; index < Number(runs); index++) {
  const runId = `${name}-${index}`
  const facts = { callId: runId, owner: name, description: '', source: '', sourceHash: '', toolNames: [], limits: {} }
  const run = await log.openRun({ ...facts, runId })
  await run.end({ outcome: 'ok', console: [] })
  process.send?.(runId)
}
await log.close()
if (process.connected) process.disconnect()
