import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ptc, root } from '../helpers/cli.ts'

let folder = ''
/** Writes a file into the folder of these tests. */
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const define = (name: string, execute: string): string =>
  `defineTool({ name: ${JSON.stringify(name)}, description: 'A tool.', parameters: {}, isConcurrencySafe: () => true, execute: ${execute} })`
const module = (body: string): string =>
  `import { defineTool } from ${JSON.stringify(join(root, 'dist/src/index.js'))}\n${body}\n`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-cli-'))
  file(
    'tools.ts',
    module(`export const echo = ${define('echo', 'async (args) => args')}
    export const big = ${define('big', 'async () => 12345678901234567890n')}
    export const hang = ${define('hang', '(_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))')}
    export const deaf = ${define('deaf', '() => new Promise(() => {})')}
    export const rude = ${define('rude', '() => { throw new Error("\\\\u001b[31mred\\\\u202e") }')}`),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (
  program: string,
  args: readonly string[] = [],
  more: Parameters<typeof ptc>[1] = {},
): ReturnType<typeof ptc> => ptc(['run', '-', '--tools', 'tools.ts', ...args], { cwd: folder, input: program, ...more })

describe('ptc run', () => {
  it('prints the value and nothing else on standard output', async () => {
    const { code, stdout, stderr } = await run('console.log("seen"); return { a: [1] }')
    expect([code, stdout]).toEqual([0, '{\n  "a": [\n    1\n  ]\n}\n'])
    expect(stderr).toMatch(/^seen\nok; 0 tool call\(s\); see it again: npx ptc log show [0-9a-f-]{36}\n$/)
  })

  it('prints one object with --json, numbers with every digit', async () => {
    const { code, stdout, stderr } = await run(
      'console.log("seen"); return [await tools.big({}), await tools.echo({ b: 0.1 })]',
      ['--json'],
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^\{"runId":"[0-9a-f-]{36}","ok":true,"value":\[12345678901234567890,\{"b":0\.1\}\],"logs":\["seen"\],"calls":\[/,
    )
    const { calls } = JSON.parse(stdout)
    expect(calls).toEqual([
      {
        subCallId: expect.stringMatching(/:ptc:1$/),
        name: 'big',
        isError: false,
        startedAt: expect.any(Number),
        durationMs: expect.any(Number),
      },
      {
        subCallId: expect.stringMatching(/:ptc:2$/),
        name: 'echo',
        isError: false,
        startedAt: expect.any(Number),
        durationMs: expect.any(Number),
      },
    ])
  })

  it('leaves value out when nothing was returned', async () => {
    const { code, stdout } = await run('await tools.echo({})', ['--json'])
    expect([code, Object.keys(JSON.parse(stdout))]).toEqual([0, ['runId', 'ok', 'logs', 'calls']])
  })

  it('ends with 1 and says where when the program failed', async () => {
    const { code, stdout, stderr } = await run('const a = 1\nthrow new TypeError("broken")')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(
      'exception (CODE_RUN_FAILED) at line 2, column 7: TypeError: broken\n  1 | const a = 1\n> 2 | throw new TypeError("broken")\n    |       ^\n',
    )
    const json = await run('throw new Error("x")', ['--json'])
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      1,
      { ok: false, error: { kind: 'exception', code: 'CODE_RUN_FAILED', line: 1, column: 7 } },
    ])
  })

  it(
    'is interrupted by Ctrl+C: the tool is cancelled, the run is on record, the exit code is 130',
    { timeout: 30_000 },
    async () => {
      const { code, stderr } = await run(
        'console.log("running"); await tools.hang({})',
        ['--log', join(folder, 'int.db')],
        {
          onStderr: (text, kill) => {
            if (text.includes('running')) setTimeout(() => kill('SIGINT'), 200)
          },
        },
      )
      expect([code, stderr]).toEqual([
        130,
        expect.stringContaining('interrupted: waiting for running tools; press Ctrl+C again to leave at once'),
      ])
      const shown = await ptc(['log', 'show', 'last', '--json', '--log', join(folder, 'int.db')])
      expect(JSON.parse(shown.stdout)).toMatchObject({
        run: { outcome: 'abort' },
        calls: [{ name: 'hang', is_error: true, error_code: 'ABORTED' }],
      })
    },
  )

  it('is left at once by a second Ctrl+C, with what was given up on record', { timeout: 30_000 }, async () => {
    const log = join(folder, 'twice.db')
    const { code } = await run('console.log("running"); await tools.deaf({})', ['--log', log], {
      onStderr: (text, kill) => {
        if (text.includes('running')) setTimeout(() => kill('SIGINT'), 200)
        if (text.includes('interrupted')) setTimeout(() => kill('SIGINT'), 200)
      },
    })
    const shown = await ptc(['log', 'show', 'last', '--json', '--log', log])
    expect([code, JSON.parse(shown.stdout)]).toMatchObject([
      130,
      { run: { outcome: 'abort' }, calls: [{ name: 'deaf', is_error: true, error_code: 'EFFECTS_UNKNOWN' }] },
    ])
  })

  it('obeys --limit', async () => {
    const { code, stderr } = await run('for (;;);', ['--limit', 'cpuMs=200'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('timeout (CPU_BUDGET): the program computed for more than 200 ms'),
    ])
  })

  it('makes hidden characters of foreign text visible', async () => {
    const { stderr } = await run('console.log("\\u001b[2J\\u202e"); await tools.rude({})')
    expect(stderr).not.toMatch(/[\u001b\u202e]/)
    expect(stderr).toContain('\\u001b[2J\\u202e')
    expect(stderr).toContain('\\u001b[31mred\\u202e')
  })

  it.each([
    ['a default export', 'default.ts', `export default ${define('one', 'async () => 1')}`, ['one']],
    [
      'an array',
      'array.js',
      `export const all = [${define('one', 'async () => 1')}, ${define('two', 'async () => 2')}]`,
      ['one', 'two'],
    ],
    [
      'the same tool twice',
      'twice.ts',
      `const one = ${define('one', 'async () => 1')}\nexport default [one]\nexport { one }`,
      ['one'],
    ],
    [
      'TypeScript that has to be compiled',
      'enum.ts',
      `enum Size { Small = 'small' }\nexport const one = ${define('one', 'async (): Promise<string> => Size.Small')}`,
      ['one'],
    ],
  ])('takes tools from a module with %s', async (_title, name, body, names) => {
    const path = file(name, module(body))
    const { code, stdout, stderr } = await ptc(['run', '-', '--tools', path, '--json'], {
      cwd: folder,
      input: 'return Object.keys(tools)',
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout).value).toEqual(names)
  })

  it.each<[string, readonly string[], RegExp]>([
    ['an unknown option', ['run', '-', '--toolz', 'x'], /unknown option '--toolz'/],
    ['an unknown command', ['ruin'], /unknown command 'ruin'/],
    ['no program', ['run'], /missing required argument 'program'/],
    [
      'a program that does not exist',
      ['run', 'nowhere.ts'],
      /^ptc: the program nowhere\.ts cannot be read: there is no such file; give a file, or - for standard input\n$/,
    ],
    [
      'a tools module that does not exist',
      ['run', '-', '--tools', 'nowhere.ts'],
      /^ptc: there is no tools module at nowhere\.ts; give the path of a \.ts or \.js file\n$/,
    ],
    [
      'a module without tools',
      ['run', '-', '--tools', 'none.js'],
      /^ptc: none\.js exports no tools: it exports answer; export what defineTool returns, one or an array\n$/,
    ],
    ['an empty module', ['run', '-', '--tools', 'empty.js'], /^ptc: empty\.js exports no tools: it exports nothing;/],
    [
      'a module that throws',
      ['run', '-', '--tools', 'throws.js'],
      /^ptc: throws\.js cannot be loaded: out of order\n$/,
    ],
    [
      'two modules with one name',
      ['run', '-', '--tools', 'tools.ts', '--tools', 'again.js'],
      /^ptc: two tools are named "echo"; the second one is in again\.js: rename one of them\n$/,
    ],
    ['the reserved name', ['run', '-', '--tools', 'reserved.js'], /^ptc: tool "run_code" is reserved/],
    [
      'a limit that is none',
      ['run', '-', '--limit', 'cpuMs'],
      /^ptc: --limit takes name=number, such as cpuMs=1000; "cpuMs" came\n$/,
    ],
    [
      'a limit that does not exist',
      ['run', '-', '--limit', 'cpu=1'],
      /^ptc: unknown limit "cpu"; known limits: cpuMs, wallMs/,
    ],
    ['a count that is none', ['log', 'ls', '-n', 'many'], /^ptc: --limit takes a whole number from 1, "many" came\n$/],
  ])('says what is wrong with %s and ends with 2', async (_title, args, message) => {
    file('none.js', 'export const answer = 42')
    file('empty.js', '')
    file('throws.js', 'throw new Error("out of order")')
    file('again.js', module(`export const echo = ${define('echo', 'async () => 1')}`))
    file('reserved.js', module(`export const it = ${define('run_code', 'async () => 1')}`))
    const { code, stdout, stderr } = await ptc(args, { cwd: folder, input: 'return 1' })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })

  it.each<[string, readonly string[], RegExp]>([
    [
      'a log below a folder that does not exist',
      ['run', '-', '--log', '/no/such/log.db'],
      /the folder \/no\/such does not exist; create it first/,
    ],
    ['a log that is a folder', ['run', '-', '--log', tmpdir()], /it is a folder; give the path of a file/],
    [
      'a log that is not there',
      ['log', 'ls', '--log', '/no/such/log.db'],
      /there is no such file; run a program first/,
    ],
  ])('ends with 3 for %s', async (_title, args, message) => {
    const { code, stderr } = await ptc(args, { cwd: folder, input: 'return 1' })
    expect([code, stderr]).toEqual([3, expect.stringMatching(message)])
  })

  it.each([
    ['ends the process', 'process.exit(0)'],
    ['never finishes loading', 'await new Promise(() => {})'],
  ])('says so when a tools module %s', async (_title, body) => {
    const path = file('early.mjs', body)
    const { code, stderr } = await ptc(['run', '-', '--tools', path], { cwd: folder, input: 'return 1' })
    expect([code, stderr]).toEqual([
      2,
      'ptc: the command did not finish: a tools module ended the process, or never finished loading\n',
    ])
  })

  it('ends although a tools module left a timer running', async () => {
    const path = file('timer.mjs', 'setInterval(() => {}, 1_000)\nexport default []')
    expect((await ptc(['run', '-', '--tools', path], { cwd: folder, input: 'return 1' })).code).toBe(2)
  })

  it('says plainly that its output cannot be written, and is quiet when its reader left', async () => {
    const shell = (rest: string): Promise<{ code: unknown; stderr: string }> =>
      new Promise((settle) => {
        const command = `echo 'return "x".repeat(3_000_000)' | "${process.execPath}" bin/ptc.js run - --log :memory: ${rest}`
        execFile('sh', ['-c', command], { cwd: root }, (failure, _stdout, stderr) =>
          settle({ code: failure?.code, stderr }),
        )
      })
    const full = await shell('>/dev/full')
    expect([full.code, full.stderr]).toEqual([3, expect.stringMatching(/^ptc: the output cannot be written: /)])
    expect((await shell('| head -c 10')).stderr).not.toContain('Error')
  })
})

describe('ptc log and ptc sdk', () => {
  it('list and show what ran, newest first, by beginning of the id', async () => {
    const log = join(folder, 'list.db')
    for (const name of ['first', 'second'])
      await run(`return "${name}"`, ['--description', `the ${name}`], { env: { PTC_LOG: log } })
    const listed = await ptc(['log', 'ls', '--json'], { cwd: folder, env: { PTC_LOG: log } })
    const runs: { run_id: string; description: string }[] = JSON.parse(listed.stdout)
    expect(runs.map(({ description }) => description)).toEqual(['the second', 'the first'])
    const shown = await ptc(['log', 'show', runs[1]?.run_id.slice(0, 10) ?? ''], { cwd: folder, env: { PTC_LOG: log } })
    expect(shown.code).toBe(0)
    expect(shown.stdout).toContain('the first')
    expect(shown.stdout).toContain('Program\n  return "first"\n')
    expect(shown.stdout).toContain('Result\n  first\n')
    const unknown = await ptc(['log', 'show', 'zzz', '--log', log])
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('no run whose id begins with "zzz"; ptc log ls lists them'),
    ])
  })

  it('draw the calls as bars, failed ones with their code', async () => {
    const log = join(folder, 'bars.db')
    await run('await tools.echo({ x: 1 }); try { await tools.rude({}) } catch {}', ['--log', log])
    const { stdout } = await ptc(['log', 'show', 'last', '--log', log], { env: { NO_COLOR: '1' } })
    expect(stdout).toMatch(/Calls \(2\)\n {2}#1 echo +█+ +\d+ ms {2}\{"x":1\}\n {2}#2 rude +█+ +\d+ ms/)
    expect(stdout.includes('\u001b')).toBe(false)
  })

  it('put the log below the working folder by default', async () => {
    const place = mkdtempSync(join(folder, 'place-'))
    await ptc(['run', '-'], { cwd: place, input: 'return 1' })
    expect([existsSync(join(place, '.ptc', 'log.db')), existsSync(join(place, '.ptc', '.gitignore'))]).toEqual([
      true,
      true,
    ])
  })

  it('print what a model is given', async () => {
    const { code, stdout } = await ptc(['sdk', '--tools', 'tools.ts'], { cwd: folder })
    expect([code, stdout]).toEqual([0, expect.stringContaining('declare const tools')])
    const json = await ptc(['sdk', '--tools', 'tools.ts', '--json'], { cwd: folder })
    expect(JSON.parse(json.stdout)).toMatchObject({
      schemas: [{ name: 'run_code' }],
      sections: [{ name: 'tools:ptc-only' }, { name: 'tools:sdk' }],
      knownNames: ['run_code'],
    })
  })
})

