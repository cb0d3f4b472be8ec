import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson, stringifyJson } from '../../src/index.ts'
import { type CommandOptions, type CommandResult, ptc, root } from '../helpers/cli.ts'

const TOOLS = join(root, 'test', 'cli', 'tools.ts')
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ptc-output-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (program: string, args: readonly string[] = [], options: CommandOptions = {}): Promise<CommandResult> =>
  ptc(['run', '-', '--tools', TOOLS, ...args], { cwd: folder, input: program, ...options })

const show = async (log: string): Promise<string> => (await ptc(['log', 'show', 'last', '--json', '--log', log])).stdout

describe('ptc run --json', () => {
  it.each<[string, string, string | undefined]>([
    ['nothing', '', undefined],
    ['null', 'return null', 'null'],
    ['numbers with every digit', 'return [await tools.big({}), 0.1, -0, 1e21]', '[12345678901234567890,0.1,-0,1e+21]'],
    ['a text', 'return "é 🦜"', '"é 🦜"'],
    ['hidden characters', 'return "\\u202e\\u009b"', String.raw`"\u202e\u009b"`],
  ])('prints exactly one object when the program returned %s', async (_title, program, value) => {
    const { code, stdout, stderr } = await run(program, ['--json'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.endsWith('}\n')).toBe(true)
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stdout).toMatch(/^\{"runId":"[0-9a-f-]{36}","ok":true,/)
    if (value === undefined) expect(Object.keys(JSON.parse(stdout))).toEqual(['runId', 'ok', 'logs', 'calls'])
    else expect(stdout).toContain(`,"ok":true,"value":${value},"logs":[],"calls":[`)
  })

  it('prints a failed run with its error, console and calls, and nothing else', async () => {
    const program = 'console.log("one")\ntry { await tools.rude({}) } catch {}\nthrow new RangeError("far")'
    const { code, stdout, stderr } = await run(program, ['--json'])
    expect([code, stderr]).toEqual([1, ''])
    const { runId, ...outcome } = JSON.parse(stdout)
    expect(outcome).toEqual({
      ok: false,
      logs: ['one'],
      error: {
        kind: 'exception',
        code: 'CODE_RUN_FAILED',
        message: 'RangeError: far',
        line: 3,
        column: 7,
        frame: expect.stringContaining('> 3 | throw new RangeError("far")'),
        retryable: false,
      },
      calls: [
        {
          subCallId: `${runId}:ptc:1`,
          name: 'rude',
          isError: true,
          startedAt: expect.any(Number),
          durationMs: expect.any(Number),
        },
      ],
    })
  })

  it('prints the outcome of an interrupted run too, also of one that computes for ever', async () => {
    const log = join(folder, 'loop.db')
    const { code, stdout } = await run(
      'console.log("running"); await tools.nap({}); for (;;);',
      ['--json', '--log', log],
      {
        // Its console is not told before the end with --json, so the log tells when it runs.
        onStart: (kill) => {
          const timer = setInterval(() => {
            if (!existsSync(`${log}-wal`) || !readFileSync(`${log}-wal`).includes(':ptc:1')) return
            clearInterval(timer)
            kill('SIGTERM')
          }, 20)
        },
      },
    )
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { kind: 'abort', code: 'ABORTED' } })
    expect(JSON.parse(await show(log))).toMatchObject({ run: { outcome: 'abort' } })
  })
})

