import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

const examples = (await readdir(join(root, 'examples'))).filter((name) => name.endsWith('.ts'))
const sources = await Promise.all(examples.map((name) => readFile(join(root, 'examples', name), 'utf8')))
const lines = sources.map((source) => source.split('\n').map((line) => line.trim()))

/** Code blocks of the pages, which show parts of the examples. */
const PAGES = ['tools', 'policies', 'approval', 'scopes-and-agents', 'executors', 'cancellation']
const blocks = (
  await Promise.all(
    PAGES.map(async (page) => {
      const text = await readFile(join(root, 'docs', `${page}.md`), 'utf8')
      return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => [page, code] as const)
    }),
  )
).flat()

describe('the examples', () => {
  it.each(examples)('%s runs, asserts what it says and prints it', async (name) => {
    const { stdout } = await run(process.execPath, [join('examples', name)], { cwd: root })
    expect(stdout.trim()).not.toBe('')
    expect(sources[examples.indexOf(name)]).toMatch(/\bassert\./)
  })

  it.each(examples)('%s imports the package by its name only', (name) => {
    const imported = [...(sources[examples.indexOf(name)] ?? '').matchAll(/from '([^']+)'/g)].map(([, from]) => from)
    expect(imported).toContain('ptc-executor')
    expect(imported.filter((from) => from?.includes('src/') || from?.includes('dist/'))).toEqual([])
  })
})

describe('the pages', () => {
  it.each(PAGES)('%s shows code of an example and leads on', async (page) => {
    const text = await readFile(join(root, 'docs', `${page}.md`), 'utf8')
    expect(text).toContain(`examples/${page}.ts`)
    expect(text).toMatch(/```ts\n/)
    expect(text).toMatch(/\n---\n\nPrevious: .* · Next: .* · Top: \[README\]/)
  })

  it.each(blocks)('a block of %s is part of an example, line by line', (_page, code) => {
    const wanted = code
      .trim()
      .split('\n')
      .map((line) => line.trim())
    const isPart = lines.some((text) => text.join('\n').includes(wanted.join('\n')))
    expect(isPart, code).toBe(true)
  })
})
