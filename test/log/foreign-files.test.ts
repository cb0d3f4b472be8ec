import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LogError, openDispatchLog } from '../../src/index.ts'
import { APPLICATION_ID } from '../../src/log/schema.ts'
import { openDescriptors } from '../helpers/processes.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-foreign-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const database = (path: string, sql: string): void => {
  const made = new DatabaseSync(path)
  made.exec(sql)
  made.close()
}

/** A database whose program died in the middle of its work, so that its next opening repairs it. */
const unfinished = (path: string, sql: string): void => {
  const script = `const { DatabaseSync } = require('node:sqlite')
    new DatabaseSync(process.argv[1]).exec(process.argv[2])
    process.kill(process.pid, 'SIGKILL')`
  spawnSync(process.execPath, ['-e', script, path, sql])
}

/** Every file of the folder with what is in it. */
const contents = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name)).toString('base64')]),
  )

const ANOTHER_PROGRAM = /it is a database of another program; name another file$/
const NOT_SQLITE = /it is not a SQLite file; name another one$/

describe('a file that cannot be a log is refused and stays as it was:', () => {
  const cases: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['a folder', (path) => mkdirSync(path), /it is a folder; give the path of a file$/],
    ['a link to a folder', (path) => symlinkSync(folder, path), /it is a folder; give the path of a file$/],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), /it is a device or a pipe; give the path of a file$/],
    ['a short text', (path) => writeFileSync(path, 'hello'), NOT_SQLITE],
    ['a long text', (path) => writeFileSync(path, 'some text\n'.repeat(1_000)), NOT_SQLITE],
    ['a database of another program', (path) => database(path, 'CREATE TABLE mine (x)'), ANOTHER_PROGRAM],
    ['one with an identity and no tables', (path) => database(path, 'PRAGMA application_id = 77'), ANOTHER_PROGRAM],
    ['one without identity and tables', (path) => database(path, 'PRAGMA user_version = 1'), ANOTHER_PROGRAM],
    [
      'one with tables of the same names',
      (path) => database(path, 'CREATE TABLE events (run_id, type, seq); PRAGMA user_version = 1'),
      ANOTHER_PROGRAM,
    ],
    [
      'one whose write-ahead log is not carried over yet',
      (path) => unfinished(path, 'PRAGMA journal_mode = WAL; CREATE TABLE mine (x); INSERT INTO mine VALUES (1)'),
      ANOTHER_PROGRAM,
    ],
    [
      'one whose last transaction is not rolled back yet',
      (path) => {
        database(path, 'CREATE TABLE mine (x); INSERT INTO mine VALUES (zeroblob(1000000))')
        unfinished(path, 'PRAGMA cache_size = 1; BEGIN; UPDATE mine SET x = randomblob(1000000)')
      },
      ANOTHER_PROGRAM,
    ],
    [
      'a log of a newer version',
      (path) => database(path, `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 999`),
      /it has version 999, this program knows 1; use a newer ptc-executor$/,
    ],
  ]

  it.each(
    cases.flatMap(([title, make, message]) => [false, true].map((readOnly) => ({ title, make, message, readOnly }))),
  )('$title (read only: $readOnly)', async ({ make, message, readOnly }) => {
    const path = join(folder, 'log.db')
    make(path)
    const before = contents()
    const descriptors = openDescriptors()
    const refusal = await openDispatchLog(path, { readOnly }).catch((failure: unknown) => failure)
    expect(refusal).toBeInstanceOf(LogError)
    expect(refusal).toMatchObject({ code: 'LOG_UNAVAILABLE', message: expect.stringMatching(message) })
    expect(refusal).toHaveProperty('message', expect.stringContaining(`the log ${path} cannot be opened: `))
    expect(contents()).toEqual(before)
    expect(openDescriptors()).toBe(descriptors)
  })
})

describe('a path where no log can be', () => {
  it.each([
    ['below a folder that does not exist', 'no/log.db', false, /no does not exist; create it first$/],
    ['below a file', 'text/log.db', false, /text is not a folder; name another one$/],
    [
      'to be read where there is none',
      'log.db',
      true,
      /there is no such file; run a program first, or name another log/,
    ],
    ['to be read where nothing was recorded', 'empty', true, /it holds no log yet; run a program first$/],
  ])('%s is told plainly', async (_title, name, readOnly, message) => {
    for (const file of ['text', 'empty']) writeFileSync(join(folder, file), file === 'empty' ? '' : file)
    const before = contents()
    const opening = openDispatchLog(join(folder, name), { readOnly })
    await expect(opening).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE', message: expect.stringMatching(message) })
    expect(contents()).toEqual(before)
  })
})

describe('a file that can be a log', () => {
  it('may be there already, empty, and may be a link', async () => {
    writeFileSync(join(folder, 'target'), '')
    symlinkSync(join(folder, 'target'), join(folder, 'log.db'))
    const log = await openDispatchLog(join(folder, 'log.db'))
    await log.session('s').append({ type: 'test/event', body: {} })
    await log.close()
    expect(statSync(join(folder, 'target')).size).toBeGreaterThan(0)
  })

  it.each(['with space.db', 'a%20b.db', 'what?.db', 'hash#.db', 'ü漢.db', '-.db'])('may be called %s', async (name) => {
    const path = join(folder, name)
    for (const _time of ['create', 'open again']) {
      const log = await openDispatchLog(path)
      await log.session('s').append({ type: 'test/event', body: {} })
      await log.close()
    }
    expect(readdirSync(folder)).toEqual([name])
  })

  it('carries its identity from the beginning, also when its writer dies before the first checkpoint', async () => {
    const path = join(folder, 'log.db')
    const writer = join(import.meta.dirname, 'killed-writer.ts')
    expect(spawnSync(process.execPath, [writer, path]).signal).toBe('SIGKILL')
    expect(readdirSync(folder)).toContain('log.db-wal')
    const log = await openDispatchLog(path)
    expect(log.runs().map(({ run_id }) => run_id)).toEqual(['written'])
    await log.close()
  })
})
