/** Opens the file of a log without ever touching a file that is something else. */
import { existsSync, mkdirSync, openSync, closeSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { LogError, messageOf } from '../errors.ts'

/** The folder that a log may make for itself. */
const OWN_FOLDER = '.ptc'

/**
 * Makes sure that the file of a log exists, private to its user.
 * @throws LogError (`LOG_UNAVAILABLE`) that says what is there and what to do.
 */
export function prepareFile(path: string, mayCreate: boolean): void {
  try {
    if (existsSync(path)) {
      const found = statSync(path)
      if (found.isDirectory()) throw new Error('it is a folder; give the path of a file')
      if (!found.isFile()) throw new Error('it is a device or a pipe; give the path of a file')
      return
    }
    if (!mayCreate)
      throw new Error('there is no such file; run a program first, or name another log with --log or PTC_LOG')
    prepareFolder(dirname(path))
    closeSync(openSync(path, 'a', 0o600))
  } catch (cause) {
    throw new LogError(`the log ${path} cannot be opened: ${messageOf(cause)}`, 'LOG_UNAVAILABLE', { cause })
  }
}

function prepareFolder(folder: string): void {
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder; name another one`)
    return
  }
  if (basename(folder) !== OWN_FOLDER) throw new Error(`the folder ${folder} does not exist; create it first`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, '.gitignore'), '*\n')
}
