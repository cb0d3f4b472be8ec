// Tools: typed by their schemas, validated both ways, shown as cards.
import assert from 'node:assert/strict'
import { createPtc, defineTool, HarnessError, presentToolCall } from 'ptc-executor'

const stock = new Map([
  ['tea', 12],
  ['rice', 3],
])

const inventory = defineTool({
  name: 'inventory.find',
  description: 'Finds articles in stock.',
  parameters: {
    query: { type: 'string', description: 'Part of a name.', required: true },
    order: { type: 'string', enum: ['name', 'count'] },
    atLeast: { type: 'integer', default: 0 },
  },
  output: {
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          name: { type: 'string', required: true },
          count: { type: 'integer', required: true },
        },
      },
    },
    render: (_args, found) => [{ type: 'text', text: `${found.length} article(s)` }],
    presentationMeta: ({ query }, found) => ({ query, total: found.length }),
  },
  isConcurrencySafe: () => true,
  // `args` is { query: string; order?: 'name' | 'count'; atLeast?: number }: defaults are told, never applied.
  execute: ({ query, atLeast = 0 }) =>
    [...stock]
      .filter(([name, count]) => name.includes(query) && count >= atLeast)
      .map(([name, count]) => ({ name, count })),
  presentCall: ({ query }) => ({ card: 'generic', kind: 'search', title: `Find “${query}”` }),
})

const order = defineTool({
  name: 'order',
  description: 'Orders an article.',
  parameters: {
    article: { type: 'string', required: true },
    // Numbers beyond a double, such as long ids, arrive as bigint.
    customer: { type: 'integer', exact: true, required: true },
  },
  timeoutMs: 200,
  execute: async ({ article, customer }, { signal }) => {
    if (!stock.has(article)) throw new HarnessError(`there is no ${article}`, 'NO_SUCH_ARTICLE')
    if (article === 'rice') await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
    return { article, customer }
  },
})

const ptc = await createPtc({ tools: [inventory, order] })
try {
  const outcome = await ptc.run(`
    const caught = (error) => [error.code, error.message]
    return {
      found: await tools.inventory.find({ query: 'e' }),
      ordered: await tools.order({ article: 'tea', customer: 9007199254740993n }),
      badInput: await tools.order({ article: 'tea' }).catch(caught),
      unknown: await tools.order({ article: 'gold', customer: 1 }).catch(caught),
      slow: await tools.order({ article: 'rice', customer: 1 }).catch(caught),
    }`)
  console.log(outcome.value)
  assert.deepEqual(outcome.value, {
    found: [
      { name: 'tea', count: 12 },
      { name: 'rice', count: 3 },
    ],
    ordered: { article: 'tea', customer: 9007199254740993n },
    badInput: ['INVALID_ARGS', 'invalid arguments: missing required property "customer"'],
    unknown: ['NO_SUCH_ARTICLE', 'there is no gold'],
    slow: ['TOOL_TIMEOUT', 'tool call timed out after 200ms'],
  })
  const card = presentToolCall(inventory, { query: 'tea' })
  console.log(card)
  assert.deepEqual(card, { card: 'generic', kind: 'search', title: 'Find “tea”' })
} finally {
  await ptc.close()
}
