import { describe, expect, it } from 'vitest'
import { parseJsonPath, selectValues } from '../../src/json/path.ts'

const value = JSON.parse(
  '{"path":"/a","user":{"name":"Ann","a.b":1},"files":[{"path":"x"},{"path":"y"},{}],"none":[],"__proto__":{"z":1}}',
)
const select = (path: string): unknown => {
  const { values, isWhole } = selectValues(value, parseJsonPath(path))
  return [values, isWhole]
}

describe('a path into a value', () => {
  it.each([
    ['path', ['/a'], true],
    ['$.path', ['/a'], true],
    ['$["path"]', ['/a'], true],
    ['user.name', ['Ann'], true],
    ['user["a.b"]', [1], true],
    ['files[1].path', ['y'], true],
    ['files[9].path', [], false],
    ['files[*].path', ['x', 'y'], false],
    ['none[*]', [], false],
    ['user[0]', [], false],
    ['files.length', [], false],
    ['path.length', [], false],
    ['toString', [], false],
    ['constructor.name', [], false],
    ['__proto__.z', [1], true],
    ['$', [value], true],
  ] as const)('%s leads to %j, whole: %j', (path, values, isWhole) => {
    expect(select(path)).toEqual([values, isWhole])
  })

  it.each(['', 'a..b', 'a.', '.[0]', 'a[', 'a[x]', 'a["x]', 'a["\\x"]', 'a b', 'a[*', '$$', '[0]x', '$x', 'a[-1]'])(
    '%j is refused with the place where it breaks',
    (path) => {
      expect(() => parseJsonPath(path)).toThrow(/empty|breaks at character \d+/)
    },
  )
})
