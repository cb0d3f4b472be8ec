import type { JsonValue } from '../json/value.ts'

/** The orthogonal ways in which a run can fail; exactly one wins. */
export type RunFailureKind =
  | 'exception'
  | 'timeout'
  | 'abort'
  | 'worker-exit'
  | 'invalid-output'
  | 'output-limit'
  | 'protocol'
  | 'sandbox-unavailable'

/** Why a run has no value. */
export interface RunFailure {
  readonly kind: RunFailureKind
  /** Stable code, see docs/errors.md. */
  readonly code: string
  readonly message: string
  /** For the operator: paths and last words of processes; a model never reads it. */
  readonly detail?: string
  /** Class name of a thrown error. */
  readonly name?: string
  /** Stack text of the program's realm, untrusted and bounded; lines and columns are those of `program`. */
  readonly stack?: string
  /** Raw name of the tool whose failure ended the program. */
  readonly toolName?: string
}

/** One function as a program may call it; a rejection's `code` and `retryable` reach the program. */
export type PtcFunction = (args: JsonValue) => Promise<JsonValue>

/** One global object of functions. */
export interface PtcNamespace {
  readonly global: string
  readonly functions: ReadonlyMap<string, PtcFunction>
  readonly errorClass: { readonly name: string; readonly memberNameProperty: string }
}

/** Budgets of one run, see docs/limits.md. */
export interface RunLimits {
  /** Compute of the program in milliseconds; waiting for tools is free. */
  readonly cpuMs: number
  /** Elapsed milliseconds from start to end, tools included. */
  readonly wallMs: number
  /** Heap of the program's isolate in MiB. */
  readonly memoryMb: number
  readonly maxSubCalls: number
  /** One value into the program, bytes of JSON. */
  readonly maxMessageBytes: number
  /** One value out of the program, bytes of JSON. */
  readonly maxMessageBytesOut: number
  /** All values of a run, both ways together, bytes of JSON. */
  readonly maxBridgeBytes: number
  /** Console lines plus value or diagnostic, bytes of JSON. */
  readonly maxOutputBytes: number
}

/** What a run needs; the caller has compiled the program. */
export interface PtcRunSpec {
  /** JavaScript body of an async function. */
  readonly program: string
  /** Name that the program's frames carry in stack texts. */
  readonly filename: string
  readonly namespaces: readonly PtcNamespace[]
  readonly limits: RunLimits
  /** Programs of different owners never share a process. */
  readonly owner: string
  readonly signal: AbortSignal
  /** Whether the program waits for people alone; such time counts against no budget. Default: it never does. */
  readonly isParked?: () => boolean
  /** Called for each console line as it arrives. */
  readonly onLog?: (line: ConsoleLine) => void
}

/** One console call of the program. */
export interface ConsoleLine {
  readonly level: string
  readonly text: string
}

/** How a run ended; console lines are kept in every case. */
export interface PtcRunResult {
  /** Absent when the program returned nothing or failed. */
  readonly value?: JsonValue
  readonly logs: readonly string[]
  readonly error?: RunFailure
}

/**
 * A substrate that runs compiled programs. Failures of a program resolve; only misuse rejects.
 */
export interface PtcRuntime {
  readonly language: 'typescript'
  readonly isolation: string
  /** What a model must know about the place its program runs in. */
  readonly executionInstructions: string
  run(spec: PtcRunSpec): Promise<PtcRunResult>
  /** Aborts live runs and resolves once nothing of the runtime is left: no process, no timer. */
  dispose(): Promise<void>
}
