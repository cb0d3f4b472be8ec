/** Programs that tests run: small files of this project, and a larger corpus where there is one. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** One program with the name that a test shows. */
export interface NamedProgram {
  readonly name: string
  readonly program: string
}

/**
 * Programs of a folder below `test`, then those of a JSON Lines file in the folder that `PTC_CORPUS`
 * names, one `{ name, program }` a line.
 */
export function programs(folder: string, corpusFile: string): readonly NamedProgram[] {
  const place = resolve(import.meta.dirname, '..', folder)
  const own = readdirSync(place).map((file) => ({
    name: basename(file, '.js'),
    program: readFileSync(join(place, file), 'utf8'),
  }))
  const corpus = process.env['PTC_CORPUS']
  const path = corpus === undefined ? undefined : join(corpus, corpusFile)
  if (path === undefined || !existsSync(path)) return own
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return [...own, ...lines.map((line): NamedProgram => JSON.parse(line))]
}
