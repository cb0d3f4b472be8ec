import {
  type Agent,
  type ContentBlock,
  type ToolDefinition,
  type ToolExecutionInput,
  ToolExecutionPipeline,
  type ToolExecutionPipelineOptions,
  type ToolExecutionResult,
  ToolsService,
  type UserMessage,
} from '../../src/index.ts'

export const text = (value: string): ContentBlock[] => [{ type: 'text', text: value }]
export const agent: Agent = { id: 'agent', session: { id: 'agent', append: async () => undefined } }

/** A context with a recognisable source. */
export const message = (label: string): UserMessage => ({ role: 'user', content: text(label), source: { kind: label } })

/** One service with one tool, and a count of everything that must happen once. */
export function house(part: Partial<ToolDefinition> = {}, options: Omit<ToolExecutionPipelineOptions, 'tools'> = {}) {
  const tools = new ToolsService()
  const seen = { bodies: 0, finalized: 0, results: 0 }
  const unregister = tools.register({
    name: 'tool',
    description: 'A tool.',
    parameters: { type: 'object' },
    output: { schema: {}, render: (_args, value) => text(JSON.stringify(value)) },
    finalizeContent: () => {
      seen.finalized++
      return undefined
    },
    ...part,
    execute: async (args, exec) => {
      seen.bodies++
      return part.execute === undefined ? { ok: true } : part.execute(args, exec)
    },
  })
  tools.on('tools/result', (exec, result) => {
    // What an observer throws is contained, so it counts what it would otherwise expect.
    if (Object.isFrozen(exec) && isDeepFrozen(exec.arguments) && isDeepFrozen(result)) seen.results++
    return undefined
  })
  const pipeline = new ToolExecutionPipeline({ tools, ...options })
  const call = (input: Partial<ToolExecutionInput> = {}): Promise<ToolExecutionResult> =>
    pipeline.execute({
      callId: 'c1',
      name: 'tool',
      arguments: { a: 1 },
      signal: new AbortController().signal,
      agent,
      ...input,
    })
  return { tools, pipeline, call, seen, unregister }
}

/** Code and message of a failed result. */
export function failureOf(result: ToolExecutionResult): unknown {
  return result.isError ? [result.error.info?.code, result.error.message] : 'ok'
}

/** Labels of the contexts of a result. */
export function labels(result: ToolExecutionResult): unknown {
  return result.additionalContexts?.map(({ source }) => source)
}

/** Whether a value and everything in it is frozen. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen)
}
