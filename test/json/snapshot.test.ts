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
function throwing(trap: keyof ProxyHandler<object>, target: object = { a: 1 }): object {
  const fail = (): never => {
    throw new Error('trap')
  }
  return new Proxy(target, { [trap]: fail })
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

/** An array whose prototype says that it is the one of arrays. */
function forgedArray(): object {
  return Object.setPrototypeOf([1], Object.create(Array.prototype, { constructor: { value: Array } }))
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
    ['a text object', new String('x'), '$: an instance of String is not JSON; copy what you need into a plain object'],
    [
      'a number object',
      [new Number(1)],
      '$[0]: an instance of Number is not JSON; copy what you need into a plain object',
    ],
    ['a WeakMap', new WeakMap(), '$: an instance of WeakMap is not JSON; copy what you need into a plain object'],
    ['an async function', { f: async () => 1 }, '$.f: a function is not JSON; call it or leave it out'],
    ['a class', { f: Row }, '$.f: a function is not JSON; call it or leave it out'],
    ['a proxy of a function', new Proxy(() => 1, {}), '$: a function is not JSON; call it or leave it out'],
    ['a value under an odd key', { 'a"b': { '': Number.NaN } }, '$["a\\"b"][""]: NaN is not JSON; use null or a text'],
    ['a Date', { rows: [{}, { when: new Date(0) }] }, '$.rows[1].when: Date is not JSON; use .toISOString()'],
    ['a Map', new Map(), '$: Map is not JSON; use Object.fromEntries(map)'],
    ['a Set', new Set(), '$: Set is not JSON; use [...set]'],
    ['a Promise', { p: Promise.resolve(1) }, '$.p: a Promise is not JSON; await it'],
    ['a RegExp', /x/, '$: RegExp is not JSON; use its .source'],
    ['an Error', new TypeError('x'), '$: an Error is not JSON; use its .message'],
    ['a Date of another realm', runInNewContext('new Date(0)'), '$: Date is not JSON; use .toISOString()'],
    ['an Error of another realm', runInNewContext('[new Error("x")]'), '$[0]: an Error is not JSON; use its .message'],
    [
      'an instance of another realm',
      runInNewContext('new (class Row {})()'),
      '$: an instance of Row is not JSON; copy what you need into a plain object',
    ],
    [
      'an instance of a class without a name',
      new (class {})(),
      '$: an instance of a class is not JSON; copy what you need into a plain object',
    ],
    [
      'an object that inherits',
      { a: Object.create({ b: 1 }) },
      '$.a: an instance of a class is not JSON; copy what you need into a plain object',
    ],
    [
      'an object with a forged prototype',
      Object.create({ constructor: Object }),
      '$: an instance of Object is not JSON; copy what you need into a plain object',
    ],
    [
      'an array with a forged prototype',
      forgedArray(),
      '$: an instance of Array is not JSON; copy what you need into a plain object',
    ],
    [
      'an array without a prototype',
      Object.setPrototypeOf([], null),
      '$: an instance of a class is not JSON; copy what you need into a plain object',
    ],
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
    ['an array of gaps', { a: new Array(3) }, '$.a: a sparse array is not JSON; fill its gaps or use null'],
    [
      'an array with a gap and a property',
      Object.assign([1, , 3], { extra: 1 }),
      '$[1]: an empty array slot is not JSON; fill it or use null',
    ],
    [
      'an array with a symbol key',
      Object.assign([1], { [Symbol('s')]: 1 }),
      '$: an array with extra properties is not JSON; use an object',
    ],
    [
      'an array with a getter',
      Object.defineProperty([1, 2], 1, { get: () => 1, enumerable: true }),
      '$[1]: a getter is not JSON; copy its value',
    ],
    [
      'a getter that throws',
      {
        get x(): never {
          throw new Error('no')
        },
      },
      '$.x: a getter is not JSON; copy its value',
    ],
    ['a setter', { set x(_value: unknown) {} }, '$.x: a getter is not JSON; copy its value'],
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
    ['a proxy of an array without a prototype to show', [throwing('getPrototypeOf', [1])], '$[0]: reading it threw'],
    ['a proxy of an array without keys to show', [throwing('ownKeys', [1])], '$[0]: reading it threw'],
    ['a proxy of an array without a length', [throwing('getOwnPropertyDescriptor', [1])], '$[0]: reading it threw'],
    ['a proxy that does not answer', { p: throwing('get') }, '$.p: reading it threw'],
    ['a proxy that was revoked', { p: [revoked({})] }, '$.p[0]: reading it threw'],
    ['a proxy of an array that was revoked', [revoked([])], '$[0]: reading it threw'],
    [
      'an instance whose name throws',
      {
        p: Object.create(Object.prototype, {
          [Symbol.toStringTag]: {
            get: () => {
              throw new Error('no')
            },
          },
        }),
      },
      '$.p: a symbol key is not JSON; use a string key',
    ],
    ['an instance of a proxied class', [Object.create(throwing('getOwnPropertyDescriptor'))], '$[0]: reading it threw'],
    [
      'a lossless number that was changed',
      Object.assign(new LosslessNumber('1'), { value: '1; drop' }),
      '$: a LosslessNumber with a number token was expected',
    ],
    [
      'what pretends to be a lossless number',
      { [Symbol.for('lossless-json.LosslessNumber')]: true, value: 12 },
      '$: a LosslessNumber with a number token was expected',
    ],
    [
      'a lossless number of 1,001 characters',
      [new LosslessNumber(`0.${'1'.repeat(999)}`)],
      '$[0]: a number of over 1000 characters is refused',
    ],
    ['a bigint of 1,001 digits', 10n ** 1_000n, '$: a number of over 1000 characters is refused'],
    ['a bigint of 1,000 digits and a sign', [-(10n ** 999n)], '$[0]: a number of over 1000 characters is refused'],
  ])('%s', (_title, value, message) => {
    const attempt = (): unknown => snapshotJson(value)
    expect(attempt).toThrow(JsonValueError)
    expect(attempt).toThrow(
      expect.objectContaining({ message, code: 'NOT_JSON', path: message.slice(0, message.indexOf(': ')) }),
    )
  })

  it('what is deeper than 10,000 levels, with a code of its own and a readable path', () => {
    let deep: unknown = 1
    for (let level = 0; level <= 10_000; level++) deep = level % 2 === 0 ? { a: deep } : [deep]
    const [start, end] = ['.a[0]'.repeat(10), '.a[0]'.repeat(10)]
    expect(() => snapshotJson(deep)).toThrow(
      expect.objectContaining({
        code: 'TOO_DEEP',
        message: `$${start}…${end}: a value of at most 10000 levels was expected; flatten it`,
      }),
    )
  })

  it('long keys and paths cut short', () => {
    const key = 'k'.repeat(200)
    expect(() => snapshotJson({ [key]: undefined })).toThrow(
      expect.objectContaining({ path: `$["${'k'.repeat(80)}"]` }),
    )
  })
})

