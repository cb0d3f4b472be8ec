/** After the body: accept, replace or block. */
import { ToolNotFoundError } from '../errors.ts'
import type { ContentBlock, UserMessage } from '../tool/content.ts'
import type { PostToolDecision, ToolDefinition, ToolExecution } from '../tool/definition.ts'
import type { ToolEvents } from '../tool/events.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { faultOfPostDecision } from './answers.ts'
import { asContent, normaliseSuccess } from './normalise.ts'
import { failure } from './result.ts'
import type { ToolSource } from './tool-source.ts'
import { runWaterfall } from './waterfall.ts'

type PostExecuteListener = ToolEvents['tools/post-execute']

/** What post-execute needs of its call. */
export interface PostExecuteContext {
  readonly exec: ToolExecution
  readonly tools: ToolSource
  readonly findDefinition: () => ToolDefinition | undefined
}

/** Runs the listeners and applies their decision. Rejects with what a listener threw, named. */
export async function postExecute(
  result: ToolExecutionResult,
  context: PostExecuteContext,
): Promise<ToolExecutionResult> {
  const { exec, tools } = context
  const decision = await runWaterfall<PostExecuteListener, PostToolDecision>({
    event: 'tools/post-execute',
    listeners: tools.listeners('tools/post-execute', exec.agent),
    call: (listener, next) => listener(exec, result, next),
    innermost: async () => ({ kind: 'accept' }),
    fault: faultOfPostDecision,
  })
  switch (decision.kind) {
    case 'block':
      return withContexts(blocked(decision), decision.additionalContexts ?? [])
    case 'accept':
      return withContexts(accepted(result, decision, context), [
        ...(result.additionalContexts ?? []),
        ...(decision.additionalContexts ?? []),
      ])
  }
}

type Accept = Extract<PostToolDecision, { kind: 'accept' }>
type Block = Extract<PostToolDecision, { kind: 'block' }>

function accepted(result: ToolExecutionResult, decision: Accept, context: PostExecuteContext): ToolExecutionResult {
  const { content, value } = decision
  if (content !== undefined && value !== undefined) {
    throw new TypeError('tools/post-execute accept decision cannot replace both value and content')
  }
  if (content !== undefined) return { ...result, content: asContent(content) }
  if (value === undefined) return result
  if (result.isError) throw new TypeError('tools/post-execute cannot replace the value of a failed result')
  const definition = context.findDefinition()
  if (definition === undefined) throw new ToolNotFoundError(context.exec.name)
  const { concludesTurn } = result
  const replaced = normaliseSuccess(definition, context.exec.arguments, value)
  return concludesTurn === undefined ? replaced : { ...replaced, concludesTurn }
}

/** The value and the body's own contexts go; the feedback is what the model reads. */
function blocked({ feedback, info }: Block): ToolExecutionResult {
  const content = asContent(feedback)
  const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.type} content]`)).join('\n')
  const message = text === '' ? 'tool result blocked by post-execute policy' : text
  return { ...failure(message, info), content: content.length === 0 ? [textBlock(message)] : content }
}

function withContexts(result: ToolExecutionResult, additionalContexts: UserMessage[]): ToolExecutionResult {
  const { additionalContexts: _replaced, ...rest } = result
  return additionalContexts.length === 0 ? rest : { ...rest, additionalContexts }
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}