describe('ptc', () => {
  it.each([[[]], [['run']], [['sdk']], [['log', 'ls']], [['log', 'show']]])(
    '%j --help shows an example',
    async (command) => {
      const { code, stdout } = await ptc([...command, '--help'])
      expect([code, stdout]).toEqual([0, expect.stringMatching(/Usage: ptc/)])
      if (command.length > 0) expect(stdout).toMatch(/Examples?:\n {2}.*ptc /)
    },
  )

  it('prints its version', async () => {
    const { stdout } = await ptc(['--version'])
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('is quiet when its reader leaves early', async () => {
    const command = `"${process.execPath}" bin/ptc.js sdk --tools examples/tools/repository.ts --json | head -c 10`
    const { stderr } = await promisify(execFile)('sh', ['-c', command], { cwd: root })
    expect(stderr).toBe('')
  })

  it('says plainly that an old Node cannot run it, and ends with 3', async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', 'which -a node || true'])
    const versions = await Promise.all(
      stdout
        .trim()
        .split('\n')
        .filter((path) => path !== '')
        .map(async (path) => ({ path, version: (await promisify(execFile)(path, ['--version'])).stdout })),
    )
    const old = versions.find(({ version }) => Number(version.slice(1).split('.')[0]) < 24)
    // Where there is no old Node, a file that only says so stands for it.
    const node = old?.path ?? process.execPath
    const result = old === undefined ? await oldNode() : await ptc(['--version'], { node })
    expect([result.code, result.stderr]).toEqual([
      3,
      expect.stringMatching(/^ptc needs Node 24 or later, this is Node \d+/),
    ])
  })
})

/** The command file with a version that says it is old. */
async function oldNode(): Promise<{ code: number | null; stderr: string }> {
  const preload = file('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '20.0.0' })")
  return ptc(['--version'], { env: { NODE_OPTIONS: `--require ${preload}` } })
}
