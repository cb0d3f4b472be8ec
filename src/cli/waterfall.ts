/** The sub-calls of a run as bars over time, for a terminal. */
import { oneLine, padded, readableMs, styled } from './terminal.ts'

/** One bar. */
export interface WaterfallRow {
  readonly label: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds; null for a call that never settled. */
  readonly settledAt: number | null
  readonly isError: boolean
  /** What stands behind the bar, such as an error code. */
  readonly note: string
}

const MIN_BAR_WIDTH = 20
const MAX_LABEL_WIDTH = 32
const DURATION_WIDTH = 9

/** Draws one line for each row, scaled to the time from the first start to the last settle. */
export function drawWaterfall(rows: readonly WaterfallRow[], width: number): string[] {
  if (rows.length === 0) return ['  (no tool calls)']
  // Not by spreading: a run may have more calls than a call may have arguments.
  const start = rows.reduce((earliest, { startedAt }) => Math.min(earliest, startedAt), Infinity)
  const end = rows.reduce((latest, { startedAt, settledAt }) => Math.max(latest, settledAt ?? startedAt), -Infinity)
  const longestLabel = rows.reduce((longest, { label }) => Math.max(longest, label.length), 0)
  const labelWidth = Math.min(MAX_LABEL_WIDTH, longestLabel)
  const barWidth = Math.max(MIN_BAR_WIDTH, width - labelWidth - DURATION_WIDTH - 30)
  const scale = (at: number): number => ((at - start) / Math.max(1, end - start)) * barWidth
  return rows.map((row) => {
    const from = Math.min(Math.floor(scale(row.startedAt)), barWidth - 1)
    const to = Math.max(from + 1, Math.ceil(scale(row.settledAt ?? end)))
    const bar = (row.settledAt === null ? '░' : '█').repeat(to - from)
    const style = row.settledAt === null ? 'yellow' : row.isError ? 'red' : 'green'
    const duration = readableMs(row.settledAt === null ? null : row.settledAt - row.startedAt)
    const label = padded(oneLine(row.label, labelWidth), labelWidth)
    const drawn = padded(`${' '.repeat(from)}${styled(style, bar)}`, barWidth)
    return `  ${label}  ${drawn}  ${duration.padStart(DURATION_WIDTH)}  ${oneLine(row.note, 40)}`.trimEnd()
  })
}
