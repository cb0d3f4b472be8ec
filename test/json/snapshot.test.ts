import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { LosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import { JsonValueError } from '../../src/errors.ts'
import { deepFreeze } from '../../src/json/freeze.ts'
import { snapshotJson } from '../../src/json/snapshot.ts'

class Row {
  id = 1
}

const circle: { self?: object; deep: object } = { deep: {} }
circle.deep = { circle }

/** A proxy of which one trap throws. */
function throwing(trap: keyof ProxyHandler<object>): object {
  const fail = (): never => {
    throw new Error('trap')
  }
  return new Proxy({ a: 1 }, { [trap]: fail })
}

describe('a snapshot refuses, with the path of the first offender', () => {
  it.each<[string, unknown, string]>([
    ['undefined', undefined, '$: undefined is not JSON; leave the property out or use null'],
    [
      'a nested undefined',
      { a: [{ b: undefined }] },
      '$.a[0].b: undefined is not JSON; leave the property out or use null',
    ],
    ['NaN', [Number.NaN], '$[0]: NaN is not JSON; use null or a text'],
    ['Infinity', { 'odd key': -Infinity }, '$["odd key"]: -Infinity is not JSON; use null or a text'],
    ['a function', { f: () => 1 }, '$.f: a function is not JSON; call it or leave it out'],
    ['a symbol', [Symbol('s')], '$[0]: a symbol is not JSON; use a text'],
    ['a symbol key', { [Symbol('s')]: 1 }, '$: a symbol key is not JSON; use a string key'],
    ['a Date', { rows: [{}, { when: new Date(0) }] }, '$.rows[1].when: Date is not JSON; use .toISOString()'],
    ['a Map', new Map(), '$: Map is not JSON; use Object.fromEntries(map)'],
    ['a Set', new Set(), '$: Set is not JSON; use [...set]'],
    ['a Promise', { p: Promise.resolve(1) }, '$.p: a Promise is not JSON; await it'],
    ['a RegExp', /x/, '$: RegExp is not JSON; use its .source'],
    ['an Error', new TypeError('x'), '$: an Error is not JSON; use its .message'],
    [
      'an instance of a class',
      [new Row()],
      '$[0]: an instance of Row is not JSON; copy what you need into a plain object',
    ],
    [
      'a typed array',
      new Uint8Array(2),
      '$: an instance of Uint8Array is not JSON; copy what you need into a plain object',
    ],
    [
      'an array of a subclass',
      new (class List extends Array {})(),
      '$: an instance of List is not JSON; copy what you need into a plain object',
    ],
    ['a cycle', circle, '$.deep.circle: a cycle is not JSON; it refers back to an object around it'],
    ['a sparse array', [1, , 3], '$: a sparse array is not JSON; fill its gaps or use null'],
    [
      'an array with properties',
      Object.assign([1], { extra: 1 }),
      '$: an array with extra properties is not JSON; use an object',
    ],
    ['a hidden property', Object.defineProperty({}, 'x', { value: 1 }), '$.x: a hidden property is not JSON'],
    [
      'a getter',
      {
        get x() {
          return 1
        },
      },
      '$.x: a getter is not JSON; copy its value',
    ],
    ['a proxy without a prototype to show', { p: throwing('getPrototypeOf') }, '$.p: reading it threw'],
    ['a proxy without keys to show', { p: throwing('ownKeys') }, '$.p: reading it threw'],
    ['a proxy without properties to show', { p: throwing('getOwnPropertyDescriptor') }, '$.p.a: reading it threw'],
    [
      'a lossless number that was changed',
      Object.assign(new LosslessNumber('1'), { value: '1; drop' }),
      '$: a LosslessNumber with a number token was expected',
    ],
    ['a bigint of 1,001 digits', 10n ** 1_000n, '$: a number of over 1000 characters is refused'],
  ])('%s', (_title, value, message) => {
    const attempt = (): unknown => snapshotJson(value)
    expect(attempt).toThrow(JsonValueError)
    expect(attempt).toThrow(message)
  })

  it('what is deeper than 10,000 levels, with a code of its own and a readable path', () => {
    let deep: unknown = 1
    for (let level = 0; level <= 10_000; level++) deep = { a: deep }
    try {
      snapshotJson(deep)
      expect.unreachable()
    } catch (refusal) {
      expect(refusal).toMatchObject({ code: 'TOO_DEEP' })
      expect(String(refusal).length).toBeLessThan(300)
    }
  })
})

describe('a snapshot', () => {
  it('equals its original and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = snapshotJson(value)
        expect(copy).toEqual(value)
        if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value)
      }),
    )
  })

  it('reads each slot once', () => {
    let reads = 0
    const counting = new Proxy(
      { a: 1 },
      {
        getOwnPropertyDescriptor: (target, key) => {
          if (key === 'a') reads++
          return Reflect.getOwnPropertyDescriptor(target, key)
        },
      },
    )
    expect(snapshotJson(counting)).toEqual({ a: 1 })
    expect(reads).toBe(1)
  })

  it('takes objects of another realm, objects without a prototype and what is shared', () => {
    const shared = { x: 1 }
    expect(snapshotJson(runInNewContext('({ a: [1, { b: null }] })'))).toEqual({ a: [1, { b: null }] })
    expect(snapshotJson(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 })
    expect(snapshotJson([shared, shared])).toEqual([{ x: 1 }, { x: 1 }])
  })

  it('ignores toJSON and keeps -0 and __proto__', () => {
    const value = { toJSON: 'a text', zero: -0, ...JSON.parse('{"__proto__":{"polluted":true}}') }
    expect(snapshotJson({ ...value })).toEqual({
      toJSON: 'a text',
      zero: -0,
      ...JSON.parse('{"__proto__":{"polluted":true}}'),
    })
    expect(Object.is(snapshotJson([-0]) instanceof Array && Reflect.get(Object(snapshotJson([-0])), 0), -0)).toBe(true)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('turns an exact number that a double holds into that number', () => {
    expect(snapshotJson([5n, new LosslessNumber('1.50'), 2n ** 70n])).toEqual([5, 1.5, 2n ** 70n])
  })
})

it('deepFreeze freezes every level of 10,000', () => {
  let deep: unknown = 1
  for (let level = 0; level < 10_000; level++) deep = { a: deep }
  let frozen: unknown = deepFreeze(deep)
  let levels = 0
  for (; typeof frozen === 'object' && frozen !== null; frozen = Reflect.get(frozen, 'a')) {
    expect(Object.isFrozen(frozen)).toBe(true)
    levels++
  }
  expect(levels).toBe(10_000)
})
