/** Tools, calls and sessions for batches of direct calls. */
import {
  type Agent,
  defineTool,
  NativeExecutor,
  type NativeExecutorOptions,
  type SessionEvent,
  type ToolBatchInput,
  type ToolBatchResult,
  type ToolCallBlock,
  type ToolDefinition,
  ToolExecutionPipeline,
  type ToolExecutionPipelineOptions,
  type ToolExecutionResult,
  ToolsService,
} from '../../src/index.ts'

/** What a session was given, as `type callId`. */
export interface RecordedSession {
  readonly agent: Agent
  readonly events: SessionEvent[]
  readonly order: () => string[]
}

/** An agent whose session records, or refuses the events that `isRefused` names. */
export function recordingAgent(isRefused: (event: SessionEvent) => boolean = () => false): RecordedSession {
  const events: SessionEvent[] = []
  const session = {
    id: 'session',
    append: async (event: SessionEvent): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      if (isRefused(event)) throw new Error('the disk is full')
      events.push(event)
    },
  }
  const order = (): string[] => events.map(({ type, body }) => `${type} ${String(body['callId'])}`)
  return { agent: { id: 'agent', session }, events, order }
}

/** One call as a model writes it. */
export function block(id: string, name: string, args: unknown = {}): ToolCallBlock {
  return { type: 'tool-call', id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
}

/** A service with a native executor. */
export function nativeHouse(
  tools: readonly ToolDefinition[],
  options: Omit<NativeExecutorOptions, 'pipeline'> & Omit<ToolExecutionPipelineOptions, 'tools'> = {},
) {
  const service = new ToolsService()
  for (const tool of tools) service.register(tool)
  const pipeline = new ToolExecutionPipeline({ tools: service, ...options })
  service.setExecutor(new NativeExecutor({ pipeline, ...options }))
  const run = (calls: readonly ToolCallBlock[], input: Partial<ToolBatchInput> = {}): Promise<ToolBatchResult> =>
    service.execute({ calls, signal: new AbortController().signal, ...input })
  return { service, pipeline, run }
}

/** A tool that waits as long as asked, observing its signal, and notes when its body begins and ends. */
export function noting(seen: string[], name: string, isSafe: boolean): ToolDefinition {
  return defineTool({
    name,
    description: 'Notes.',
    parameters: { id: { type: 'string', required: true }, ms: { type: 'number', required: true } },
    isConcurrencySafe: () => isSafe,
    execute: ({ id, ms }, { signal }) =>
      new Promise<string>((resolve, reject) => {
        seen.push(`begin ${id}`)
        const end = (settle: () => void): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', cancel)
          seen.push(`end ${id}`)
          settle()
        }
        const timer = setTimeout(() => end(() => resolve(id)), ms)
        const cancel = (): void => end(() => reject(signal.reason))
        signal.addEventListener('abort', cancel)
      }),
  })
}

/** `ok`, or the code of the failure. */
export function codeOf({ isError, error }: ToolExecutionResult): string {
  return isError ? (error.info?.code ?? error.message) : 'ok'
}

/** Call ids with their codes. */
export function codes({ results }: ToolBatchResult): string[] {
  return results.map(({ callId, result }) => `${callId} ${codeOf(result)}`)
}
