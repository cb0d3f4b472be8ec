import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DispatchLog, openDispatchLog } from '../../src/index.ts'

let folder = ''
let path = ''
let log: DispatchLog
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-append-'))
  path = join(folder, 'log.db')
  log = await openDispatchLog(path)
})
afterEach(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

const append = (number: number): Promise<void> => log.session('s').append({ type: 'test/event', body: { number } })

/** Transactions in the write-ahead log: a frame that ends one tells the size of the database. */
function commits(): number {
  const wal = readFileSync(`${path}-wal`)
  const frameBytes = 24 + wal.readUInt32BE(8)
  const frames = Array.from(
    { length: Math.floor((wal.length - 32) / frameBytes) },
    (_, index) => 32 + index * frameBytes,
  )
  return frames.filter((frame) => wal.readUInt32BE(frame + 4) > 0).length
}

/** What another connection sees. */
function seenNumbers(): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare("SELECT body ->> 'number' AS number FROM events ORDER BY seq").all()
  database.close()
  return rows.map(({ number }) => number)
}

const numbers = Array.from({ length: 100 }, (_, index) => index)

describe('an append', () => {
  it('shares its transaction with the others of its turn, in their order', async () => {
    const before = commits()
    await Promise.all(numbers.map(append))
    expect(commits() - before).toBe(1)
    expect(seenNumbers()).toEqual(numbers)
  })

  it('that follows another one has a transaction of its own, at once', async () => {
    const before = commits()
    for (const number of numbers.slice(0, 5)) await append(number)
    expect(commits() - before).toBe(5)
    expect(seenNumbers()).toEqual([0, 1, 2, 3, 4])
  })

  it('that is made while another one resolves is written too', async () => {
    const chain = (number: number): Promise<void> =>
      number === 0 ? append(0) : append(number).then(() => chain(number - 1))
    await Promise.all([chain(20), chain(10), chain(5)])
    expect(seenNumbers()).toHaveLength(21 + 11 + 6)
  })

  it('is seen by another connection in the first step after it resolves', async () => {
    const seen = await append(7).then(seenNumbers)
    expect(seen).toEqual([7])
  })

  it('that comes while the log closes is refused, or is in the file', async () => {
    const made = numbers.map(append)
    const closing = log.close()
    const late = numbers.map((number) => append(number + 1_000))
    await closing
    const written = await Promise.allSettled([...made, ...late])
    const count = written.filter(({ status }) => status === 'fulfilled').length
    expect(count).toBeGreaterThanOrEqual(numbers.length)
    expect(seenNumbers()).toHaveLength(count)
  })
})
