/** From what an operator wrote to rules that can be asked; every fault is told, and none leaves anything open. */
import { messageOf, PolicyError } from '../errors.ts'
import { parseJsonPath } from '../json/path.ts'
import { isPlainRecord } from '../json/plain.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { JsonValue } from '../json/value.ts'
import { compileOperator, type ConditionContext, OPERATOR_NAMES, type Test } from './condition.ts'
import type { PolicyDecisionKind } from './definition.ts'
import { Policy } from './policy.ts'
import type { CompiledCondition, CompiledRule } from './rule.ts'

/** Where a policy comes from. */
export interface PolicyOrigin {
  /** The file, or what else holds it, for messages. */
  readonly place: string
  /** Absolute path that relative ones in arguments and rules start at. */
  readonly workingFolder: string
}

const DECISIONS: readonly string[] = ['allow', 'ask', 'deny'] satisfies readonly PolicyDecisionKind[]

/**
 * Compiles a policy.
 * @throws PolicyError (`INVALID_POLICY`) that lists every fault with its path.
 */
export async function compilePolicy(definition: unknown, origin: PolicyOrigin): Promise<Policy> {
  // Loaded here, since only a policy needs it.
  const { RE2JS } = await import('re2js')
  const compilation = new Compilation({
    workingFolder: origin.workingFolder,
    compileRegex: (pattern) => RE2JS.compile(pattern),
  })
  const policy = compilation.policy(jsonOf(definition, origin))
  if (policy === undefined || compilation.violations.length > 0) {
    throw new PolicyError(origin.place, compilation.violations)
  }
  return policy
}

/** A copy that nobody can change later. */
function jsonOf(definition: unknown, { place }: PolicyOrigin): JsonValue {
  try {
    return snapshotJson(definition)
  } catch (cause) {
    throw new PolicyError(place, [messageOf(cause)], { cause })
  }
}

type Fields = Readonly<Record<string, JsonValue>>

class Compilation {
  readonly violations: string[] = []
  readonly #context: ConditionContext

  constructor(context: ConditionContext) {
    this.#context = context
  }

  policy(definition: JsonValue): Policy | undefined {
    const fields = this.#fields(definition, 'policy', ['rules', 'default'])
    if (fields === undefined) return undefined
    const fallback = this.#decision(fields['default'], 'default')
    const { rules: list = [] } = fields
    if (!Array.isArray(list)) {
      this.#refuse('rules', 'must be an array of rules')
      return undefined
    }
    const rules = list.map((rule, index) => this.#rule(rule, `rules[${index}]`, index + 1))
    return fallback === undefined
      ? undefined
      : new Policy(
          rules.filter((rule) => rule !== undefined),
          fallback,
        )
  }

  #rule(definition: JsonValue, path: string, number: number): CompiledRule | undefined {
    const fields = this.#fields(definition, path, ['tool', 'when', 'decision', 'reason'])
    if (fields === undefined) return undefined
    const { reason } = fields
    if (reason !== undefined && (typeof reason !== 'string' || reason.trim() === '')) {
      this.#refuse(`${path}.reason`, 'must be a text that is not empty')
    }
    const patterns = this.#patterns(fields['tool'], `${path}.tool`)
    const decision = this.#decision(fields['decision'], `${path}.decision`)
    const conditions = this.#conditions(fields['when'], `${path}.when`)
    if (decision === undefined) return undefined
    return { number, patterns, conditions, decision, reason: typeof reason === 'string' ? reason : undefined }
  }

  #decision(value: JsonValue | undefined, path: string): PolicyDecisionKind | undefined {
    if (isDecision(value)) return value
    this.#refuse(path, `must be "allow", "ask" or "deny", ${described(value)} came`)
    return undefined
  }

  #patterns(value: JsonValue | undefined, path: string): readonly string[] {
    const patterns = typeof value === 'string' ? [value] : value
    if (Array.isArray(patterns) && patterns.length > 0 && patterns.every(isText)) return patterns
    this.#refuse(path, `must be a tool name, such as "fs.read" or "fs.*", or several; ${described(value)} came`)
    return []
  }

  #conditions(value: JsonValue | undefined, path: string): readonly CompiledCondition[] {
    if (value === undefined) return []
    if (!isPlainRecord(value) || Object.keys(value).length === 0) {
      this.#refuse(path, 'must hold conditions by argument path; leave it out where there are none')
      return []
    }
    const fields = value as Fields // a JSON object
    return Object.entries(fields).flatMap(([argument, condition]) =>
      this.#condition(argument, condition, `${path}[${JSON.stringify(argument)}]`),
    )
  }

  #condition(argument: string, value: JsonValue, path: string): readonly CompiledCondition[] {
    const tests: Test[] = []
    if (!isPlainRecord(value) || Object.keys(value).length === 0) {
      this.#refuse(path, `must be an object with ${OPERATOR_NAMES.join(', ')}; ${described(value)} came`)
      return []
    }
    const fields = value as Fields // a JSON object
    for (const [name, operand] of Object.entries(fields)) {
      const test = compileOperator(name, operand, this.#context)
      if (typeof test === 'function') tests.push(test)
      else this.#refuse(`${path}.${name}`, test.problem)
    }
    try {
      return [{ path: argument, steps: parseJsonPath(argument), tests }]
    } catch (problem) {
      this.#refuse(path, messageOf(problem))
      return []
    }
  }

  #fields(value: JsonValue, path: string, known: readonly string[]): Fields | undefined {
    if (!isPlainRecord(value)) {
      this.#refuse(path, `must be an object, ${described(value)} came`)
      return undefined
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.#refuse(path, `does not know ${JSON.stringify(key)}; it knows ${known.join(', ')}`)
    }
    return value as Fields // a JSON object
  }

  #refuse(path: string, problem: string): void {
    this.violations.push(`${path} ${problem}`)
  }
}

function isDecision(value: JsonValue | undefined): value is PolicyDecisionKind {
  return typeof value === 'string' && DECISIONS.includes(value)
}

function isText(value: JsonValue): value is string {
  return typeof value === 'string' && value !== ''
}

function described(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : `a value of type ${typeof value}`
}
