import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS, lowerLimits, resolveLimits } from '../../src/sandbox/limits.ts'
import { OutputLedger } from '../../src/sandbox/output-ledger.ts'

describe('limits', () => {
  it('what is not set has its default', () => {
    expect(resolveLimits({ cpuMs: 5 })).toEqual({ ...DEFAULT_LIMITS, cpuMs: 5 })
  })

  it('a run gets the lower of what is allowed and what it asks for', () => {
    const allowed = resolveLimits({ cpuMs: 100, memoryMb: 64 })
    expect(lowerLimits(allowed, { cpuMs: 50, memoryMb: 512 })).toEqual({ ...allowed, cpuMs: 50, memoryMb: 64 })
  })

  it.each([
    [{ cpuMS: 1 }, 'unknown limit "cpuMS"; known limits: cpuMs, wallMs'],
    [{ toString: 1 }, 'unknown limit "toString"'],
    [{ cpuMs: 0 }, 'limit cpuMs must be a whole number from 1 to 2147483647, 0 came'],
    [{ cpuMs: Number.NaN }, 'limit cpuMs must be a whole number from 1 to 2147483647, NaN came'],
    [{ memoryMb: 1.5 }, 'limit memoryMb must be a whole number from 8 to 4096, 1.5 came'],
    [{ wallMs: 2 ** 31 }, 'limit wallMs must be a whole number from 1 to 2147483647, 2147483648 came'],
    [{ maxOutputBytes: '9' }, 'limit maxOutputBytes must be a whole number'],
  ])('%j is refused', (given, message) => {
    expect(() => resolveLimits(given as object)).toThrow(message)
  })
})

describe('the output ledger', () => {
  it.each([
    ['plain', 'abcd'],
    ['two bytes a letter', 'éé'],
    ['a lone surrogate', '\ud800'],
    ['control characters', '\u0000\n'],
    ['an astral letter', '🦊'],
  ])('counts a line exactly: %s', (_title, text) => {
    const exact = Buffer.byteLength(JSON.stringify([text, text]))
    const fits = new OutputLedger(exact)
    expect([fits.addLine(text), fits.addLine(text), fits.fits(0), fits.fits(1)]).toEqual([true, true, true, false])
    const tooSmall = new OutputLedger(exact - 1)
    expect([tooSmall.addLine(text), tooSmall.addLine(text)]).toEqual([true, false])
  })
})
