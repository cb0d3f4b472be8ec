import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { createPtc } from '../src/index.ts'
import { echo, withPtc } from './helpers/ptc.ts'
import { childrenOf, eventually, isAlive, openDescriptors } from './helpers/processes.ts'

it('200 runs in a row leave no process, no timer, no file and no growth behind', { timeout: 120_000 }, async () => {
  const before = { children: childrenOf(process.pid), descriptors: openDescriptors() }
  const sizes: number[] = []
  await withPtc({ tools: [echo] }, async (ptc) => {
    for (let run = 1; run <= 200; run++) {
      const { value } = await ptc.run('const { run } = await tools.echo({ run: 7 }); console.log(run); return run')
      expect(value).toBe(7)
      if (run % 50 === 0) {
        global.gc?.()
        sizes.push(process.memoryUsage().heapUsed)
      }
    }
  })
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout')

  expect(await eventually(() => childrenOf(process.pid).length <= before.children.length, 5_000)).toBe(true)
  expect(openDescriptors()).toBeLessThanOrEqual(before.descriptors)
  expect(timers.length).toBeLessThanOrEqual(1)
  const [first = 0] = sizes
  expect((sizes.at(-1) ?? 0) - first, 'heap growth from run 50 to run 200').toBeLessThan(40_000_000)
})

it.each([
  ['a program that waits', 'await tools.hang({})'],
  ['a program that starves its child', 'for (;;) new Array(100).fill(0)'],
  [
    'a program that floods its child with jobs',
    '(function again() { Promise.resolve().then(again) })(); await new Promise(() => {})',
  ],
])('kill -9 of the host leaves no child of %s alive', { timeout: 30_000 }, async (_title, program) => {
  const script = `
    import { createPtc, defineTool } from 'ptc-executor'
    const hang = defineTool({ name: 'hang', description: 'Hangs.', parameters: {}, execute: () => new Promise(() => {}) })
    const ptc = await createPtc({ tools: [hang], limits: { maxOutputBytes: 256 * 1024 * 1024 } })
    setTimeout(() => console.log('running'), 700)
    await ptc.run(${JSON.stringify(program)})`
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('..', import.meta.url).pathname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(host.stdout, 'data')
  const children = childrenOf(host.pid ?? 0)
  expect(children.length).toBeGreaterThan(0)

  host.kill('SIGKILL')
  await once(host, 'exit')
  expect(await eventually(() => !children.some(isAlive), 2_000)).toBe(true)
})

it('a host that forgets to close ends by itself', { timeout: 30_000 }, async () => {
  const script = `
    import { createPtc } from 'ptc-executor'
    const ptc = await createPtc()
    console.log((await ptc.run('return "done"')).value)`
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('..', import.meta.url).pathname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [code] = await once(host, 'exit')
  expect(code).toBe(0)
})

it('runs of two owners never share a process, runs of one owner reuse theirs', async () => {
  await withPtc({ tools: [echo] }, async (ptc) => {
    const [first, second] = [ptc.agent({ id: 'first' }), ptc.agent({ id: 'second' })]
    await ptc.run('return 1', { agent: first })
    const ofFirst = new Set(childrenOf(process.pid))
    await ptc.run('return 2', { agent: first })
    expect(new Set(childrenOf(process.pid))).toEqual(ofFirst)
    await ptc.run('return 3', { agent: second })
    expect(childrenOf(process.pid).length).toBe(ofFirst.size + 1)
  })
})

it('40 programs at once all come back, though at most 32 children run', { timeout: 60_000 }, async () => {
  const ptc = await createPtc({ tools: [echo] })
  const runs = await Promise.all(
    Array.from({ length: 40 }, (_, index) => ptc.run(`return (await tools.echo({ index: ${index} })).index`)),
  )
  expect(runs.map(({ value }) => value)).toEqual(runs.map((_, index) => index))
  expect(childrenOf(process.pid).length).toBeLessThanOrEqual(33)
  await ptc.close()
})
