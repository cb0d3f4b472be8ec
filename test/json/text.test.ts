import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { isLosslessNumber } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import { JsonTextError, JsonValueError } from '../../src/errors.ts'
import { snapshotJson } from '../../src/json/snapshot.ts'
import { parseJson, stringifyJson } from '../../src/json/text.ts'
import type { JsonValue } from '../../src/json/value.ts'

const cases: Record<'exact' | 'bigint' | 'lossless' | 'invalid', string[]> = JSON.parse(
  readFileSync(new URL('../cases/json-numbers.json', import.meta.url), 'utf8'),
)

describe('a number token', () => {
  it.each(cases.exact)('%s is a number, the one that JSON.parse makes', (token) => {
    expect(Object.is(parseJson(token), JSON.parse(token))).toBe(true)
    expect(typeof parseJson(`{"a":[${token}]}`)).toBe('object')
  })

  it.each(cases.bigint)('%s is a bigint and keeps its digits', (token) => {
    expect(parseJson(token)).toBe(BigInt(token))
    expect(stringifyJson(parseJson(`{"a":[${token},"${token}"]}`))).toBe(`{"a":[${token},"${token}"]}`)
  })

  it.each(cases.lossless)('%s is a lossless number and keeps its digits', (token) => {
    const value = parseJson(token)
    expect(isLosslessNumber(value) && value.value).toBe(token)
    expect(stringifyJson(parseJson(`[${token},{"b":${token}}]`))).toBe(`[${token},{"b":${token}}]`)
    expect(stringifyJson(snapshotJson(value))).toBe(token)
  })

  it.each(cases.invalid)('%s is refused', (token) => {
    expect(() => parseJson(token)).toThrow(JsonTextError)
  })

  it('of 1,000 characters passes, of 1,001 is refused before it is converted', () => {
    const token = '9'.repeat(1_000)
    expect(stringifyJson(parseJson(`[${token}]`))).toBe(`[${token}]`)
    expect(() => parseJson(`[1,${token}9]`)).toThrow('character 4: a number of over 1000 characters is refused')
  })
})

describe('parseJson', () => {
  it.each([
    ['', 'JSON was expected: Unexpected end of JSON input'],
    ['{"a":1,}', /JSON was expected: .*position 7/],
    ['{"a" 1}', /position 5 \(line 1 column 6\)/],
    ['[1,\n2,\nx]', /Unexpected token 'x'/],
    ['"open', /Unterminated string/],
    ['\u{feff}{}', /JSON was expected/],
  ])('%j says where it breaks', (text, message) => {
    expect(() => parseJson(text)).toThrow(message)
  })

  it.each([
    ['the last of duplicate keys', '{"a":1,"a":2}', { a: 2 }],
    ['the last of duplicate keys, exact ones too', '{"a":12345678901234567890,"a":2}', { a: 2 }],
    [
      'the last of duplicate keys, when it is exact',
      '{"a":"x","a":12345678901234567890}',
      { a: 12345678901234567890n },
    ],
    ['digits inside texts as texts', '["12345678901234567890 \\\\\\" 1e5", 1]', ['12345678901234567890 \\" 1e5', 1]],
    [
      'texts that end in backslashes',
      '["\\\\","\\\\\\\\",12345678901234567890]',
      ['\\', '\\\\', 12345678901234567890n],
    ],
    [
      'numbers as keys',
      '{"12345678901234567890":12345678901234567890}',
      { '12345678901234567890': 12345678901234567890n },
    ],
  ])('keeps %s', (_title, text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  it('takes __proto__ as a key like any other', () => {
    const value = parseJson('{"__proto__":{"x":12345678901234567890}}')
    expect(Object.keys(Object(value))).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(stringifyJson(value)).toBe('{"__proto__":{"x":12345678901234567890}}')
  })

  it('agrees with JSON.parse wherever doubles hold every number', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('and stringifyJson keep every digit of every number', () => {
    const number = fc.oneof(
      fc.bigInt().map(String),
      fc.tuple(fc.bigInt(), fc.nat()).map(([whole, fraction]) => `${whole}.${fraction}1`),
    )
    fc.assert(
      fc.property(fc.array(number, { maxLength: 20 }), (tokens) => {
        const read = parseJson(`[${tokens.join(',')}]`)
        expect(Array.isArray(read)).toBe(true)
        const again = parseJson(stringifyJson(read))
        expect(stringifyJson(again)).toBe(stringifyJson(read))
        expect(again).toEqual(read)
      }),
    )
  })
})

describe('stringifyJson', () => {
  it('writes what JSON.stringify writes for ordinary values', () => {
    const ordinary = fc
      .jsonValue({ noUnicodeString: false })
      .filter((value) => !JSON.stringify(value).includes('-0') && !hasMinusZero(value))
    fc.assert(
      fc.property(ordinary, (value) => {
        expect(stringifyJson(value as JsonValue)).toBe(JSON.stringify(value))
      }),
    )
  })

  it.each<[JsonValue, string]>([
    [-0, '-0'],
    [[-0, { a: -0 }], '[-0,{"a":-0}]'],
    ['\ud800', '"\\ud800"'],
    ['\u2028', '"\u2028"'],
    [{ b: 1, a: [] }, '{"b":1,"a":[]}'],
    [{ a: 1n, b: {} }, '{"a":1,"b":{}}'],
  ])('%# writes the text', (value, text) => {
    expect(stringifyJson(value)).toBe(text)
  })

  it('indents like JSON.stringify, five levels at most', () => {
    const value = { a: [1, { b: [], c: {} }], d: 'x' }
    expect(stringifyJson(value, 2)).toBe(JSON.stringify(value, null, 2))
    expect(
      stringifyJson([[[[[[[1]]]]]]], 2)
        .split('\n')
        .at(5),
    ).toBe('          [[1]]')
  })

  it('and parseJson and snapshotJson pass 10,000 levels', () => {
    const text = `${'['.repeat(10_000)}12345678901234567890${']'.repeat(10_000)}`
    expect(stringifyJson(snapshotJson(parseJson(text)))).toBe(text)
    expect(() => snapshotJson([parseJson(text)])).toThrow(JsonValueError)
  })
})

function hasMinusZero(value: unknown): boolean {
  if (Object.is(value, -0)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasMinusZero)
}
