/** What the operating system says about child processes. */
import { readdirSync, readFileSync } from 'node:fs'

/** Whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}

/** Live children of a process, by their parent in /proc. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((candidate) => Number.isInteger(candidate) && parentOf(candidate) === pid && isAlive(candidate))
}

/** Open file descriptors of this process. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Polls until the condition holds or the deadline passes; returns whether it held. */
export async function eventually(condition: () => boolean, deadlineMs: number): Promise<boolean> {
  const end = performance.now() + deadlineMs
  while (performance.now() < end) {
    if (condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return condition()
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
