/** How a tool wants its call shown: render intents that any user interface can switch on. */
import type { ContentBlock } from './content.ts'

/** Picks an icon on a generic card. */
export type ToolCallKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other'

/** A file that a call reads or changes; `line` is 1-based. */
export interface FileLocation {
  readonly path: string
  readonly line?: number
}

/** One change of a file; `oldText` is null for a new file. */
export interface FileDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

/** One line of a read window; `number` is 1-based. */
export interface ReadFileLine {
  readonly number: number
  readonly text: string
}

/** One file's matches of a search. */
export interface SearchFileMatches {
  readonly path: string
  readonly matches: readonly ReadFileLine[]
}

/** One source that a web search found. */
export interface WebSource {
  readonly title: string
  readonly url: string
}

/** A pending call. */
export type ToolCallView =
  | {
      readonly card: 'generic'
      readonly title: string
      readonly kind?: ToolCallKind
      readonly rawInput?: unknown
      readonly content?: ContentBlock[]
      readonly locations?: readonly FileLocation[]
    }
  | { readonly card: 'terminal'; readonly title: string; readonly description?: string; readonly cwd?: string }
  | {
      readonly card: 'diff'
      readonly title: string
      readonly diffs: readonly FileDiff[]
      readonly locations?: readonly FileLocation[]
    }

/** A settled call; it replaces the pending view. */
export type ToolResultView =
  | { readonly card: 'generic'; readonly title?: string; readonly content?: ContentBlock[] }
  | {
      readonly card: 'terminal'
      readonly title?: string
      readonly output?: string
      readonly exitCode?: number
      readonly signal?: string
    }
  | { readonly card: 'diff'; readonly title?: string; readonly diffs: readonly FileDiff[] }
  | {
      readonly card: 'search'
      readonly shape: 'matches'
      readonly title?: string
      readonly truncated: boolean
      readonly total: number
      readonly files: readonly SearchFileMatches[]
    }
  | {
      readonly card: 'search'
      readonly shape: 'paths'
      readonly title?: string
      readonly truncated: boolean
      readonly total: number
      readonly paths: readonly string[]
    }
  | {
      readonly card: 'read'
      readonly title?: string
      readonly path: string
      /** 1-based first line that the window asked for. */
      readonly offset: number
      readonly lines: readonly ReadFileLine[]
      readonly totalLines: number
      readonly lang?: string
      readonly content?: string
    }
  | {
      readonly card: 'web'
      readonly kind: 'search'
      readonly title?: string
      readonly sources: readonly WebSource[]
      readonly answer?: string
      readonly truncated?: boolean
    }
  | {
      readonly card: 'web'
      readonly kind: 'fetch'
      readonly title?: string
      readonly url: string
      readonly statusCode: number
      readonly truncated?: boolean
    }
