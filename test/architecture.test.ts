import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Floors of src, lowest first; folders on one floor do not know each other. */
const FLOORS: readonly (readonly string[])[] = [
  ['errors.ts'],
  ['json'],
  ['tool'],
  ['registry', 'pipeline', 'sdk', 'program', 'sandbox', 'log', 'policy'],
  ['executor'],
  ['create-ptc.ts'],
  ['index.ts'],
  ['cli'],
]

interface SourceFile {
  readonly path: string
  readonly text: string
  /** Paths of the files it imports, relative to the root. */
  readonly imports: readonly string[]
  /** Packages and built-in modules that it imports. */
  readonly packages: readonly string[]
}

const files = [...sourceFiles('src'), ...sourceFiles('runtime')]

describe('floors', () => {
  it('imports of src go down only, and never sideways into another folder', () => {
    const wrong = files.flatMap(({ path, imports }) =>
      imports
        .filter((target) => path.startsWith('src/') && target.startsWith('src/') && !mayImport(path, target))
        .map((target) => `${path} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('every folder of src has a floor', () => {
    const known = FLOORS.flat()
    expect(readdirSync(join(root, 'src')).filter((name) => !known.includes(name))).toEqual([])
  })

  it('there are no import circles, type-only ones included', () => {
    expect(circles()).toEqual([])
  })
})

describe('doors', () => {
  it('runtime imports nothing of src', () => {
    expect(
      files.filter(
        ({ path, imports }) => path.startsWith('runtime/') && imports.some((target) => target.startsWith('src/')),
      ),
    ).toEqual([])
  })

  it.each([
    [
      'src reaches runtime through one file',
      'src/sandbox/wire.ts',
      (file: SourceFile) =>
        file.path.startsWith('src/') && file.imports.some((target) => target.startsWith('runtime/')),
    ],
    [
      'one file spawns',
      'src/sandbox/child-process.ts',
      (file: SourceFile) => file.packages.includes('node:child_process'),
    ],
    ['one file loads isolated-vm', 'runtime/isolate.ts', (file: SourceFile) => file.packages.includes('isolated-vm')],
    ['one file opens SQLite', 'src/log/sqlite-store.ts', (file: SourceFile) => file.packages.includes('node:sqlite')],
  ] as const)('%s: %s', (_title, only, does) => {
    expect(files.filter(does).map(({ path }) => path)).toEqual([only])
  })

  it('the guest uses nothing of Node', () => {
    const guest = files.filter(({ path }) => path.startsWith('runtime/guest/'))
    expect(guest.flatMap(({ packages }) => packages).filter((name) => name !== 'lossless-json')).toEqual([])
  })

  it('the command line uses the public API only', () => {
    const cli = files.filter(({ path }) => path.startsWith('src/cli/'))
    const inner = cli.flatMap(({ imports }) => imports).filter((target) => !target.startsWith('src/cli/'))
    expect([...new Set(inner)]).toEqual(['src/index.ts'])
  })
})

describe('shape', () => {
  it('no file of the product is longer than 320 lines', () => {
    expect(files.filter(({ text }) => text.split('\n').length > 320).map(({ path }) => path)).toEqual([])
  })

  it('no folder is named for a kind of code', () => {
    const folders = new Set(files.map(({ path }) => dirname(path).split('/').at(-1)))
    expect(['utils', 'shared', 'helpers', 'common', 'types', 'lib'].filter((name) => folders.has(name))).toEqual([])
  })

  it('there is no loose type, no silenced rule and no unfinished work', () => {
    const banned = /: any\b|as any\b|<any>|@ts-|oxlint-disable|as unknown as|\bTODO\b|\bFIXME\b/
    const found = files.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (banned.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    )
    expect(found).toEqual([])
  })
})

function mayImport(from: string, to: string): boolean {
  const [, fromPlace = ''] = from.split('/')
  const [, toPlace = ''] = to.split('/')
  return fromPlace === toPlace || floorOf(toPlace) < floorOf(fromPlace)
}

function floorOf(place: string): number {
  return FLOORS.findIndex((floor) => floor.includes(place))
}

function circles(): string[] {
  const graph = new Map(files.map(({ path, imports }) => [path, imports]))
  const found: string[] = []
  const done = new Set<string>()
  const walk = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path)
    if (start !== -1) {
      found.push([...way.slice(start), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const target of graph.get(path) ?? []) walk(target, [...way, path])
    done.add(path)
  }
  for (const path of graph.keys()) walk(path, [])
  return found
}

function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(root, path), 'utf8')
      const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(
        ([, specifier = '']) => specifier,
      )
      return {
        path,
        text,
        imports: specifiers
          .filter((name) => name.startsWith('.'))
          .map((name) => relative(root, resolve(root, dirname(path), name))),
        packages: specifiers.filter((name) => !name.startsWith('.')),
      }
    })
}
