import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DispatchLog, LogError, openDispatchLog, parseJson, stringifyJson } from '../../src/index.ts'
import type { RunStart, SubCallStart } from '../../src/log/events.ts'
import { APPLICATION_ID } from '../../src/log/schema.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const runStart = (runId: string): RunStart => ({
  runId,
  callId: runId,
  owner: 'owner',
  description: 'A run',
  source: 'return 1',
  sourceHash: 'ab',
  toolNames: ['tool'],
  limits: { cpuMs: 1 },
})
const callStart = (runId: string, number: number): SubCallStart => ({
  rootCallId: runId,
  parentCallId: runId,
  subCallId: `${runId}:ptc:${number}`,
  name: 'tool',
  arguments: { number },
  at: 1_000 + number,
})

/** One whole run with one call. */
async function record(log: DispatchLog, runId: string): Promise<void> {
  const run = await log.openRun(runStart(runId))
  await run.start(callStart(runId, 1))
  await run.settle({
    ...callStart(runId, 1),
    at: 1_010,
    isError: true,
    content: [{ type: 'text', text: 'é' }],
    error: { name: 'E', code: 'BAD' },
  })
  await run.end({ outcome: 'ok', value: 7, console: [{ at: 5, level: 'warn', text: 'line' }] })
}

describe('what is recorded', () => {
  it('comes back as runs, calls and console', async () => {
    const log = await openDispatchLog(join(folder, 'log.db'))
    await record(log, 'first')
    const { run, calls, console } = log.run('first')
    expect(run).toMatchObject({
      run_id: 'first',
      outcome: 'ok',
      owner: 'owner',
      description: 'A run',
      source: 'return 1',
      value: 7,
      limits: { cpuMs: 1 },
    })
    expect(calls).toEqual([
      {
        run_id: 'first',
        sub_call_id: 'first:ptc:1',
        parent_call_id: 'first',
        root_call_id: 'first',
        name: 'tool',
        started_at: 1_001,
        settled_at: 1_010,
        duration_ms: 9,
        is_error: true,
        error_code: 'BAD',
        bytes_in: 12,
        bytes_out: 29,
        arguments: { number: 1 },
        content: [{ type: 'text', text: 'é' }],
      },
    ])
    expect(console).toEqual([{ run_id: 'first', at: 5, level: 'warn', text: 'line' }])
    await log.close()
  })

  it('is committed before the append resolves, for every other connection', async () => {
    const log = await openDispatchLog(join(folder, 'log.db'))
    const run = await log.openRun(runStart('r'))
    await run.start(callStart('r', 1))
    const reader = await openDispatchLog(join(folder, 'log.db'), { readOnly: true })
    expect(reader.run('r').calls).toMatchObject([{ settled_at: null, is_error: null, duration_ms: null }])
    expect(reader.run('r').run).toMatchObject({ ended_at: null, outcome: null })
    await reader.close()
    await log.close()
  })

  it('keeps exact numbers and 10,000 levels, and the views still answer', async () => {
    const log = await openDispatchLog(join(folder, 'log.db'))
    const deep = parseJson(`${'['.repeat(9_990)}12345678901234567890${']'.repeat(9_990)}`)
    const run = await log.openRun(runStart('deep'))
    await run.start({ ...callStart('deep', 1), arguments: { deep } })
    const [call] = log.run('deep').calls
    expect(stringifyJson(call?.arguments ?? null)).toContain('12345678901234567890')
    expect(log.runs()).toHaveLength(1)
    await log.close()
  })

  it('is found by its id, its beginning, or as the last one', async () => {
    const log = await openDispatchLog(':memory:')
    await expect(async () => log.run('last')).rejects.toThrow('has no runs yet')
    for (const id of ['abc-1', 'abc-2', 'xyz']) await record(log, id)
    expect([log.run('x').run.run_id, log.run('abc-1').run.run_id, log.run('last').run.run_id]).toEqual([
      'xyz',
      'abc-1',
      'xyz',
    ])
    expect(() => log.run('abc')).toThrow('several runs begin with "abc": abc-2, abc-1')
    expect(() => log.run('%')).toThrow('no run whose id begins with "%"')
    expect(log.runs({ limit: 2 }).map(({ run_id }) => run_id)).toEqual(['xyz', 'abc-2'])
    await log.close()
  })

  it('is found through an index, however many runs there are', async () => {
    const path = join(folder, 'log.db')
    const log = await openDispatchLog(path)
    await Promise.all(Array.from({ length: 300 }, (_, index) => record(log, `run-${index}`)))
    await log.close()
    const plan = new DatabaseSync(path).prepare("EXPLAIN QUERY PLAN SELECT * FROM calls WHERE run_id = 'run-7'").all()
    const details = plan.map(({ detail }) => String(detail)).filter((detail) => /^(SCAN|SEARCH)/.test(detail))
    expect(details.length).toBeGreaterThan(0)
    for (const detail of details) expect(detail).toMatch(/USING INDEX events_by_(run|call) \(run_id=/)
  })

  it('has one settle for each start; a second one is a fault of the host', async () => {
    const log = await openDispatchLog(':memory:')
    const run = await log.openRun(runStart('r'))
    const settle = { ...callStart('r', 1), isError: false, content: [] }
    await expect(run.settle(settle)).rejects.toMatchObject({ code: 'LOG_INVARIANT' })
    await run.start(callStart('r', 1))
    await run.settle(settle)
    await expect(run.settle(settle)).rejects.toMatchObject({ code: 'LOG_INVARIANT' })
    await log.close()
  })

  it('holds root events of a session', async () => {
    const path = join(folder, 'log.db')
    const log = await openDispatchLog(path)
    await log.session('s1').append({ type: 'tool/call', body: { callId: 'c', arguments: '{}' } })
    await log.close()
    const rows = new DatabaseSync(path).prepare('SELECT session_id, type, body FROM events').all()
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { session_id: 's1', type: 'tool/call', body: '{"callId":"c","arguments":"{}"}' },
    ])
  })
})

