/** The command line: declares the commands, turns every failure into a line and an exit code. */
import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { HarnessError, LogError, PtcUsageError, SandboxUnavailableError } from '../index.ts'
import { CommandError, EXIT } from './exit-code.ts'
import { logLsCommand, logShowCommand } from './log-command.ts'
import { policyTestCommand } from './policy-command.ts'
import { runCommand } from './run-command.ts'
import { sdkCommand } from './sdk-command.ts'
import { visible } from './terminal.ts'

/** Runs one command line and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok
  const program = commandLine((code) => (exitCode = code))
  // A reader such as `head` may leave early; that is its right, and the work goes on to its end.
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return
    say(`the output cannot be written: ${message}`, EXIT.environment)
    process.exit(EXIT.environment)
  })
  // Where not even this can be said, there is nobody to tell.
  process.stderr.on('error', () => undefined)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (failure) {
    return explain(failure)
  }
}

function commandLine(setExitCode: (code: number) => void): Command {
  const program = new Command('ptc')
    .description('Run programs that call tools, in a sandbox, through policies, with a durable log.')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('(ptc --help shows the commands)')
    .configureHelp({ showGlobalOptions: false })
  program
    .command('run')
    .description('run a program with the tools of one or more modules')
    .argument('<program>', 'file with the body of an async TypeScript function, or - for standard input')
    .option('--tools <module>', 'module that exports tool definitions; repeatable', collect, [])
    .option('--log <file>', 'log file; default: PTC_LOG, else .ptc/log.db')
    .option('--limit <name=number>', 'lower or raise a budget, such as cpuMs=1000; repeatable', collect, [])
    .option('--policy <file>', 'policy that decides each call: .json, or a module that exports policy')
    .option('--description <text>', 'what the program does, for the log')
    .option('--json', 'print one JSON object on standard output')
    .addHelpText('after', RUN_EXAMPLES)
    .action(async (path, options) => setExitCode(await runCommand(path, options)))
  program
    .command('sdk')
    .description('print what a model is given for these tools: prompt sections with the declarations')
    .option('--tools <module>', 'module that exports tool definitions; repeatable', collect, [])
    .option('--json', 'print schemas, sections and known names as JSON')
    .addHelpText('after', '\nExample:\n  ptc sdk --tools examples/tools/repository.ts')
    .action(sdkCommand)
  addPolicyCommands(program)
  addLogCommands(program)
  return program
}

function addPolicyCommands(program: Command): void {
  program
    .command('policy')
    .description('try out policies')
    .command('test')
    .description('say which rule of a policy decides a call')
    .argument('<tool>', 'raw name of the tool')
    .argument('[arguments]', 'its arguments as JSON; default: {}')
    .requiredOption('--policy <file>', 'policy: .json, or a module that exports policy')
    .option('--json', 'print { decision, rule, reason, passedOver }')
    .addHelpText('after', '\nExample:\n  ptc policy test fs.read \'{"path":"/data/../etc"}\' --policy policy.json')
    .action(policyTestCommand)
}

function addLogCommands(program: Command): void {
  const log = program.command('log').description('look at what programs did')
  log
    .command('ls')
    .description('list runs, newest first')
    .option('--log <file>', 'log file; default: PTC_LOG, else .ptc/log.db')
    .option('-n, --limit <count>', 'runs to list', '20')
    .option('--json', 'print an array of runs')
    .addHelpText('after', '\nExamples:\n  ptc log ls\n  ptc log ls -n 100 --json')
    .action(logLsCommand)
  log
    .command('show')
    .description('show one run: program, calls over time, console, result')
    .argument('<run>', 'id of a run, the beginning of one, or last')
    .option('--log <file>', 'log file; default: PTC_LOG, else .ptc/log.db')
    .option('--json', 'print { run, calls, console }')
    .addHelpText('after', '\nExamples:\n  ptc log show last\n  ptc log show 3f2a --json')
    .action(logShowCommand)
}

const RUN_EXAMPLES = `
Examples:
  ptc run report.ts --tools tools.ts
  echo 'return 1 + 1' | ptc run -
  ptc run report.ts --tools tools.ts --limit cpuMs=2000 --json

Exit codes: 0 ok, 1 the program failed, 2 usage, 3 environment, 130 interrupted.`

function explain(failure: unknown): number {
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (failure instanceof CommandError) return say(failure.message, failure.exitCode)
  if (failure instanceof PtcUsageError) return say(failure.message, EXIT.usage)
  if (failure instanceof LogError)
    return say(failure.message, failure.code === 'RUN_NOT_FOUND' ? EXIT.usage : EXIT.environment)
  if (failure instanceof SandboxUnavailableError) return say(failure.message, EXIT.environment)
  if (failure instanceof HarnessError) return say(`${failure.code}: ${failure.message}`, EXIT.usage)
  throw failure
}

function say(message: string, exitCode: number): number {
  process.stderr.write(`ptc: ${visible(message)}\n`)
  return exitCode
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value]
}

function packageVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('ptc-executor/package.json')
  return version
}
