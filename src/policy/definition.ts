/** A declarative policy as an operator writes it, in a file or in code. */
import type { LosslessNumber } from 'lossless-json'

/** What becomes of a call: it runs, a person is asked, or it is refused. */
export type PolicyDecisionKind = 'allow' | 'ask' | 'deny'

/** A value that an argument is compared with. */
export type PolicyScalar = string | number | bigint | boolean | null | LosslessNumber

/** What must hold of one argument; of several operators all must hold. */
export interface PolicyCondition {
  /** The argument is this value; numbers are compared as decimals. */
  readonly equals?: PolicyScalar
  /** The argument is one of these values. */
  readonly oneOf?: readonly PolicyScalar[]
  /**
   * The text has a match of this regular expression (RE2 syntax, linear time), anywhere in it: write `^…$` for
   * the whole text. Texts over 65,536 characters are not searched and count as wrongly typed.
   */
  readonly matches?: string
  /**
   * The text is a path of this folder or below it. Compared as normalised absolute paths; relative ones start at the
   * working folder. Lexical: links are not followed.
   */
  readonly under?: string
  /** The number is below this one. */
  readonly less?: number | bigint | LosslessNumber
  /** The number is above this one. */
  readonly greater?: number | bigint | LosslessNumber
}

/** One rule; it matches a call when its pattern and all its conditions do. */
export interface PolicyRule {
  /** Raw tool name; `*` stands for any characters, also none. Of several patterns one has to match. */
  readonly tool: string | readonly string[]
  /**
   * Conditions by argument path, such as `path`, `files[*].path` or `$["odd name"]`. Of an argument that is missing or
   * wrongly typed, an allow rule does not match, a deny or ask rule does.
   */
  readonly when?: Readonly<Record<string, PolicyCondition>>
  readonly decision: PolicyDecisionKind
  /** Why; a denial shows it to the model, an ask to the person. */
  readonly reason?: string
}

/** Ordered rules, of which the first that matches decides; the default decides the rest. */
export interface PolicyDefinition {
  readonly rules?: readonly PolicyRule[]
  /** For calls that no rule matches; always said. It does not concern `run_code`, whose calls are decided one by one. */
  readonly default: PolicyDecisionKind
}
