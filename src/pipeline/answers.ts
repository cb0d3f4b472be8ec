/** What listeners may answer; they may be written without types. */
import { messageOf } from '../errors.ts'
import type { PostToolDecision, PreToolDecision } from '../tool/definition.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { asContent } from './normalise.ts'

/** What is wrong with a decision of `tools/pre-execute`. */
export function faultOfPreDecision(decision: PreToolDecision): string | undefined {
  switch (decision?.kind) {
    case 'allow':
    case 'cancel':
      return undefined
    case 'deny':
      return typeof decision.reason === 'string' ? faultOfInfo(decision.info) : 'a denial needs reason: a text'
    case 'ask':
      return isOptionalText(decision.reason) && isOptionalText(decision.displayReason?.en)
        ? undefined
        : 'an ask may have reason, a text, and displayReason: { en: a text }'
    default:
      return `it must decide allow, deny, cancel or ask, ${described(decision)} came`
  }
}

/** What is wrong with an answer of `tools/execute`. */
export function faultOfResult(result: ToolExecutionResult): string | undefined {
  if (typeof result !== 'object' || result === null) return `it must return a result, ${described(result)} came`
  const fault = faultOfContexts(result.additionalContexts)
  if (fault !== undefined || !result.isError) return fault
  return typeof result.error?.message === 'string'
    ? (faultOfInfo(result.error.info) ?? faultOfContent('content', result.content))
    : 'a failed result needs error: { message, info? }'
}

/** What is wrong with a decision of `tools/post-execute`. */
export function faultOfPostDecision(decision: PostToolDecision): string | undefined {
  switch (decision?.kind) {
    case 'accept':
      return (
        faultOfContexts(decision.additionalContexts) ??
        (decision.content === undefined ? undefined : faultOfContent('content', decision.content))
      )
    case 'block':
      return (
        faultOfContexts(decision.additionalContexts) ??
        faultOfContent('feedback', decision.feedback) ??
        faultOfInfo(decision.info)
      )
    default:
      return `it must decide accept or block, ${described(decision)} came`
  }
}

/** What is wrong with content of that field. */
export function faultOfContent(field: string, content: unknown): string | undefined {
  try {
    asContent(content)
    return undefined
  } catch (problem) {
    return `${field}: ${messageOf(problem)}`
  }
}

function faultOfContexts(contexts: unknown): string | undefined {
  return contexts === undefined || Array.isArray(contexts)
    ? undefined
    : 'additionalContexts must be an array of messages'
}

function faultOfInfo(info: unknown): string | undefined {
  if (info === undefined) return undefined
  const { name, code } = Object(info) as { name?: unknown; code?: unknown }
  return typeof name === 'string' && typeof code === 'string' ? undefined : 'info must be { name, code, reason? }'
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function described(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return answer === null ? 'null' : typeof answer
  const { kind } = answer as { kind?: unknown }
  return `an object of kind ${JSON.stringify(kind) ?? 'undefined'}`
}
