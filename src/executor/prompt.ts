/** What the model is told: the schema of `run_code` and the sections of the prompt. */
import type { PtcRuntime } from '../sandbox/ptc-runtime.ts'
import { renderToolsSdk } from '../sdk/render.ts'
import type { ToolPromptSection, ToolSchema } from '../tool/content.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { RUN_CODE_NAME } from '../tool/reserved.ts'

/** The one schema that the model gets. */
export function runCodeSchema(runtime: PtcRuntime): ToolSchema {
  return {
    name: RUN_CODE_NAME,
    description: [
      'Runs one TypeScript program that calls tools. Write the body of an async function: top-level `await` and `return` work.',
      'Call tools as `await tools.name({ … })`, as the declarations in the prompt show.',
      'Only what the program returns or prints with console.log comes back; everything else stays out of the conversation.',
      runtime.executionInstructions,
    ].join(' '),
    parameters: {
      type: 'object',
      properties: {
        code: { type: 'string', description: 'The program: the body of an async TypeScript function.' },
        description: {
          type: 'string',
          description:
            'What the program does, in 5 to 10 words, for people who watch. For example: "Count open issues by label".',
        },
        timeoutMs: {
          type: 'number',
          description:
            'Optional. Milliseconds after which the run is ended, tools included. It can only shorten the limit of the host.',
        },
      },
      required: ['code', 'description'],
    },
  }
}

/**
 * The sections that stand in the prompt beside that schema; the same text for the same tools.
 * @param tools what programs may call.
 * @param direct names that a model may call by itself beside `run_code`; undefined: nothing has to be said about that.
 */
export function promptSections(
  tools: readonly ToolDefinition[],
  direct: readonly string[] | undefined,
): ToolPromptSection[] {
  const sdk = { name: 'tools:sdk', text: `${SDK_GUIDE}\n\n\`\`\`ts\n${renderToolsSdk(tools).trimEnd()}\n\`\`\`` }
  return direct === undefined ? [sdk] : [{ name: 'tools:ptc-only', text: directRule(direct) }, sdk]
}

function directRule(direct: readonly string[]): string {
  const rest = 'Every other tool is called from inside its program.'
  if (direct.length === 0) return `\`${RUN_CODE_NAME}\` is the only tool that can be called directly. ${rest}`
  const names = [RUN_CODE_NAME, ...direct.toSorted()].map((name) => `\`${name}\``)
  return `Only ${names.slice(0, -1).join(', ')} and ${names.at(-1)} can be called directly. ${rest.replace('its program', `a \`${RUN_CODE_NAME}\` program`)}`
}

const SDK_GUIDE = [
  `# Writing code for ${RUN_CODE_NAME}`,
  '',
  `Give \`${RUN_CODE_NAME}\` two arguments: \`code\`, the program, and \`description\`, what it does in a few words.`,
  '',
  '- `await tools.name(args)` calls a tool and gives its value. A name that is not an identifier is quoted: `tools["odd name"](args)`. Arguments and values are JSON: no undefined, Date or Map in them.',
  '- A call that fails rejects with `ToolCallError`: `toolName`, `message`, `code` (such as INVALID_ARGS), and `retryable` where it is known. Catch it where the program can go on.',
  '- Independent read-only calls may run at the same time: `await Promise.all([…])`. Calls that change something run one at a time, in the order in which they were made.',
  '- Await every call: what still runs when the program returns is cut off.',
  '- Return the result, or print with console.log. Filter and join inside the program and return only what is needed.',
  '- A whole number beyond 2^53 arrives as a bigint and keeps its digits.',
].join('\n')
