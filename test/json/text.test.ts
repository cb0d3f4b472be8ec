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

const EXACT = 12345678901234567890n

describe('a number token', () => {
  it.each(cases.exact)('%s is a number, the one that JSON.parse makes', (token) => {
    const expected: unknown = JSON.parse(token)
    expect(parseJson(token)).toBe(expected)
    // Beside a number that is exact, the text is read another way.
    expect(parseJson(`[{"a":${token}},9007199254740993]`)).toEqual([{ a: expected }, 9007199254740993n])
    expect(parseJson(stringifyJson(parseJson(token)))).toBe(expected)
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

  it.each([
    ['a whole number', '9'.repeat(1_000)],
    ['a negative whole number', `-${'9'.repeat(999)}`],
    ['a fraction', `0.${'1'.repeat(998)}`],
    ['a power', `1e${'9'.repeat(998)}`],
    ['a power with leading zeros, which is 0 otherwise', `0e${'0'.repeat(998)}`],
  ])('that is %s passes with 1,000 characters and is refused with 1,001, with its place', (_title, token) => {
    expect(token).toHaveLength(1_000)
    const text = stringifyJson(parseJson(`[${token}]`))
    expect(stringifyJson(snapshotJson(parseJson(`[${token}]`)))).toBe(text)
    if (!token.startsWith('0e')) expect(text).toBe(`[${token}]`)

    const attempt = (): unknown => parseJson(`["1e5",1,{"a":${token}0}]`)
    expect(attempt).toThrow(JsonValueError)
    expect(attempt).toThrow('character 15: a number of over 1000 characters is refused')
  })

  it('may be as long as it likes inside a text', () => {
    const digits = '9'.repeat(5_000)
    expect(parseJson(`["${digits}",{"${digits}":1}]`)).toEqual([digits, { [digits]: 1 }])
  })
})

describe('parseJson', () => {
  it.each([
    ['', 'JSON was expected: Unexpected end of JSON input'],
    ['   ', 'JSON was expected: Unexpected end of JSON input'],
    ['{"a":', 'JSON was expected: Unexpected end of JSON input'],
    ['[1 2]', /position 3 \(line 1 column 4\)/],
    ['{a:1}', /position 1 \(line 1 column 2\)/],
    ['[12345678901234567890,\n 1e999,\n 01]', /position 33 \(line 3 column 3\)/],
    ['"\t"', /position 1 \(line 1 column 2\)/],
    ['"\\x"', /position 2 \(line 1 column 3\)/],
    ['1 // one', /position 2 \(line 1 column 3\)/],
    ["'a'", /Unexpected token '''/],
    ['undefined', /JSON was expected/],
    ['{"a":1,}', /JSON was expected: .*position 7/],
    ['{"a" 1}', /position 5 \(line 1 column 6\)/],
    ['[1,\n2,\nx]', /Unexpected token 'x'/],
    ['"open', /Unterminated string/],
    ['\u{feff}{}', /JSON was expected/],
  ])('%j says where it breaks', (text, message) => {
    const attempt = (): unknown => parseJson(text)
    expect(attempt).toThrow(JsonTextError)
    expect(attempt).toThrow(message)
  })

  it.each([
    ['the last of duplicate keys', '{"a":1,"a":2}', { a: 2 }],
    ['the last of duplicate keys, with an exact number elsewhere', `{"a":1,"a":2,"b":${EXACT}}`, { a: 2, b: EXACT }],
    ['the last of duplicate keys, where the first is exact', `{"a":${EXACT},"a":2}`, { a: 2 }],
    ['the last of duplicate keys, where the first is its text', `{"a":"${EXACT}","a":${EXACT}}`, { a: EXACT }],
    ['the last of duplicate keys, where it is a text', `{"a":${EXACT},"a":"${EXACT}"}`, { a: String(EXACT) }],
    ['the last of duplicate keys, where it is an object', `{"a":${EXACT},"a":{"b":${EXACT}}}`, { a: { b: EXACT } }],
    ['the last of duplicate keys, where the first is an object', `{"a":{"b":${EXACT}},"a":${EXACT}}`, { a: EXACT }],
    ['the last of duplicate keys that are escaped', `{"\\u0061":${EXACT},"a":[${EXACT}]}`, { a: [EXACT] }],
    ['numbers between other numbers', `[1,${EXACT},2.5,-${EXACT},0]`, [1, EXACT, 2.5, -EXACT, 0]],
    ['space around exact numbers', `[ ${EXACT}\n,\t${EXACT} ]`, [EXACT, EXACT]],
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

  it.each(['{"__proto__":1}', '{"a":{"__proto__":[1]}}', '{"__proto__":{"__proto__":null}}'])(
    'keeps the keys of %s on both ways of reading',
    (text) => {
      expect(stringifyJson(parseJson(text))).toBe(text)
      expect(stringifyJson(parseJson(`[${text},${EXACT}]`))).toBe(`[${text},${EXACT}]`)
      expect(Object.hasOwn(Object.prototype, '__proto__') && Object.getPrototypeOf(Object.prototype)).toBe(null)
    },
  )

  it('takes objects that look like lossless numbers for what they are', () => {
    const text = '[{"isLosslessNumber":true,"value":"12"},{"toString":"x","valueOf":null},1e400]'
    expect(stringifyJson(parseJson(text))).toBe(text)
    expect(stringifyJson(snapshotJson(parseJson(text)))).toBe(text)
  })

  it('agrees with JSON.parse wherever doubles hold every number', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text))
        expect(parseJson(`[${text},${EXACT}]`)).toEqual([JSON.parse(text), EXACT])
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

  it('writes beside an exact number what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: JsonValue = JSON.parse(text)
        // JSON.parse makes -0, which JSON.stringify does not write.
        if (!hasMinusZero(value)) expect(stringifyJson([value, EXACT])).toBe(`[${JSON.stringify(value)},${EXACT}]`)
      }),
    )
  })

  it.each<[string, JsonValue]>([
    ['nothing inside', []],
    ['a text', 'x'],
    ['containers', { a: [1, { b: [], c: {} }], d: 'x' }],
    ['four levels', [[[[1]]]]],
    ['what looks like a method', { a: { toJSON: 'text', b: [1] } }],
  ])('indents %s like JSON.stringify', (_title, value) => {
    expect(stringifyJson(value, 2)).toBe(JSON.stringify(value, null, 2))
    // With an exact number inside, nobody else writes it.
    const expected = JSON.stringify({ value, exact: 0.5 }, null, 2).replace('0.5', String(EXACT))
    expect(stringifyJson({ value, exact: EXACT }, 2)).toBe(expected)
  })

  it('indents five levels at most', () => {
    const deep: JsonValue = { a: [{ b: [{ c: [{ d: EXACT }, 2] }, []] }] }
    expect(stringifyJson(deep, 1).split('\n')).toEqual([
      '{',
      ' "a": [',
      '  {',
      '   "b": [',
      '    {',
      '     "c": [{"d":12345678901234567890},2]',
      '    },',
      '    []',
      '   ]',
      '  }',
      ' ]',
      '}',
    ])
  })

  it.each<[string, (inner: JsonValue) => JsonValue, string, string]>([
    ['arrays', (inner) => [inner], '[', ']'],
    ['objects', (inner) => ({ a: inner }), '{"a":', '}'],
  ])(
    'and parseJson and snapshotJson pass 10,000 levels of %s, a snapshot not one more',
    (_title, wrap, open, close) => {
      for (const leaf of ['1', String(EXACT), '0.1234567890123456789']) {
        const text = `${open.repeat(10_000)}${leaf}${close.repeat(10_000)}`
        const value = parseJson(text)
        expect(stringifyJson(snapshotJson(value))).toBe(text)
        expect(stringifyJson(value, 2).replaceAll(/[\n ]/g, '')).toBe(text)
        expect(() => snapshotJson(wrap(value))).toThrow(expect.objectContaining({ code: 'TOO_DEEP' }))
      }
    },
  )
})

function hasMinusZero(value: unknown): boolean {
  if (Object.is(value, -0)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasMinusZero)
}
