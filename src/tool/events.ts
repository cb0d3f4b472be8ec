import type { ContentBlock } from './content.ts'
import type {
  PostToolDecision,
  PreToolDecision,
  PtcDispatchLog,
  ToolDispatchExecution,
  ToolExecution,
} from './definition.ts'
import type { ToolExecutionResult } from './outcome.ts'

/** Every `tools/*` event and the signature of its listeners. Waterfalls get `next`; the others observe. */
export interface ToolEvents {
  /** A tool was registered or unregistered, or a restriction changed. Never scope-filtered. */
  'tools/change': () => void
  /** Allow, deny, cancel or ask before dispatch; `next()` delegates to allow. */
  'tools/pre-execute': (exec: ToolExecution, next: () => Promise<PreToolDecision>) => Promise<PreToolDecision>
  /** Around the body: timeouts, retries, metrics. Only `exec.signal` may be replaced. */
  'tools/execute': (
    exec: ToolDispatchExecution,
    next: () => Promise<ToolExecutionResult>,
  ) => Promise<ToolExecutionResult>
  /** Accept, replace, enrich or block a normalised outcome; `next()` accepts it unchanged. */
  'tools/post-execute': (
    exec: ToolExecution,
    result: Readonly<ToolExecutionResult>,
    next: () => Promise<PostToolDecision>,
  ) => Promise<PostToolDecision>
  /** Replace content in the durable copy of one settled sub-call; `next()` keeps it. */
  'tools/ptc-dispatch-log': (dispatch: PtcDispatchLog, next: () => Promise<ContentBlock[]>) => Promise<ContentBlock[]>
  /** Observe the frozen final outcome; failures are contained. */
  'tools/result': (exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>) => undefined
}

/** Names of the tool events. */
export type ToolEventName = keyof ToolEvents
