// Records one run and dies without closing: killed-writer.ts <file>
import { openDispatchLog } from '../../src/index.ts'

const log = await openDispatchLog(process.argv[2] ?? '')
const facts = { callId: 'c', owner: 'o', description: '', source: '', sourceHash: '', toolNames: [], limits: {} }
await log.openRun({ ...facts, runId: 'written' })
process.kill(process.pid, 'SIGKILL')
