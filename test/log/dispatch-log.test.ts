import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DispatchLog, openDispatchLog, parseJson, stringifyJson } from '../../src/index.ts'
import type { RunStart, SubCallStart } from '../../src/log/events.ts'

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

  it.each([
    ['numbers with every digit', '[12345678901234567890,0.1000000000000000055511151231257827,-0,1e400]'],
    ['9,990 levels', `${'['.repeat(9_990)}7${']'.repeat(9_990)}`],
    ['texts in every script, and halves of a character', '["é 漢字 🦜 \u202e","\\ud800","\\u0000","\\u001b[31m"]'],
    ['names that objects inherit', '{"__proto__":{"constructor":1},"toString":2}'],
  ])('keeps %s, and the views still answer', async (_title, text) => {
    const path = join(folder, 'log.db')
    const log = await openDispatchLog(path)
    const value = parseJson(text)
    const run = await log.openRun(runStart('r'))
    await run.start({ ...callStart('r', 1), arguments: { value } })
    const meta = { value }
    await run.settle({ ...callStart('r', 1), isError: false, content: [{ type: 'text', text }], meta })
    await run.end({ outcome: 'ok', value, console: [] })
    const { run: row, calls } = log.run('r')
    expect(stringifyJson(row.value ?? null)).toBe(text)
    expect(stringifyJson(calls[0]?.arguments ?? null)).toBe(`{"value":${text}}`)
    expect(calls[0]?.content).toEqual([{ type: 'text', text }])
    await log.close()
    const database = new DatabaseSync(path)
    const [runs, callRows] = ['SELECT run_id, outcome FROM runs', 'SELECT name, is_error, bytes_in FROM calls'].map(
      (query) =>
        database
          .prepare(query)
          .all()
          .map((found) => ({ ...found })),
    )
    database.close()
    expect(runs).toEqual([{ run_id: 'r', outcome: 'ok' }])
    expect(callRows).toEqual([{ name: 'tool', is_error: 0, bytes_in: Buffer.byteLength(`{"value":${text}}`) }])
  })

  it.each([
    ['owner, description and source', { owner: 'ö', description: '🦜 "quoted"\n', source: 'return "\u0000"; // 漢字' }],
    ['a text of one megabyte', { owner: 'o', description: '', source: 'é'.repeat(500_000) }],
  ])('keeps %s as they are', async (_title, facts) => {
    const log = await openDispatchLog(join(folder, 'log.db'))
    await log.openRun({ ...runStart('r'), ...facts })
    expect(log.run('r').run).toMatchObject(facts)
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
    await Promise.all(Array.from({ length: 2_000 }, (_, index) => record(log, `run-${index}`)))
    expect(log.run('run-777').calls.map(({ sub_call_id }) => sub_call_id)).toEqual(['run-777:ptc:1'])
    await log.close()
    const database = new DatabaseSync(path)
    const steps = ['calls', 'runs', 'events'].map((table) =>
      database.prepare(`EXPLAIN QUERY PLAN SELECT * FROM ${table} WHERE run_id = 'run-7'`).all(),
    )
    database.close()
    expect(steps.map((plan) => plan.map(({ detail }) => detail))).toEqual([
      [
        'SEARCH s USING INDEX events_by_run (run_id=? AND type=?)',
        'SEARCH e USING INDEX events_by_call (run_id=? AND sub_call_id=? AND type=?) LEFT-JOIN',
      ],
      [
        'SEARCH s USING INDEX events_by_run (run_id=? AND type=?)',
        'SEARCH e USING INDEX events_by_run (run_id=? AND type=?) LEFT-JOIN',
      ],
      ['SEARCH events USING INDEX events_by_run (run_id=?)'],
    ])
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

  it('is listed in the order in which it came on record, whatever the ids', async () => {
    const log = await openDispatchLog(':memory:')
    // One turn, so mostly one millisecond.
    await Promise.all(['m', 'z', 'a', 'k'].map((id) => log.openRun(runStart(id))))
    expect(log.runs().map(({ run_id }) => run_id)).toEqual(['k', 'a', 'z', 'm'])
    expect(log.run('last').run.run_id).toBe('k')
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
  const writer = (path: string, name: string, runs: number): ReturnType<typeof fork> =>
    fork(join(import.meta.dirname, 'writer.ts'), [path, name, String(runs)])

  it('at once in one new file lose nothing', { timeout: 60_000 }, async () => {
    const path = join(folder, 'log.db')
    const writers = ['a', 'b', 'c'].map((name) => writer(path, name, 200))
    const codes = await Promise.all(writers.map(async (process) => (await once(process, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0])
    const log = await openDispatchLog(path, { readOnly: true })
    const runs = log.runs({ limit: 1_000 })
    expect(runs.filter(({ outcome }) => outcome === 'ok')).toHaveLength(600)
    // Newest first, also among those of one process.
    const ofOne = runs.filter(({ owner }) => owner === 'b').map(({ run_id }) => run_id)
    expect(ofOne).toEqual(Array.from({ length: 200 }, (_, index) => `b-${199 - index}`))
    await log.close()
  })

  it('that are killed lose nothing of what they were told is written', { timeout: 60_000 }, async () => {
    const path = join(folder, 'log.db')
    const process = writer(path, 'k', 100_000)
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

  it('that may not grow any more refuses the whole transaction and keeps what it has', async () => {
    // A limit of file size, its signal ignored, is to SQLite what a full disk is.
    const command = `trap '' XFSZ; ulimit -f 4000; exec "$0" "$1" "$2"`
    const script = join(import.meta.dirname, 'full-disk.ts')
    const args = ['-c', command, process.execPath, script, join(folder, 'log.db')]
    const { stdout } = await promisify(execFile)('sh', args)
    const refusal = expect.stringMatching(
      /^LOG_WRITE_FAILED: the log .*log\.db cannot be written: .*; free some space or make it writable, then run again$/,
    )
    expect(JSON.parse(stdout)).toEqual({
      kept: 'written',
      large: refusal,
      beside: refusal,
      small: 'written',
      runs: ['small', 'kept'],
    })
  })
})
