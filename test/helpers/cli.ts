/** Runs the real command line. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

/** Root of the project. */
export const root = resolve(import.meta.dirname, '..', '..')

/** How a command ended. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Options of one command. */
export interface CommandOptions {
  readonly cwd?: string
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  /** Program that runs the command file, default: this Node. */
  readonly node?: string
  /** Called with each piece of error output and the process, to act upon it. */
  readonly onStderr?: (text: string, kill: (signal: NodeJS.Signals) => void) => void
  /** Called once the process was started, to act upon it. */
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs `ptc` with arguments and waits for its end. */
export function ptc(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { cwd = root, input = '', env = {}, node = process.execPath, onStderr, onStart } = options
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, PTC_LOG: _log, ...inherited } = process.env
  const child = spawn(node, [resolve(root, 'bin', 'ptc.js'), ...args], { cwd, env: { ...inherited, ...env } })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
    onStderr?.(text, (signal) => child.kill(signal))
  })
  onStart?.((signal) => child.kill(signal))
  // A command that ends without reading its input breaks the pipe, which is no failure.
  child.stdin.on('error', () => undefined).end(input)
  return new Promise((settle, reject) => {
    child.once('error', reject)
    child.once('close', (code) => settle({ code, ...output }))
  })
}
