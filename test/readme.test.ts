import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

const readme = await readFile(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...(await readdir(join(root, 'docs'))).map((name) => `docs/${name}`),
]

describe('the README', () => {
  it.each(blocks.map((code, index) => [index + 1, code] as const))(
    'code block %i runs and prints what it says',
    async (_number, code) => {
      const folder = await mkdtemp(join(root, 'examples', '.readme-'))
      try {
        const file = join(folder, 'block.ts')
        await writeFile(file, code)
        const { stdout } = await run(process.execPath, [file], { cwd: root })
        const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text = '']) => text)
        expect(stdout.trim().split('\n')).toEqual(said)
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  )

  it('is at most 150 lines long', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(150)
  })

  it('names only scripts that exist', async () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      await readFile(join(root, 'package.json'), 'utf8'),
    )
    const named = [...readme.matchAll(/npm run (\w+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  })
})

it.each(pages)('every link of %s leads somewhere', async (page) => {
  const text = await readFile(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  for (const target of targets.filter((name) => !name.startsWith('http'))) {
    await expect(readFile(resolve(root, page, '..', target)), target).resolves.toBeDefined()
  }
})