describe('several writers', () => {
  /** A process that records runs into the same file and says each id once it is committed. */
  async function writer(path: string, name: string, runs: number): Promise<ReturnType<typeof fork>> {
    const script = join(folder, `${name}.mjs`)
    writeFileSync(
      script,
      `import { openDispatchLog } from ${JSON.stringify(new URL('../../dist/src/index.js', import.meta.url).href)}
       const log = await openDispatchLog(${JSON.stringify(path)})
       for (let index = 0; index < ${runs}; index++) {
         const runId = '${name}-' + index
         const run = await log.openRun({ runId, callId: runId, owner: 'o', description: '', source: '', sourceHash: '', toolNames: [], limits: {} })
         await run.end({ outcome: 'ok', console: [] })
         process.send(runId)
       }
       await log.close()
       process.disconnect()`,
    )
    return fork(script)
  }

  it('at once in one new file lose nothing', { timeout: 60_000 }, async () => {
    const path = join(folder, 'log.db')
    const writers = await Promise.all(['a', 'b', 'c'].map((name) => writer(path, name, 200)))
    const codes = await Promise.all(writers.map(async (process) => (await once(process, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0])
    const log = await openDispatchLog(path, { readOnly: true })
    expect(log.runs({ limit: 1_000 }).filter(({ outcome }) => outcome === 'ok')).toHaveLength(600)
    await log.close()
  })

  it('that are killed lose nothing of what they were told is written', { timeout: 60_000 }, async () => {
    const path = join(folder, 'log.db')
    const process = await writer(path, 'k', 100_000)
    const told: unknown[] = []
    process.on('message', (id) => {
      told.push(id)
      if (told.length === 150) process.kill('SIGKILL')
    })
    await once(process, 'exit')
    const log = await openDispatchLog(path)
    const found = new Set(log.runs({ limit: 100_000 }).map(({ run_id }) => run_id))
    expect(told.filter((id) => !found.has(String(id)))).toEqual([])
    await record(log, 'after')
    expect(log.run('after').calls).toHaveLength(1)
    await log.close()
  })

  it('that hold the lock for long are waited for without blocking the host', async () => {
    const path = join(folder, 'log.db')
    const log = await openDispatchLog(path)
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const opening = log.openRun(runStart('waits'))
    let ticks = 0
    const timer = setInterval(() => ticks++, 5)
    await new Promise((resolve) => setTimeout(resolve, 200))
    other.exec('COMMIT')
    await opening
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(10)
    other.close()
    await log.close()
  })
})

describe('a file that cannot be a log', () => {
  it.each<[string, (path: string) => void, RegExp]>([
    ['a folder', (path) => mkdirSync(path), /it is a folder; give the path of a file/],
    [
      'a text',
      (path) => writeFileSync(path, 'just some text that is long enough to be read as a header of something'),
      /it is not a SQLite file; name another one/,
    ],
    [
      'a database of another program',
      (path) => {
        const db = new DatabaseSync(path)
        db.exec('CREATE TABLE mine (x)')
        db.close()
      },
      /it is a database of another program; name another file/,
    ],
    [
      'a log of a newer version',
      (path) => {
        const db = new DatabaseSync(path)
        db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 999; CREATE TABLE events (x)`)
        db.close()
      },
      /it has version 999, this program knows 1; use a newer ptc-executor/,
    ],
  ])('%s is refused and stays as it was', async (_title, make, message) => {
    const path = join(folder, 'log.db')
    make(path)
    const before = statSync(path).isFile() ? readFileSync(path) : undefined
    const refusal = await openDispatchLog(path).catch((failure: unknown) => failure)
    expect(refusal).toBeInstanceOf(LogError)
    expect(refusal).toMatchObject({ code: 'LOG_UNAVAILABLE', message: expect.stringMatching(message) })
    if (before !== undefined) expect(readFileSync(path).equals(before)).toBe(true)
  })

  it.each([
    ['below a folder that does not exist', 'no/log.db', false, 'does not exist; create it first'],
    ['to be read where there is none', 'log.db', true, 'there is no such file; run a program first'],
  ])('is a path %s', async (_title, name, readOnly, message) => {
    await expect(openDispatchLog(join(folder, name), { readOnly })).rejects.toThrow(message)
  })
})

describe('the file', () => {
  it('is private, and so is the folder that it makes for itself, which git ignores', async () => {
    const path = join(folder, '.ptc', 'log.db')
    const log = await openDispatchLog(path)
    await record(log, 'r')
    const modes = [path, join(folder, '.ptc')].map((name) => (statSync(name).mode & 0o777).toString(8))
    expect(modes).toEqual(['600', '700'])
    expect(readFileSync(join(folder, '.ptc', '.gitignore'), 'utf8')).toBe('*\n')
    await log.close()
  })

  it('is closed by close, with what was queued written', async () => {
    const path = join(folder, 'log.db')
    const log = await openDispatchLog(path)
    const queued = Array.from({ length: 50 }, (_, index) => log.openRun(runStart(`q-${index}`)))
    await log.close()
    await Promise.all(queued)
    await log.close()
    const open = readdirSync('/proc/self/fd').flatMap((name) => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)]
      } catch {
        return []
      }
    })
    expect(open.filter((target) => target.startsWith(path))).toEqual([])
    await expect(log.openRun(runStart('late'))).rejects.toMatchObject({ code: 'LOG_WRITE_FAILED' })
  })

  it(
    'that may not grow any more stops the append with a clear error and keeps what it has',
    { timeout: 30_000 },
    async () => {
      const path = join(folder, 'log.db')
      const script = join(folder, 'full.mjs')
      writeFileSync(
        script,
        `import { openDispatchLog } from ${JSON.stringify(new URL('../../dist/src/index.js', import.meta.url).href)}
       const log = await openDispatchLog(${JSON.stringify(path)})
       const start = { callId: 'c', owner: 'o', description: '', source: '', sourceHash: '', toolNames: [], limits: {} }
       await log.openRun({ ...start, runId: 'kept' })
       const failure = await log.openRun({ ...start, runId: 'lost', source: 'x'.repeat(4_000_000) }).catch((error) => error)
       await log.openRun({ ...start, runId: 'small' })
       console.log(JSON.stringify({ code: failure.code, message: failure.message, runs: log.runs().map(({ run_id }) => run_id) }))
       await log.close()`,
      )
      // A limit of file size, its signal ignored, is to SQLite what a full disk is.
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        `trap '' XFSZ; ulimit -f 4000; exec "$0" "$1"`,
        process.execPath,
        script,
      ])
      const { code, message, runs } = JSON.parse(stdout)
      expect([code, runs]).toEqual(['LOG_WRITE_FAILED', ['small', 'kept']])
      expect(message).toContain('free some space or make it writable, then run again')
    },
  )
})
