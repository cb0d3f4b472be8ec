/** One rule of a policy, ready to be asked. */
import { type JsonPathStep, selectValues } from '../json/path.ts'
import type { JsonValue } from '../json/value.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'
import { type Test, testAll } from './condition.ts'
import type { PolicyDecisionKind } from './definition.ts'

/** A call as a policy sees it. */
export interface PolicyCall {
  /** Raw name of the tool. */
  readonly name: string
  /** Arguments as JSON, as the pipeline froze them. */
  readonly arguments: unknown
}

/** One condition, compiled. */
export interface CompiledCondition {
  /** The path as it was written. */
  readonly path: string
  readonly steps: readonly JsonPathStep[]
  readonly tests: readonly Test[]
}

/** One rule, compiled. */
export interface CompiledRule {
  /** From 1, in the order of the policy. */
  readonly number: number
  readonly patterns: readonly string[]
  readonly conditions: readonly CompiledCondition[]
  readonly decision: PolicyDecisionKind
  readonly reason: string | undefined
}

/** Why a rule does not match a call; undefined when it does. */
export function mismatchOf(rule: CompiledRule, { name, arguments: args }: PolicyCall): string | undefined {
  if (!rule.patterns.some((pattern) => isNamedBy(pattern, name))) return 'the tool is not named by it'
  // The pipeline has materialised the arguments: they are JSON.
  const failed = rule.conditions.find((condition) => !isMet(condition, args as JsonValue, rule.decision))
  if (failed === undefined) return undefined
  return `its condition on ${failed.path} is not met`
}

/** A star stands for any characters; a rule concerns `run_code` only when it says so in full. */
export function isNamedBy(pattern: string, name: string): boolean {
  if (name === RUN_CODE_NAME || !pattern.includes('*')) return pattern === name
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop() ?? ''
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  const end = name.length - last.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** What is missing or of another type never opens: it stops an allow rule and lets the others match. */
function isMet({ steps, tests }: CompiledCondition, args: JsonValue, decision: PolicyDecisionKind): boolean {
  const { values, isWhole } = selectValues(args, steps)
  if (decision === 'allow') return isWhole && values.every((value) => testAll(tests, value) === 'holds')
  return !isWhole || values.some((value) => testAll(tests, value) !== 'fails')
}
