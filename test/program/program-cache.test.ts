import { expect, it } from 'vitest'
import { ProgramCache } from '../../src/program/program-cache.ts'

it('keeps the most recently used programs within its number of entries', () => {
  const cache = new ProgramCache<string>({ maxEntries: 2, maxBytes: 1_000 })
  cache.set('a', 'A', 1)
  cache.set('b', 'B', 1)
  expect(cache.get('a')).toBe('A')
  cache.set('c', 'C', 1)
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual(['A', undefined, 'C', 2])
})

it('keeps within its bytes, and leaves out what is larger than all of it', () => {
  const cache = new ProgramCache<string>({ maxEntries: 100, maxBytes: 10 })
  cache.set('a', 'A', 6)
  cache.set('b', 'B', 5)
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'B'])
  cache.set('c', 'C', 11)
  expect([cache.get('b'), cache.get('c')]).toEqual(['B', undefined])
  cache.set('b', 'B2', 9)
  cache.set('d', 'D', 1)
  expect([cache.get('b'), cache.get('d'), cache.size]).toEqual(['B2', 'D', 2])
})

it('tells texts apart by their whole content', () => {
  const cache = new ProgramCache<number>({ maxEntries: 10, maxBytes: 10 })
  cache.set('toString', 1, 1)
  cache.set('__proto__', 2, 1)
  expect([cache.get('toString'), cache.get('__proto__'), cache.get('constructor')]).toEqual([1, 2, undefined])
})
