import { resolve } from 'node:path'

/** Where the log is: the option, else PTC_LOG, else `.ptc/log.db` below the working folder. */
export function logPath(option: string | undefined): string {
  const given = option ?? process.env['PTC_LOG']
  if (given === ':memory:') return given
  return resolve(given === undefined || given === '' ? '.ptc/log.db' : given)
}
