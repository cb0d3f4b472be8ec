/** How `ptc` ends; docs/cli.md lists them. */
export const EXIT: Readonly<Record<'ok' | 'programFailed' | 'usage' | 'environment' | 'interrupted', number>> =
  Object.freeze({
    ok: 0,
    programFailed: 1,
    usage: 2,
    environment: 3,
    interrupted: 130,
  })

/** A failure that ends the command with a clear line and an exit code of its own. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.usage) {
    super(message)
    this.exitCode = exitCode
  }
}
