/**
 * Every error class and code of the host, in one place. A code is stable: callers branch on
 * `code`, never on the text of a message. docs/errors.md explains each one.
 */

/** Details shared by every error of this package. */
export interface HarnessErrorOptions {
  /** What made this error happen; kept for the operator, never shown to the model. */
  readonly cause?: unknown
  /** Raw user-facing detail that durable records keep and the model does not see. */
  readonly reason?: string
}

/** An error with a stable identity (`name` and `code`) that results and logs carry. */
export class HarnessError extends Error {
  readonly code: string
  readonly reason?: string

  /**
   * @param message what was expected, what came and what to do.
   * @param code stable UPPER_SNAKE identity.
   */
  constructor(message: string, code: string, { cause, reason }: HarnessErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.code = code
    if (reason !== undefined) this.reason = reason
  }
}

/** The host used the API wrongly: an option, a name or a limit that cannot be. */
export class PtcUsageError extends HarnessError {
  constructor(message: string, options?: HarnessErrorOptions) {
    super(message, 'USAGE', options)
  }
}

/** A value is not JSON. `path` points at the first offender, `$` is the root. */
export class JsonValueError extends HarnessError {
  readonly path: string

  constructor(path: string, problem: string, code: 'NOT_JSON' | 'TOO_DEEP' = 'NOT_JSON') {
    super(`${path}: ${problem}`, code)
    this.path = path
  }
}

/** A text is not JSON; the message says where it broke. */
export class JsonTextError extends HarnessError {
  constructor(message: string, options?: HarnessErrorOptions) {
    super(message, 'INVALID_JSON', options)
  }
}

/** A schema lies outside the enforced subset; `violations` lists every bad path. */
export class JsonSchemaError extends HarnessError {
  readonly violations: readonly string[]

  constructor(violations: readonly string[]) {
    super(`unsupported JSON schema: ${violations.join('; ')}`, 'UNSUPPORTED_SCHEMA')
    this.violations = violations
  }
}

/** Arguments do not fit the tool's declared parameters. */
export class ToolArgsError extends HarnessError {
  readonly violations: readonly string[]

  constructor(violations: readonly string[], options?: HarnessErrorOptions) {
    super(`invalid arguments: ${violations.join('; ')}`, 'INVALID_ARGS', options)
    this.violations = violations
  }
}

/** A tool's value, renderer or projector broke the tool's own declaration. */
export class ToolOutputError extends HarnessError {
  readonly violations: readonly string[]

  constructor(tool: string, violations: readonly string[], options?: HarnessErrorOptions) {
    super(`tool "${tool}" returned invalid output: ${violations.join('; ')}`, 'INVALID_TOOL_OUTPUT', options)
    this.violations = violations
  }
}

/** No tool of that name may be executed by this caller; `route` says how it can be reached, if it can. */
export class ToolNotFoundError extends HarnessError {
  constructor(tool: string, route?: string) {
    super(`unknown tool "${tool}"${route === undefined ? '' : `; ${route}`}`, 'UNKNOWN_TOOL')
  }
}

/** A tool body ignored its cancellation and was given up; whether its effects happened is unknown. */
export class EffectsUnknownError extends HarnessError {
  constructor(message: string) {
    super(message, 'EFFECTS_UNKNOWN')
  }
}

/** A tool body did not settle within the `timeoutMs` of its definition. */
export class ToolTimeoutError extends HarnessError {
  /** @param timeoutMs milliseconds that it had. */
  constructor(timeoutMs: number) {
    super(`tool call timed out after ${timeoutMs}ms`, 'TOOL_TIMEOUT')
  }
}

/** A failed sub-call, as the program's `ToolCallError` shows it. */
export class SubCallError extends HarnessError {
  /** False when the same call can only fail again; undefined when nobody knows. */
  readonly retryable: boolean | undefined

  constructor(message: string, code: string, retryable?: boolean) {
    super(message, code)
    this.retryable = retryable
  }
}

/** A tool body needs an Agent, a service or an open turn that its call does not have. */
export class ToolContextUnavailableError extends HarnessError {
  constructor(message: string) {
    super(message, 'TOOL_CONTEXT_UNAVAILABLE')
  }
}

/** A model's program failed; `code` is one of the outcome codes in docs/errors.md. */
export class CodeRunFailedError extends HarnessError {}

/** The program's text cannot be compiled: its own syntax, its size, or the compiler gave up. */
export class ProgramError extends HarnessError {
  /** Where in the program's own text, 1-based, when known. */
  readonly position?: { readonly line: number; readonly column: number }

  constructor(
    message: string,
    code: 'SYNTAX_ERROR' | 'SOURCE_TOO_LARGE' | 'COMPILE_FAILED',
    options: HarnessErrorOptions & { position?: { line: number; column: number } } = {},
  ) {
    super(message, code, options)
    if (options.position) this.position = options.position
  }
}

/** No sandbox can be had: the child cannot start, or the queue is full. */
export class SandboxUnavailableError extends HarnessError {
  constructor(
    message: string,
    code: 'SANDBOX_UNAVAILABLE' | 'QUEUE_FULL' = 'SANDBOX_UNAVAILABLE',
    options?: HarnessErrorOptions,
  ) {
    super(message, code, options)
  }
}

/** The dispatch log cannot be opened, read or written. */
export class LogError extends HarnessError {
  constructor(
    message: string,
    code: 'LOG_UNAVAILABLE' | 'LOG_WRITE_FAILED' | 'RUN_NOT_FOUND',
    options?: HarnessErrorOptions,
  ) {
    super(message, code, options)
  }
}

/** A policy cannot be taken as it is; `violations` lists every fault with its place. */
export class PolicyError extends HarnessError {
  readonly violations: readonly string[]

  /** @param place the file, or what else holds the policy. */
  constructor(place: string, violations: readonly string[], options?: HarnessErrorOptions) {
    super(`${place} is no valid policy: ${violations.join('; ')}`, 'INVALID_POLICY', options)
    this.violations = violations
  }
}

/** An executor broke inside a batch; what had been committed until then is kept. */
export class ToolBatchExecutionError<Result = unknown, Context = unknown> extends HarnessError {
  /** Outcomes committed before the failure, in input order. */
  readonly results: readonly Result[]
  /** Contexts accepted before the failure, in commit order. */
  readonly additionalContexts: readonly Context[]

  constructor(
    message: string,
    committed: { results: readonly Result[]; additionalContexts: readonly Context[] },
    options?: HarnessErrorOptions,
  ) {
    super(message, 'TOOL_BATCH_FAILED', options)
    this.results = committed.results
    this.additionalContexts = committed.additionalContexts
  }
}

/** Names that results carry without a class being thrown. */
export const ABORT_ERROR = 'AbortError'
export const APPROVAL_ERROR = 'ApprovalError'

/** The text of any thrown value; total, also for hostile values. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message)
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown
      if (typeof message === 'string') return message
    }
    return String(thrown)
  } catch {
    return '<unprintable thrown value>'
  }
}
