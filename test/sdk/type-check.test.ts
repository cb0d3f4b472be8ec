import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessPath } from '../../src/sdk/names.ts'
import { renderToolsSdk, type SdkTool } from '../../src/sdk/render.ts'

const COMPILER = resolve(import.meta.dirname, '../../node_modules/.bin/tsc')
const CORPUS = join(
  process.env['PTC_CORPUS'] ?? resolve(import.meta.dirname, '../../../shared/data'),
  'tools-corpus.jsonl',
)

const TOOLS: SdkTool[] = [
  {
    name: 'list_files',
    description: 'Lists files. */ declare const evil: 1; /*',
    parameters: {
      type: 'object',
      properties: { folder: { type: 'string' }, kind: { enum: ['file', 'folder'] }, limit: { type: 'integer' } },
      required: ['folder'],
    },
    output: {
      schema: {
        type: 'array',
        items: {
          type: 'object',
          properties: { path: { type: 'string' }, size: { oneOf: [{ type: 'number' }, { type: 'null' }] } },
          required: ['path', 'size'],
          additionalProperties: false,
        },
      },
    },
  },
  { name: 'ping', description: '', parameters: { type: 'object', properties: {} }, output: { schema: {} } },
  {
    name: 'math',
    description: '',
    parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
    output: { schema: { type: 'number' } },
  },
  {
    name: 'math.sum',
    description: '',
    parameters: { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } }, required: ['a'] },
    output: { schema: { type: 'number' } },
  },
  { name: 'math.name', description: '', parameters: { type: 'object' }, output: { schema: { type: 'string' } } },
  { name: 'toString', description: '', parameters: { type: 'object' }, output: { schema: { const: 'x' } } },
  { name: '__proto__', description: '', parameters: { type: 'object' }, output: { schema: { type: 'null' } } },
  {
    name: 'git-hub.list-issues',
    description: '',
    parameters: {
      type: 'object',
      properties: {
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        extra: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      },
    },
    output: { schema: { type: 'object', properties: { total: { type: 'integer' } }, additionalProperties: true } },
  },
]

const GOOD = {
  required:
    'const files = await tools.list_files({ folder: "src" }); return files.map((file) => file.path.length + (file.size ?? 0))',
  optional: 'return await tools.list_files({ folder: "src", kind: "file", limit: 3 })',
  extraKeysInAVariable: 'const args = { folder: "src", other: 1 }; return await tools.list_files(args)',
  noArguments: 'return [await tools.ping(), await tools.ping({}), await tools.ping({ any: [1, null] })]',
  undeclaredOutput: 'const pong = await tools.ping(); return pong.some.deep.value + pong[0].length',
  functionWithMembers:
    'return (await tools.math({ a: 1 })) + (await tools.math.sum({ a: [1] })) + (await tools.math.name()).length',
  rawNames: 'return (await tools["math.sum"]({ a: [1, 2] })).toFixed() + (await tools["math"]({ a: 1 })).toFixed()',
  namesOfTheLanguage: 'const a: "x" = await tools.toString(); const b: null = await tools.__proto__(); return [a, b]',
  dashes:
    'const r = await tools["git-hub"]["list-issues"]({ labels: { a: "b" }, extra: { a: "x", more: 1 } }); return [r.total, r.anything.goes, (await tools["git-hub.list-issues"]()).total]',
  errors:
    'try { await tools.ping() } catch (error) { if (error instanceof ToolCallError) return [error.toolName, error.code?.length, error.retryable === true, error.message] }',
  jsonValue: 'const v: JsonValue = { a: [1, "b", null, { c: true }] }; return v',
}

const BAD = {
  missing: 'return await tools.list_files({})',
  noArgumentsAtAll: 'return await tools.list_files()',
  wrongType: 'return await tools.list_files({ folder: 1 })',
  wrongChoice: 'return await tools.list_files({ folder: "a", kind: "link" })',
  misspelt: 'return await tools.list_files({ folder: "a", limits: 3 })',
  unknownTool: 'return await tools.list_file({ folder: "a" })',
  unknownMember: 'return await tools.math.product({ a: [1] })',
  possiblyNull: 'const [file] = await tools.list_files({ folder: "a" }); return file!.size.toFixed()',
  undeclaredKeyOfAClosedValue: 'const files = await tools.list_files({ folder: "a" }); return files[0]!.mtime',
  forgottenAwait: 'return tools.list_files({ folder: "a" }).length',
  assignment: 'tools.ping = tools.ping',
  nothingEscapedTheComment: 'return evil',
}

let folder = ''

/** One compiler run over files that each hold an SDK text and a program; the names of the files with errors. */
async function filesWithErrors(files: Record<string, string>): Promise<{ files: string[]; output: string }> {
  const place = await mkdtemp(join(folder, 'run-'))
  await mkdir(place, { recursive: true })
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: [],
    module: 'esnext',
    moduleDetection: 'force',
  }
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(place, `${name}.ts`), text)))
  const output = await promisify(execFile)(COMPILER, ['-p', place, '--pretty', 'false'], {
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    () => '',
    (failed: { stdout: string; stderr: string }) => failed.stdout + failed.stderr,
  )
  const names = [...output.matchAll(/^(?:.*[\\/])?([^\\/\n]+)\.ts\(\d+,\d+\): error/gmu)].map((match) => match[1] ?? '')
  if (output !== '' && names.length === 0) throw new Error(`the compiler did not run: ${output}`)
  return { files: [...new Set(names)], output }
}

function withProgram(sdk: string, program: string): string {
  return `${sdk}\nexport async function program() {\n${program}\n}\n`
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ptc-sdk-'))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe('the declarations, read by the strict type checker', { timeout: 120_000 }, () => {
  it('accept programs that are right and refuse programs that are wrong', async () => {
    const sdk = renderToolsSdk(TOOLS)
    const files: Record<string, string> = { empty: withProgram(renderToolsSdk([]), 'return Object.keys(tools)') }
    for (const [name, program] of Object.entries({ ...GOOD, ...BAD })) files[name] = withProgram(sdk, program)
    const { files: wrong, output } = await filesWithErrors(files)
    expect(new Set(wrong), output).toEqual(new Set(Object.keys(BAD)))
  })
})

describe.skipIf(!existsSync(CORPUS))(`real tools of ${CORPUS}`, { timeout: 120_000 }, () => {
  it('all type-check, are all reachable, and are never refused whole', async () => {
    const files: Record<string, string> = {}
    const tools = corpusTools(400)
    expect(tools.length).toBeGreaterThan(300)
    for (let start = 0; start < tools.length; start += 40) {
      const some = tools.slice(start, start + 40)
      const calls = some.map(
        ({ name }) =>
          `const t${start}_${name.replaceAll(/\W/g, '_')}: (args: any) => Promise<unknown> = ${accessPath(name)}`,
      )
      files[`corpus${start}`] = withProgram(renderToolsSdk(some), calls.join('\n'))
    }
    const { files: wrong, output } = await filesWithErrors(files)
    expect(wrong, output.slice(0, 2_000)).toEqual([])
  })
})

/** First tool of each name. */
function corpusTools(count: number): SdkTool[] {
  const tools = new Map<string, SdkTool>()
  for (const line of readFileSync(CORPUS, 'utf8').split('\n').slice(0, count)) {
    if (line === '') continue
    const { name, description, inputSchema, outputSchema } = JSON.parse(line)
    if (!tools.has(name))
      tools.set(name, { name, description, parameters: inputSchema, output: { schema: outputSchema ?? {} } })
  }
  return [...tools.values()]
}
