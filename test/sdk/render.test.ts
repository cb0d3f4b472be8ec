import { describe, expect, it } from 'vitest'
import { accessPath } from '../../src/sdk/names.ts'
import { renderToolsSdk, type SdkTool } from '../../src/sdk/render.ts'
import { jsonSchemaToTs } from '../../src/sdk/schema-to-ts.ts'

function tool(name: string, parts: Partial<SdkTool> = {}): SdkTool {
  return { name, description: '', parameters: { type: 'object', properties: {} }, output: { schema: {} }, ...parts }
}

/** The members of `Tools` alone. */
function membersOf(tools: readonly SdkTool[]): string {
  return (
    /interface Tools \{\n([\s\S]*?)\}\n\ndeclare const tools: Tools;\n$/u.exec(renderToolsSdk(tools))?.[1] ??
    'no interface'
  )
}

describe('renderToolsSdk', () => {
  it('gives the whole text for a small set', () => {
    const listFiles = tool('list_files', {
      description: 'Lists the files of a folder.',
      parameters: {
        type: 'object',
        properties: {
          folder: { type: 'string', description: 'Relative to the root.' },
          depth: { type: 'integer', default: 1, examples: [1, 2] },
        },
        required: ['folder'],
      },
      output: {
        schema: {
          type: 'array',
          description: 'In the order of their names.',
          items: {
            type: 'object',
            properties: { path: { type: 'string' }, bytes: { type: 'number' } },
            required: ['path'],
          },
        },
      },
    })
    expect(renderToolsSdk([listFiles]))
      .toBe(`/** Any JSON value. A number beyond 2^53 that must stay exact arrives as a bigint; convert it with Number() to calculate. */
type JsonValue = null | boolean | string | number | JsonValue[] | { [key: string]: JsonValue };

/** What a failed tool call throws. */
declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  /** Raw name of the tool. */
  readonly toolName: string;
  /** Stable code, for example "INVALID_ARGS". */
  readonly code?: string;
  /** True when the same call may succeed later. */
  readonly retryable?: boolean;
}

/** All tools. A value that no schema describes is \`any\`: look at it before you rely on its shape. */
interface Tools {
  /**
   * Lists the files of a folder.
   * @returns In the order of their names.
   */
  readonly list_files: (args: {
    /** Relative to the root. */
    folder: string;
    /**
     * @integer
     * @default 1
     * @example 1
     * @example 2
     */
    depth?: number;
  }) => Promise<{
    path: string;
    bytes?: number;
  }[]>;
}

declare const tools: Tools;
`)
  })

  it('gives the same bytes in any order, sorted by code unit', () => {
    const tools = ['b', 'B', 'a.c', 'a-b', 'a', 'é', '_', 'a.b'].map((name) => tool(name))
    const text = renderToolsSdk(tools)
    for (const order of [tools.toReversed(), tools.toSorted(() => -1), [...tools.slice(3), ...tools.slice(0, 3)]]) {
      expect(renderToolsSdk(order)).toBe(text)
    }
    const keys = membersOf(tools).match(/^ {2}readonly [^:]+/gmu)
    expect(keys?.map((key) => key.slice(11))).toEqual(['B', '_', 'a', '"a-b"', 'b', '"é"', '"a.b"', '"a.c"'])
  })

  it('says nothing of tools for an empty set', () => {
    expect(membersOf([])).toBe('')
  })

  it('takes the first of two tools of one name', () => {
    expect(membersOf([tool('a', { description: 'first' }), tool('a', { description: 'second' })])).toContain('first')
  })

  const signature = '(args?: Record<string, JsonValue>)'
  it.each<[title: string, names: string[], members: string]>([
    ['an identifier', ['read'], `  readonly read: ${signature} => Promise<any>;\n`],
    ['a name with a dash', ['list-files'], `  readonly "list-files": ${signature} => Promise<any>;\n`],
    [
      'names of the language',
      ['class', 'constructor', '__proto__'],
      ['__proto__', 'class', 'constructor']
        .map((name) => `  readonly ${name}: ${signature} => Promise<any>;\n`)
        .join(''),
    ],
    [
      'a dotted name',
      ['math.sum'],
      `  readonly math: {\n    readonly sum: ${signature} => Promise<any>;\n  };\n  readonly "math.sum": Tools["math"]["sum"];\n`,
    ],
    [
      'a tool that is a prefix too',
      ['math', 'math.sum'],
      `  readonly math: {\n    ${signature}: Promise<any>;\n    readonly sum: ${signature} => Promise<any>;\n  };\n  readonly "math.sum": Tools["math"]["sum"];\n`,
    ],
    [
      'a step with a dash',
      ['github.list-issues'],
      `  readonly github: {\n    readonly "list-issues": ${signature} => Promise<any>;\n  };\n  readonly "github.list-issues": Tools["github"]["list-issues"];\n`,
    ],
    [
      'an empty step',
      ['a..b', '.', ''],
      ['""', '"."', '"a..b"'].map((key) => `  readonly ${key}: ${signature} => Promise<any>;\n`).join(''),
    ],
    ['a name with quotes and lines', ['a"b\n`c'], `  readonly "a\\"b\\n\`c": ${signature} => Promise<any>;\n`],
  ])('declares %s', (_title, names, members) => {
    expect(membersOf(names.map((name) => tool(name)))).toBe(members)
  })

  it('keeps a hostile description inside its comment', () => {
    const description = '*/ evil() /* \n``` \u2028 @x \u202e \u0000 \uD800 **\\/'
    expect(membersOf([tool('a', { description })])).toBe(
      `  /** *\\/ evil() /* ''' @x \uFFFD **\\/ */\n  readonly a: ${signature} => Promise<any>;\n`,
    )
  })

  it('reads schemas that throw, loop or never end', () => {
    const loop: Record<string, unknown> = { type: 'object', properties: {} }
    loop['properties'] = { again: loop, twice: loop }
    let deep: unknown = { type: 'string' }
    for (let level = 0; level < 10_000; level++) deep = { type: 'array', items: deep }
    const getter = {
      type: 'object',
      get properties(): never {
        throw new Error('no')
      },
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const schema of [loop, deep, getter, proxy, null, undefined, 1, [], { type: 'nonsense' }, () => {}]) {
      const text = renderToolsSdk([
        tool('a', { parameters: schema, output: { schema } }),
        tool('b', { description: 'still here' }),
      ])
      expect(text).toContain('still here')
      expect(text.length).toBeLessThan(5_000_000)
    }
  })
})