describe('ptc run', () => {
  it.each<[string, string, string]>([
    ['nothing', '', ''],
    ['an empty text', 'return ""', '\n'],
    ['a text of several lines', 'return "one\\ntwo\\t2"', 'one\ntwo\t2\n'],
    ['a text with hidden characters', 'return "\\u001b[31m\\u202e"', '\\u001b[31m\\u202e\n'],
    ['the same inside a value', 'return ["\\u009b31m\\u202e"]', '[\n  "\\u009b31m\\u202e"\n]\n'],
    ['a number with every digit', 'return tools.big({})', '12345678901234567890\n'],
  ])('prints %s on standard output', async (_title, program, expected) => {
    const { code, stdout, stderr } = await run(`console.error("aside"); ${program}`)
    expect([code, stdout]).toEqual([0, expected])
    expect(stderr).toMatch(/^aside\nok(, no value returned)?; \d tool call\(s\); see it again: npx ptc log show \S+\n$/)
  })

  it.each<[string, Readonly<Record<string, string>>, readonly string[], string, string]>([
    ['.ptc/log.db by default', {}, [], '.ptc/log.db', ''],
    ['what PTC_LOG says', { PTC_LOG: 'env.db' }, [], 'env.db', ''],
    ['the default for an empty PTC_LOG', { PTC_LOG: '' }, [], '.ptc/log.db', ''],
    [
      'what --log says, rather',
      { PTC_LOG: 'env.db' },
      ['--log', 'option.db'],
      'option.db',
      ' --log <folder>/option.db',
    ],
    [
      'a path that has to be quoted',
      {},
      ['--log', "it's here.db"],
      "it's here.db",
      String.raw` --log '<folder>/it'\''s here.db'`,
    ],
  ])('writes the log to %s, and says how to see it again', async (_title, env, args, file, hint) => {
    const place = mkdtempSync(join(folder, 'place-'))
    const { code, stderr } = await run('return 1', args, { cwd: place, env })
    expect([code, existsSync(join(place, file))]).toEqual([0, true])
    const told = /npx ptc log show [0-9a-f-]{36}(.*)\n$/.exec(stderr)?.[1]
    expect(told?.replace(place, '<folder>')).toBe(hint)
    // The hint is a command of a shell: it finds the run.
    const shown = await promisify(execFile)(
      'sh',
      [
        '-c',
        stderr.slice(stderr.indexOf('npx ptc ')).replace('npx ptc', '"$0" "$1"'),
        process.execPath,
        join(root, 'bin/ptc.js'),
      ],
      { cwd: place, env: { ...process.env, ...env, NO_COLOR: '1' } },
    )
    expect(shown.stdout).toContain('Result\n  1\n')
  })

  it('keeps no log with --log :memory:', async () => {
    const place = mkdtempSync(join(folder, 'place-'))
    const { code, stderr } = await run('return 1', ['--log', ':memory:'], { cwd: place })
    expect([code, stderr]).toEqual([0, 'ok; 0 tool call(s); its log ended with it\n'])
    expect(existsSync(join(place, '.ptc'))).toBe(false)
  })

  it('shows sub-calls as they start and settle only to a person who watches', async () => {
    const preload = join(folder, 'watched.cjs')
    writeFileSync(
      preload,
      'Object.assign(process.stderr, { isTTY: true, getColorDepth: require("node:tty").WriteStream.prototype.getColorDepth })',
    )
    const program = 'await tools.echo({ "a\\u202e": 1 }); try { await tools.rude({}) } catch {}'
    const env = { NODE_OPTIONS: `--require ${preload}`, NO_COLOR: '1' }
    const { stderr } = await run(program, [], { env })
    const times = stderr.replaceAll(/\d+ ms/g, 'N ms').split('\n')
    expect(times.slice(0, 4)).toEqual([
      '→ echo {"a\\u202e":1}',
      '✓ echo N ms',
      '→ rude {}',
      '✗ rude N ms \\u001b[31mred\\u202e\\u009b1m\\u000dgone',
    ])
    expect((await run(program)).stderr).toMatch(/^ok, no value returned; 2 tool call\(s\);/)
  })

  it('ends with 3 when the log cannot be written, and the call that is not on record does not happen', async () => {
    const marker = join(folder, 'marker')
    const program = `await tools.mark({ path: ${JSON.stringify(marker)}, more: "x".repeat(2_000_000) })`
    const { stdout, stderr, code } = await new Promise<{ stdout: string; stderr: string; code: unknown }>((settle) => {
      const command = `trap '' XFSZ; ulimit -f 2000; exec "$0" "$1" run - --tools "$2" --log full.db`
      const args = ['-c', command, process.execPath, join(root, 'bin/ptc.js'), TOOLS]
      const child = execFile('sh', args, { cwd: folder }, (failure, out, err) =>
        settle({ stdout: out, stderr: err, code: failure?.code }),
      )
      child.stdin?.end(program)
    })
    expect([code, stdout, existsSync(marker)]).toEqual([3, '', false])
    expect(stderr).toContain('sandbox-unavailable (LOG_WRITE_FAILED): the run was stopped because its log could not be')
    expect(stderr).toContain('free some space or make it writable, then run again')
  })
})

