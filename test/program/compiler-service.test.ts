import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import * as esbuild from 'esbuild'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { compileProgram } from '../../src/program/compile.ts'
import { CompilerService, compilerService, retainCompiler, stopCompiler } from '../../src/program/compiler-service.ts'

/** Texts that the compiler does not survive, or not in any useful time. */
const KILLERS: [title: string, text: string][] = [
  ['a deep bracket', `a=${'('.repeat(1_000_000)}`],
  ['a run of prefix operators', `a=${'!'.repeat(500_000)}1`],
  [
    'constants that double',
    `enum E { A = "xxxxxxxx"${Array.from({ length: 40 }, (_, i) => `, A${i + 1} = A${i || ''} + A${i || ''}`).join('')} }`,
  ],
  ['a line of errors', 'let x;'.repeat(20_000)],
]

const service = new CompilerService({ deadlineMs: 2_000 })

function innocent(index: number): string {
  return `const a${index}: number = ${index}`
}

/** Live compiler processes below this one. */
function compilerPids(): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(
      ([, parent, state, command]) =>
        Number(parent) === process.pid && !state?.startsWith('Z') && command?.includes('esbuild'),
    )
    .map(([pid]) => Number(pid))
}

afterEach(() => service.stop())
afterAll(stopCompiler)

describe('a service', () => {
  it.each(KILLERS)('survives %s, and the innocent beside it all succeed', { timeout: 60_000 }, async (_title, text) => {
    await service.transform(innocent(0))
    const [before] = compilerPids()
    const outcomes = await Promise.allSettled([
      service.transform(innocent(1)),
      service.transform(text),
      ...Array.from({ length: 10 }, (_, index) => service.transform(innocent(index + 2))),
    ])
    const [first, killer, ...others] = outcomes
    expect(killer).toMatchObject({ status: 'rejected', reason: { code: 'COMPILE_FAILED' } })
    for (const [index, outcome] of [first, ...others].entries()) {
      expect(outcome).toMatchObject({
        status: 'fulfilled',
        value: { kind: 'done', code: `const a${index + 1} = ${index + 1};\n` },
      })
    }
    const [after, ...more] = compilerPids()
    expect(after).not.toBe(before)
    expect(more).toEqual([])
  })

  it('finds every killer among several', { timeout: 120_000 }, async () => {
    const impatient = new CompilerService({ deadlineMs: 1_000 })
    const texts = [
      KILLERS[1]?.[1] ?? '',
      innocent(1),
      KILLERS[3]?.[1] ?? '',
      innocent(2),
      KILLERS[1]?.[1] ?? '',
      innocent(3),
    ]
    const outcomes = await Promise.allSettled(texts.map((text) => impatient.transform(text)))
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    await impatient.stop()
  })

  it('blames nobody when its process is killed from outside', async () => {
    await service.transform(innocent(0))
    const slow = Array.from({ length: 8 }, (_, index) => service.transform(`${'a;'.repeat(50_000)}${index}`))
    const [pid] = compilerPids()
    if (pid === undefined) throw new Error('no compiler process is alive')
    process.kill(pid, 'SIGKILL')
    for (const outcome of await Promise.all(slow)) expect(outcome.kind).toBe('done')
  })

  it('serves many callers at once, each its own answer', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => service.transform(innocent(index))))
    expect(answers.map((answer) => (answer.kind === 'done' ? answer.code : answer.kind))).toEqual(
      Array.from({ length: 100 }, (_, index) => `const a${index} = ${index};\n`),
    )
    expect(compilerPids()).toHaveLength(1)
  })

  it('lets an aborted caller go, running or waiting, and serves the others', async () => {
    const narrow = new CompilerService({ maxParallel: 1 })
    const controllers = [new AbortController(), new AbortController()]
    const running = narrow.transform(innocent(1), controllers[0]?.signal)
    const waiting = narrow.transform(innocent(2), controllers[1]?.signal)
    const other = narrow.transform(innocent(3))
    const reason = new Error('enough')
    for (const controller of controllers) controller.abort(reason)
    await expect(running).rejects.toBe(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(await other).toMatchObject({ kind: 'done' })
    await expect(narrow.transform(innocent(4), AbortSignal.abort('a text'))).rejects.toMatchObject({
      name: 'AbortError',
    })
    await narrow.stop()
  })

  it('runs again what a stop took down, in a process of its own', async () => {
    const pending = [service.transform(innocent(1)), service.transform(innocent(2))]
    await service.stop()
    expect((await Promise.all(pending)).map(({ kind }) => kind)).toEqual(['done', 'done'])
    await Promise.all([service.stop(), service.stop()])
    expect(compilerPids()).toEqual([])
    expect(await service.transform(innocent(3))).toMatchObject({ kind: 'done' })
  })
})

describe('the shared compiler', () => {
  it('ends with its last holder, is gone then, and starts again on demand', async () => {
    const releases = [retainCompiler(), retainCompiler()]
    await compileProgram('return "held"', { maxSourceBytes: 1_000 })
    await releases[0]?.()
    await releases[0]?.()
    expect(compilerPids()).toHaveLength(1)
    await releases[1]?.()
    expect(compilerPids()).toEqual([])
    expect(await compileProgram('return "again"', { maxSourceBytes: 1_000 })).toMatchObject({
      source: 'return "again"',
    })
    expect(compilerPids()).toHaveLength(1)
    await stopCompiler()
    expect(compilerPids()).toEqual([])
  })

  it('refuses deep texts before the compiler sees them', async () => {
    for (const [title, text] of KILLERS.slice(0, 2)) {
      await expect(compileProgram(text, { maxSourceBytes: 2_000_000 }), title).rejects.toMatchObject({
        code: 'SYNTAX_ERROR',
      })
    }
    expect(compilerPids()).toEqual([])
  })

  it('reports a text that the scan lets pass and the compiler does not survive', { timeout: 60_000 }, async () => {
    const [, , bomb] = KILLERS
    const [killer, other] = await Promise.allSettled([
      compileProgram(bomb?.[1] ?? '', { maxSourceBytes: 131_072 }),
      compileProgram('return "beside a bomb"', { maxSourceBytes: 131_072 }),
    ])
    expect(killer).toMatchObject({ status: 'rejected', reason: { name: 'ProgramError', code: 'COMPILE_FAILED' } })
    expect(other).toMatchObject({ status: 'fulfilled' })
  })

  it('compiles in the version that the package pins', () => {
    const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(manifest).toMatchObject({ dependencies: { esbuild: esbuild.version } })
    expect(compilerService).toBeInstanceOf(CompilerService)
  })
})