describe('accessPath', () => {
  it.each([
    ['read', 'tools.read'],
    ['math.sum', 'tools.math.sum'],
    ['github.list-issues', 'tools.github["list-issues"]'],
    ['list-issues', 'tools["list-issues"]'],
    ['a..b', 'tools["a..b"]'],
    ['', 'tools[""]'],
    ['__proto__', 'tools.__proto__'],
    ['1st', 'tools["1st"]'],
    ['größe', 'tools["größe"]'],
  ])('of %j is %s', (name, path) => {
    expect(accessPath(name)).toBe(path)
  })
})

describe('jsonSchemaToTs', () => {
  it.each<[schema: unknown, args: string, output?: string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'number' }, 'number'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'null' }, 'null'],
    [{}, 'JsonValue', 'any'],
    [{ description: 'anything' }, 'JsonValue', 'any'],
    [{ const: 'a`"\u2028' }, '"a`\\"\\u2028"'],
    [{ const: '```' }, '"\\u0060\\u0060\\u0060"'],
    [{ const: 1, enum: [2, 3] }, '1'],
    [{ type: 'number', const: -0.5 }, '-0.5'],
    [{ type: 'null', const: null }, 'null'],
    [{ type: 'string', enum: ['a', 'b', 'a'] }, '"a" | "b"'],
    [{ enum: [true, null, 1e21] }, 'true | null | 1e+21'],
    [{ enum: ['a', { deep: 1 }] }, 'JsonValue', 'any'],
    [{ type: 'array' }, 'JsonValue[]', 'any[]'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { type: 'array', items: { enum: ['a', 'b'] } } }, '("a" | "b")[][]'],
    [{ type: 'array', items: { enum: ['a|b'] } }, '"a|b"[]'],
    [{ type: 'array', items: { type: 'object', properties: { a: { enum: [1, 2] } } } }, '{\n  a?: 1 | 2;\n}[]'],
    [{ type: 'object' }, 'Record<string, JsonValue>', 'Record<string, any>'],
    [{ type: 'object', properties: {} }, 'Record<string, JsonValue>', 'Record<string, any>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', properties: { a: { type: 'string' } } }, '{\n  a?: string;\n}'],
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }, '{\n  a?: string;\n}'],
    [
      { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: true },
      '{\n  a: JsonValue;\n  [key: string]: unknown;\n}',
      '{\n  a: any;\n  [key: string]: any;\n}',
    ],
    [{ type: 'object', required: ['a'] }, '{\n  a: JsonValue;\n}', '{\n  a: any;\n}'],
    [{ properties: { 'a-b': { type: 'null' } } }, '{\n  "a-b"?: null;\n}'],
    [
      { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"},"toString":{"type":"null"}}') },
      '{\n  __proto__?: string;\n  toString?: null;\n}',
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ oneOf: [{ oneOf: [{ type: 'string' }] }, {}] }, 'JsonValue', 'any'],
    [
      { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'null' } }] } },
      '(string | null[])[]',
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [
      { type: 'object', properties: { ok: { type: 'string' }, odd: { $ref: '#/nowhere' } } },
      '{\n  ok?: string;\n  odd?: JsonValue;\n}',
      '{\n  ok?: string;\n  odd?: any;\n}',
    ],
    [{ items: { type: 'string' } }, 'string[]'],
    [true, 'JsonValue', 'any'],
    [false, 'never'],
  ])('of %j is %s', (schema, args, output = args) => {
    expect([jsonSchemaToTs(schema, 'arguments'), jsonSchemaToTs(schema, 'output')]).toEqual([args, output])
  })

  it('takes a number that a double cannot hold for any number', () => {
    expect(jsonSchemaToTs({ enum: [2n ** 64n, Number.NaN] }, 'arguments')).toBe('number')
  })

  it('spells out 32 levels and no more', () => {
    let schema: unknown = { type: 'string' }
    for (let level = 0; level < 40; level++) schema = { type: 'array', items: schema }
    expect(jsonSchemaToTs(schema, 'output')).toBe(`any${'[]'.repeat(33)}`)
  })

  it('shows constraints, defaults and examples, and cuts long ones', () => {
    const schema = {
      properties: {
        a: { type: 'string', title: 'unused', description: 'One.\n  Two.', pattern: '^*/$', default: 'x'.repeat(300) },
        b: {
          type: 'number',
          title: 'Used',
          minimum: 0,
          default: { not: [1n << 70n], json: true },
          maximum: 2n ** 64n,
          examples: [1, 2, 3, 4],
        },
      },
    }
    expect(jsonSchemaToTs(schema, 'arguments')).toBe(`{
  /**
   * One. Two.
   * @pattern "^*\\/$"
   * @default "${'x'.repeat(199)}…
   */
  a?: string;
  /**
   * Used
   * @minimum 0
   * @maximum 18446744073709551616
   * @default {"not":[1180591620717411303424],"json":true}
   * @example 1
   * @example 2
   * @example 3
   */
  b?: number;
}`)
  })
})