describe('a reader that leaves early', () => {
  /** Runs a shell line in which `$PTC` is the command; returns what it printed and how ptc ended. */
  async function shell(line: string, log: string): Promise<{ stdout: string; stderr: string; code: string }> {
    const codeFile = join(folder, `${log}.code`)
    const command = `PTC() { "$NODE" "$FILE" "$@"; echo $? > "$CODE"; }; ${line}`
    const env = { ...process.env, NODE: process.execPath, FILE: join(root, 'bin/ptc.js'), CODE: codeFile, PTC_LOG: log }
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], {
      cwd: folder,
      env: { ...env, TOOLS },
    })
    return { stdout, stderr, code: readFileSync(codeFile, 'utf8').trim() }
  }
  const flood = 'for (let line = 0; line < 20000; line++) console.log("line " + line);'

  it.each([
    ['log show', `echo '${flood}' | PTC run - 2>/dev/null; { PTC log show last --json; } | head -c 1`, '{', '0'],
    ['log ls', `echo '${flood}' | PTC run - 2>/dev/null; { PTC log ls --json; } | head -1`, '[\n', '0'],
    ['sdk', '{ PTC sdk --tools "$TOOLS"; } | head -c 0', '', '0'],
    ['run', `echo 'return "x".repeat(3000000)' | { PTC run - 2>/dev/null; } | head -c 3`, 'xxx', '0'],
    ['run --json of a failed run', `echo '${flood} throw 1' | { PTC run - --json; } | head -c 1`, '{', '1'],
  ])('leaves %s quiet, its exit code what it would have been', async (title, line, stdout, code) => {
    expect(await shell(line, `${title.replaceAll(' ', '-')}.db`)).toEqual({ stdout, stderr: '', code })
  })

  it('of what stands on standard error does not end the program', async () => {
    const program = `${flood} await tools.nap({}); console.log("more"); await tools.nap({}); return 5`
    const line = `echo '${program}' | { PTC run - --tools "$TOOLS" 2>&1 >value.txt; } | head -1`
    expect(await shell(line, 'stderr.db')).toEqual({ stdout: 'line 0\n', stderr: '', code: '0' })
    expect(readFileSync(join(folder, 'value.txt'), 'utf8')).toBe('5\n')
    const { run: row, calls } = JSON.parse(await show(join(folder, 'stderr.db')))
    expect([row.outcome, calls.length]).toEqual(['ok', 2])
  })
})

describe('ptc log show', () => {
  it('makes what programs and tools wrote harmless, and loses nothing of it with --json', async () => {
    const log = join(folder, 'rude.db')
    const hidden = '\u001b]0;title\u0007\u202e\u2066\u009b2J\ufeff\r'
    const program = `// ${hidden}
      console.log(${JSON.stringify(hidden)})
      await tools.echo({ text: ${JSON.stringify(hidden)} })
      try { await tools.rude({}) } catch {}
      return { text: ${JSON.stringify(hidden)} }`
    await run(program, ['--log', log, '--description', hidden])
    for (const args of [['show', 'last'], ['ls'], ['show', 'last', '--json'], ['ls', '--json']]) {
      const { stdout } = await ptc(['log', ...args, '--log', log])
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u2066\ufeff]/)
      expect(stdout).toContain('\\u202e')
    }
    const record = JSON.parse(await show(log))
    expect(record).toMatchObject({
      run: { source: program, value: { text: hidden } },
      calls: [{ arguments: { text: hidden } }, { name: 'rude', is_error: true }],
      console: [{ level: 'log', text: hidden }],
    })
  })

  it.each([
    [{}, false],
    [{ NO_COLOR: '1' }, false],
    [{ FORCE_COLOR: '1' }, true],
  ])('colours its output with %j: %s', async (env, isColoured) => {
    const log = join(folder, 'colours.db')
    await run('await tools.echo({})', ['--log', log])
    const { stdout } = await ptc(['log', 'show', 'last', '--log', log], { env })
    expect(stdout.includes('\u001b[')).toBe(isColoured)
  })

  it('prints the record as one object with --json, numbers with every digit', async () => {
    const log = join(folder, 'record.db')
    await run('console.warn("w"); return tools.echo({ n: await tools.big({}) })', [
      '--log',
      log,
      '--description',
      'Adds',
    ])
    const text = await show(log)
    expect(stringifyJson(parseJson(text))).toBe(text.trim())
    expect(text).toContain('"arguments":{"n":12345678901234567890}')
    expect(text).toContain('"value":{"n":12345678901234567890}')
    const record = JSON.parse(text)
    expect(Object.keys(record)).toEqual(['run', 'calls', 'console'])
    expect(record.run).toEqual({
      run_id: expect.any(String),
      started_at: expect.any(Number),
      ended_at: expect.any(Number),
      outcome: 'ok',
      owner: expect.any(String),
      description: 'Adds',
      source: 'console.warn("w"); return tools.echo({ n: await tools.big({}) })',
      value: { n: 12_345_678_901_234_567_890 },
      limits: expect.objectContaining({ cpuMs: 30_000 }),
    })
    expect(record.console).toEqual([{ run_id: record.run.run_id, at: expect.any(Number), level: 'warn', text: 'w' }])
    expect(Object.keys(record.calls[1])).toEqual([
      'run_id',
      'sub_call_id',
      'parent_call_id',
      'root_call_id',
      'name',
      'started_at',
      'settled_at',
      'duration_ms',
      'is_error',
      'error_code',
      'bytes_in',
      'bytes_out',
      'arguments',
      'content',
    ])
    const listed = JSON.parse((await ptc(['log', 'ls', '--json', '--log', log])).stdout)
    const { value: _value, limits: _limits, ...row } = record.run
    expect(listed).toEqual([row])
  })
})
