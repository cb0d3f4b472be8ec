/** What the operating system says about a child: the only figures that a hostile child cannot bend. */
import { readFileSync } from 'node:fs'

/** Memory and processor time of one process. */
export interface ProcessFigures {
  /** Resident memory in MiB. */
  readonly residentMb: number
  /** User and system time in milliseconds. */
  readonly cpuMs: number
}

/** Ticks of /proc are hundredths of a second in the kernel's interface, whatever the kernel counts in. */
const MS_PER_TICK = 10
const KIB_PER_MIB = 1_024

/** Reads the figures of a live process; undefined where the system gives none or the process is gone. */
export function readProcessFigures(pid: number): ProcessFigures | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything, so fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
    return { residentMb: Number(resident ?? 0) / KIB_PER_MIB, cpuMs: ticks * MS_PER_TICK }
  } catch {
    return undefined
  }
}
