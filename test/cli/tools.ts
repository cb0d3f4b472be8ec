// Tools that the tests of the command line use.
import { writeFileSync } from 'node:fs'
import { defineTool } from 'ptc-executor'

const isConcurrencySafe = (): boolean => true
const parameters = {}

export const echo = defineTool({
  name: 'echo',
  description: 'Gives back its arguments.',
  parameters,
  isConcurrencySafe,
  execute: async (args) => ({ ...args }),
})

export const big = defineTool({
  name: 'big',
  description: 'A number that no double holds.',
  parameters,
  isConcurrencySafe,
  execute: async () => 12_345_678_901_234_567_890n,
})

export const nap = defineTool({
  name: 'nap',
  description: 'Takes a moment.',
  parameters,
  isConcurrencySafe,
  execute: () => new Promise<number>((resolve) => setTimeout(resolve, 200, 1)),
})

export const mark = defineTool({
  name: 'mark',
  description: 'Leaves a file behind.',
  parameters: { path: { type: 'string', required: true } },
  execute: async ({ path }) => {
    writeFileSync(path, 'done')
    return path
  },
})

export const rude = defineTool({
  name: 'rude',
  description: 'Fails with a text that tries to paint on the terminal.',
  parameters,
  isConcurrencySafe,
  execute: () => {
    throw new Error('\u001b[31mred\u202e\u009b1m\rgone')
  },
})