describe('a snapshot', () => {
  it('equals its original and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = snapshotJson(value)
        expect(copy).toEqual(value)
        const originals = new Set(containersOf(value))
        expect(containersOf(copy).filter((container) => originals.has(container))).toEqual([])
      }),
    )
  })

  it.each(['set', 'has', 'deleteProperty', 'defineProperty', 'preventExtensions', 'setPrototypeOf'] as const)(
    'changes nothing in its original: the trap %s is not asked',
    (trap) => {
      expect(snapshotJson({ p: throwing(trap), q: [throwing(trap, [1])] })).toEqual({ p: { a: 1 }, q: [[1]] })
    },
  )

  it('does not change when its original does', () => {
    const original = { a: [{ b: 1 }] }
    const copy = snapshotJson(original)
    original.a.push({ b: 2 })
    Object.assign(Object(original.a[0]), { b: 3 })
    expect(copy).toEqual({ a: [{ b: 1 }] })
  })

  it('takes numbers of 1,000 characters and texts with half a surrogate pair', () => {
    for (const value of [10n ** 1_000n - 1n, 1n - 10n ** 999n, '\ud800', ['\udc00']]) {
      expect(snapshotJson(value)).toEqual(value)
    }
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
    expect(snapshotJson(runInNewContext('[Object.create(null), JSON.parse("[{}]")]'))).toEqual([{}, [{}]])
    expect(Object.getPrototypeOf(snapshotJson(runInNewContext('({})')))).toBe(Object.prototype)
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

it('deepFreeze passes what is no container, and what is frozen, with all of it', () => {
  expect([deepFreeze(1), deepFreeze('a'), deepFreeze(null), deepFreeze(undefined)]).toEqual([1, 'a', null, undefined])
  const value = { a: [{ b: {} }], n: 1n }
  expect(deepFreeze(value)).toBe(value)
  expect(containersOf(value).every((container) => Object.isFrozen(container))).toBe(true)
  expect(() => value.a.push({ b: {} })).toThrow(TypeError)
})

/** Every object and array of a value. */
function containersOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(containersOf)]
}
