/** `ptc sdk`: what a model is given for these tools. */
import { createPtc } from '../index.ts'
import { loadTools } from './load-tools.ts'

/** Prints the prompt's sections, or all that a model request needs as JSON. */
export async function sdkCommand(options: {
  readonly tools: readonly string[]
  readonly json?: boolean
}): Promise<void> {
  const ptc = await createPtc({ tools: await loadTools(options.tools) })
  try {
    const { schemas, sections, knownNames } = ptc.describe()
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify({ schemas, sections, knownNames }, null, 2)}\n`)
      return
    }
    process.stdout.write(`${sections.map(({ text }) => text).join('\n\n')}\n`)
  } finally {
    await ptc.close()
  }
}
