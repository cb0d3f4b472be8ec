/** Around every test file: no unexpected warning of the process, no child left alive. */
import { afterAll, expect } from 'vitest'
import { childrenOf, eventually } from './helpers/processes.ts'

/** A listener of the host that fails is told as a warning; tests provoke it on purpose. */
const EXPECTED = 'PtcListenerWarning'
/** Children are killed, waited for and gone by then; a wide deadline for a busy machine. */
const GONE_MS = 10_000

const warnings: string[] = []
process.on('warning', ({ name, message }) => {
  if (name !== EXPECTED) warnings.push(`${name}: ${message}`)
})
const childrenBefore = childrenOf(process.pid)

afterAll(async () => {
  const left = (): number[] => childrenOf(process.pid).filter((pid) => !childrenBefore.includes(pid))
  await eventually(() => left().length === 0, GONE_MS)
  expect({ warnings, childrenLeft: left() }).toEqual({ warnings: [], childrenLeft: [] })
})
