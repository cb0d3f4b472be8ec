// Tools that read the repository in the working folder: files, their sizes, the history.
import { execFile } from 'node:child_process'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { defineTool } from 'ptc-executor'

const run = promisify(execFile)
const root = process.cwd()
const SKIPPED = new Set(['node_modules', '.git', 'dist', '.ptc'])

async function inside(path: string): Promise<string> {
  const full = await realpath(resolve(root, path))
  if (full !== root && !full.startsWith(root + sep)) throw new Error(`${path} is outside the repository`)
  return full
}

export const listFiles = defineTool({
  name: 'list_files',
  description: 'Lists the files below a folder of the repository, with their sizes in bytes.',
  parameters: {
    folder: { type: 'string', description: 'Folder, relative to the repository; "." is all of it.', required: true },
  },
  output: {
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: { path: { type: 'string', required: true }, bytes: { type: 'integer', required: true } },
      },
    },
  },
  isConcurrencySafe: () => true,
  async execute({ folder }, { signal }) {
    const found: { path: string; bytes: number }[] = []
    const folders = [await inside(folder)]
    for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
      signal.throwIfAborted()
      for (const entry of await readdir(current, { withFileTypes: true })) {
        const path = join(current, entry.name)
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path)
        if (entry.isFile()) found.push({ path: relative(root, path), bytes: (await stat(path)).size })
      }
    }
    return found.sort((left, right) => (left.path < right.path ? -1 : 1))
  },
})

export const readFileLines = defineTool({
  name: 'read_file',
  description: 'Reads a text file of the repository.',
  parameters: { path: { type: 'string', description: 'Path, relative to the repository.', required: true } },
  output: { schema: { type: 'string' } },
  isConcurrencySafe: () => true,
  execute: async ({ path }, { signal }) => readFile(await inside(path), { encoding: 'utf8', signal }),
})

export const fileHistory = defineTool({
  name: 'file_history',
  description: 'Says how often a file was committed and when it was last.',
  parameters: { path: { type: 'string', description: 'Path, relative to the repository.', required: true } },
  output: {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        commits: { type: 'integer', required: true },
        last: {
          oneOf: [{ type: 'string' }, { type: 'null' }],
          description: 'ISO date of the last commit.',
          required: true,
        },
      },
    },
  },
  isConcurrencySafe: () => true,
  async execute({ path }, { signal }) {
    const args = ['log', '--format=%cI', '--', await inside(path)]
    const { stdout } = await run('git', args, { cwd: root, signal, maxBuffer: 10_000_000 })
    const dates = stdout.split('\n').filter((line) => line !== '')
    return { commits: dates.length, last: dates[0] ?? null }
  },
})
