/** `ptc policy test`: which rule decides a call. */
import { type JsonValue, loadPolicy, messageOf, parseJson, type PolicyExplanation } from '../index.ts'
import { CommandError } from './exit-code.ts'
import { jsonText, oneLine, styled } from './terminal.ts'

/** Prints the decision on a call of `tool` with these arguments, and the rules that were passed over. */
export async function policyTestCommand(
  tool: string,
  args: string | undefined,
  options: { readonly policy: string; readonly json?: boolean },
): Promise<void> {
  const policy = await loadPolicy(options.policy)
  const explanation = policy.explain({ name: tool, arguments: argumentsOf(args) })
  if (options.json === true) process.stdout.write(`${jsonText(jsonExplanation(explanation), 2)}\n`)
  else process.stdout.write(`${described(explanation).join('\n')}\n`)
}

function argumentsOf(text = '{}'): JsonValue {
  try {
    return parseJson(text)
  } catch (problem) {
    throw new CommandError(`the arguments must be JSON, such as '{"path":"/data"}': ${messageOf(problem)}`)
  }
}

function described({ decision, rule, reason, passedOver }: PolicyExplanation): string[] {
  const style = decision === 'allow' ? 'green' : decision === 'ask' ? 'yellow' : 'red'
  const by = rule === undefined ? 'default' : `rule ${rule}`
  return [
    `${styled(style, decision)}  by ${by}: ${oneLine(reason, 200)}`,
    ...passedOver.map(({ rule: number, because }) => `  rule ${number} does not match: ${oneLine(because, 120)}`),
  ]
}

function jsonExplanation({ decision, rule, reason, passedOver }: PolicyExplanation): JsonValue {
  return { decision, rule: rule ?? null, reason, passedOver: passedOver.map((passed) => ({ ...passed })) }
}
