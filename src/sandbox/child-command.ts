/** The command line of a child under profile `default`, see docs/sandbox.md. */
import { accessSync, constants, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SandboxUnavailableError } from '../errors.ts'

/** What to spawn. */
export interface ChildCommand {
  readonly file: string
  readonly args: readonly string[]
}

/** Options of one child's command. */
export interface ChildCommandOptions {
  /** Heap of the isolate that the child keeps ready, in MiB. */
  readonly memoryMb: number
  /** Largest frame that the child accepts, bytes. */
  readonly maxFrameBytes: number
  /** Processor time after which the system kills the child, in seconds; the backstop behind every watch. */
  readonly cpuSeconds: number
  /** False leaves out the Linux wrappers, for systems whose own do not know the options used here. */
  readonly isWrapped: boolean
}

/** Own heap of the child in MiB; isolates have theirs beside it. */
const CHILD_HEAP_MB = 96
const MAX_OPEN_FILES = 64
const BYTES_PER_MIB = 1_048_576
/** Address space that V8 reserves for the process and for each isolate's code (two at a time), MiB. */
const RESERVED_MB = 577 + 2 * 565
/** Room for frames and native memory above the isolate's heap, MiB. */
const DATA_HEADROOM_MB = 1_024

const packageRoot = findPackageRoot()

/** Builds the command; wrappers are used where the system has them. */
export function childCommand(options: ChildCommandOptions): ChildCommand {
  const native = nativeModule()
  const node = [
    process.execPath,
    ...nodeFlags(native),
    childEntry(),
    native,
    String(options.memoryMb),
    String(options.maxFrameBytes),
  ]
  const [file = process.execPath, ...args] = options.isWrapped ? [...wrappers(options), ...node] : node
  return { file, args }
}

/** Whether this system has anything to wrap a child in. */
export function hasWrappers(): boolean {
  return process.platform === 'linux' && (findProgram('setpriv') ?? findProgram('prlimit')) !== undefined
}

function wrappers({ memoryMb, cpuSeconds }: ChildCommandOptions): string[] {
  if (process.platform !== 'linux') return []
  const [setpriv, prlimit] = [findProgram('setpriv'), findProgram('prlimit')]
  const dataBytes = (RESERVED_MB + DATA_HEADROOM_MB + 2 * memoryMb) * BYTES_PER_MIB
  return [
    ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']),
    ...(prlimit === undefined
      ? []
      : [prlimit, '--core=0', `--nofile=${MAX_OPEN_FILES}`, `--cpu=${cpuSeconds}`, `--data=${dataBytes}`, '--']),
  ]
}

function nodeFlags(native: string): string[] {
  return [
    '--no-node-snapshot',
    // TurboFan compiles some innocent loops so that no interrupt ever ends them.
    '--no-turbofan',
    `--max-old-space-size=${CHILD_HEAP_MB}`,
    '--permission',
    '--allow-addons',
    `--allow-fs-read=${join(packageRoot, 'dist', 'runtime', '*')}`,
    `--allow-fs-read=${join(packageRoot, 'package.json')}`,
    `--allow-fs-read=${native}`,
    '--disable-warning=PERM0001',
    '--disable-warning=SecurityWarning',
  ]
}

/**
 * The file of isolated-vm's native part for this Node. The child loads it by its path, so that it
 * needs to read nothing else, however an installer laid out and linked the packages.
 */
function nativeModule(): string {
  try {
    const require = createRequire(import.meta.url)
    const manifest = realpathSync(require.resolve('isolated-vm/package.json'))
    const findBuild: { path(folder: string): string } = createRequire(manifest)('node-gyp-build')
    return realpathSync(findBuild.path(dirname(manifest)))
  } catch (cause) {
    const advice = 'install ptc-executor again, with install scripts allowed and the same Node that runs it'
    throw new SandboxUnavailableError(
      `isolated-vm has no native part for Node ${process.versions.node}: ${advice}`,
      undefined,
      { cause },
    )
  }
}

function childEntry(): string {
  return join(packageRoot, 'dist', 'runtime', 'child.js')
}

/** Sources and build output both lie below the folder that holds this package's package.json. */
function findPackageRoot(): string {
  for (let folder = dirname(realpathSync(fileURLToPath(import.meta.url))); ; folder = dirname(folder)) {
    if (isReadable(join(folder, 'package.json'))) return folder
    if (folder === dirname(folder))
      throw new SandboxUnavailableError('package.json of ptc-executor is missing; install it again')
  }
}

function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => isReadable(path, constants.X_OK))
}

function isReadable(path: string, mode: number = constants.R_OK): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
