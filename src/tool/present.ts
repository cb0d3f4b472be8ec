/** Cards of one call, by the tool's own presenters where it has them; pure, so that a replay gives the same. */
import { messageOf } from '../errors.ts'
import { blaming } from './blame.ts'
import { type CardMoment, checkedCard } from './card.ts'
import type { ToolDefinition } from './definition.ts'
import type { ToolResult } from './outcome.ts'
import { settledAtOnce } from './settled-at-once.ts'
import type { ToolCallView, ToolResultView } from './view.ts'

/** What presenting reads of a tool. */
export type PresentedTool = Pick<ToolDefinition, 'name' | 'presentCall' | 'presentResult'>

/**
 * The card of a pending call: the tool's, else a generic one with its name and arguments.
 * A presenter that throws or returns no card is passed over; a process warning names it.
 */
export function presentToolCall(tool: PresentedTool, args: unknown): ToolCallView {
  return callCard(tool, args) ?? { card: 'generic', title: tool.name, rawInput: args }
}

/**
 * The card of a settled call: the tool's, else a generic one that keeps the pending title and shows the content.
 * A presenter that throws or returns no card is passed over; a process warning names it.
 */
export function presentToolResult(tool: PresentedTool, args: unknown, result: ToolResult): ToolResultView {
  return resultCard(tool, args, result) ?? { card: 'generic', content: result.content }
}

/** The tool's own cards of a settled call, as a record keeps them. */
export interface ToolPresentation {
  readonly call?: ToolCallView
  readonly result?: ToolResultView
}

/** The cards that a tool's own presenters make of a settled call; undefined where there are none. */
export function presentationOf(tool: PresentedTool, args: unknown, result: ToolResult): ToolPresentation | undefined {
  const call = callCard(tool, args)
  const settled = resultCard(tool, args, result)
  if (call === undefined && settled === undefined) return undefined
  return { ...(call === undefined ? {} : { call }), ...(settled === undefined ? {} : { result: settled }) }
}

function callCard(tool: PresentedTool, args: unknown): ToolCallView | undefined {
  return presented('call', `presentCall of tool "${tool.name}"`, () => tool.presentCall?.(args))
}

function resultCard(tool: PresentedTool, args: unknown, result: ToolResult): ToolResultView | undefined {
  return presented('result', `presentResult of tool "${tool.name}"`, () => tool.presentResult?.(args, result))
}

/** Presenting is no part of the call: what breaks it is told, and changes nothing. */
function presented<View>(moment: CardMoment, party: string, present: () => View | undefined): View | undefined {
  try {
    return blaming(party, () => {
      const view = settledAtOnce(present())
      return view === undefined ? undefined : checkedCard(moment, view)
    })
  } catch (fault) {
    process.emitWarning(messageOf(fault), 'PtcListenerWarning')
    return undefined
  }
}
