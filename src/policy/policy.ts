/** Ordered rules over calls: the first one that matches decides. */
import type { PreToolDecision } from '../tool/definition.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'
import type { PolicyDecisionKind } from './definition.ts'
import { type CompiledRule, isNamedBy, mismatchOf, type PolicyCall } from './rule.ts'

/** Which rule decides a call, and why the ones before it do not. */
export interface PolicyExplanation {
  readonly decision: PolicyDecisionKind
  /** Number of the rule, from 1; absent where the default decides. */
  readonly rule?: number
  /** What a denial tells the model and an ask the person. */
  readonly reason: string
  /** The rules before the one that decides, in order. */
  readonly passedOver: readonly { readonly rule: number; readonly because: string }[]
}

/** A policy in force; made by `loadPolicy`. */
export class Policy {
  readonly #rules: readonly CompiledRule[]
  readonly #default: PolicyDecisionKind

  constructor(rules: readonly CompiledRule[], fallback: PolicyDecisionKind) {
    this.#rules = rules
    this.#default = fallback
  }

  /** The decision on a call, as a listener of `tools/pre-execute` would give it. */
  decide(call: PolicyCall): PreToolDecision {
    const { decision, reason } = this.explain(call)
    switch (decision) {
      case 'allow':
        return { kind: 'allow' }
      case 'ask':
        return { kind: 'ask', reason }
      case 'deny':
        return { kind: 'deny', reason, info: { name: 'PolicyError', code: 'POLICY_DENIED' } }
    }
  }

  /** The decision with the way to it. */
  explain(call: PolicyCall): PolicyExplanation {
    const passedOver: { rule: number; because: string }[] = []
    for (const rule of this.#rules) {
      const because = mismatchOf(rule, call)
      if (because === undefined) {
        const { decision, number, reason = `rule ${number} of the policy: ${PHRASE[decision]} "${call.name}"` } = rule
        return { decision, rule: number, reason, passedOver }
      }
      passedOver.push({ rule: rule.number, because })
    }
    // Its program is judged call by call; a default that stopped it would leave nothing to judge.
    const decision = call.name === RUN_CODE_NAME ? 'allow' : this.#default
    return { decision, reason: `the policy's default: ${PHRASE[decision]} "${call.name}"`, passedOver }
  }

  /** Rules whose patterns name none of these tools: often a misspelled name. */
  rulesWithoutTools(
    names: readonly string[],
  ): readonly { readonly rule: number; readonly patterns: readonly string[] }[] {
    const known = [...names, RUN_CODE_NAME]
    return this.#rules
      .filter(({ patterns }) => !patterns.some((pattern) => known.some((name) => isNamedBy(pattern, name))))
      .map(({ number, patterns }) => ({ rule: number, patterns }))
  }
}

const PHRASE: Readonly<Record<PolicyDecisionKind, string>> = {
  allow: 'it allows',
  ask: 'a person has to allow',
  deny: 'it denies',
}
