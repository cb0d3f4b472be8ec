/** Runs programs in the real sandbox, without pipeline and log. */
import type { JsonValue } from '../../src/json/value.ts'
import type { IsolateRuntime } from '../../src/sandbox/isolate-runtime.ts'
import { DEFAULT_LIMITS } from '../../src/sandbox/limits.ts'
import type { PtcFunction, PtcRunResult, RunLimits } from '../../src/sandbox/ptc-runtime.ts'

/** Functions that the corpus of hostile programs calls. */
export const CORPUS_FUNCTIONS: Readonly<Record<string, PtcFunction>> = {
  echo: async (args) => args,
  throw: async () => {
    throw new Error('the tool failed')
  },
  throwCause: async () => {
    throw new Error('the tool failed', { cause: new Error(`secret in ${import.meta.url}`) })
  },
  len: async (args) => ({ length: JSON.stringify(args).length }),
  merge: async (args) => ({ merged: args }),
}

/** Options of one run. */
export interface SandboxRunOptions {
  readonly functions?: Readonly<Record<string, PtcFunction>>
  readonly limits?: Partial<RunLimits>
  readonly owner?: string
  readonly signal?: AbortSignal
}

/** Runs one JavaScript body. */
export function runIn(
  runtime: IsolateRuntime,
  program: string,
  options: SandboxRunOptions = {},
): Promise<PtcRunResult> {
  const { functions = CORPUS_FUNCTIONS, limits, owner = 'test', signal = new AbortController().signal } = options
  return runtime.run({
    program,
    filename: 'program.ts',
    namespaces: [
      {
        global: 'tools',
        functions: new Map(Object.entries(functions)),
        errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' },
      },
    ],
    limits: { ...DEFAULT_LIMITS, ...limits },
    owner,
    signal,
  })
}

/** The value of a run that is expected to have one. */
export async function valueOf(run: Promise<PtcRunResult>): Promise<JsonValue | undefined> {
  const { value, error } = await run
  if (error !== undefined) throw new Error(`${error.kind}/${error.code}: ${error.message}`)
  return value
}
