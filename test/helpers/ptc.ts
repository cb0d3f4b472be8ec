/** A real instance with tools that tests need. */
import { createPtc, defineTool, type Ptc, type PtcOptions, type ToolDefinition } from '../../src/index.ts'

/** Gives back what it gets; may overlap with itself. */
export const echo: ToolDefinition = defineTool({
  name: 'echo',
  description: 'Gives back its arguments.',
  parameters: {},
  isConcurrencySafe: () => true,
  execute: async (args) => ({ ...args }),
})

/** Takes as long as asked, observing its signal; may overlap. */
export const sleep: ToolDefinition = defineTool({
  name: 'sleep',
  description: 'Waits.',
  parameters: { ms: { type: 'integer', required: true } },
  isConcurrencySafe: () => true,
  execute: ({ ms }, { signal }) =>
    new Promise<number>((resolve, reject) => {
      const timer = setTimeout(resolve, ms, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    }),
})

/** Runs with an instance and closes it, whatever happens. */
export async function withPtc<Result>(options: PtcOptions, use: (ptc: Ptc) => Promise<Result>): Promise<Result> {
  const ptc = await createPtc(options)
  try {
    return await use(ptc)
  } finally {
    await ptc.close()
  }
}
