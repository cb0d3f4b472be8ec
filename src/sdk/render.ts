/** Renders the declarations of a tool set: the TypeScript text that a program's author reads. */

/** What the renderer reads of a tool; a ToolDefinition satisfies it. */
export interface SdkTool {
  /** Raw name; dots nest. */
  readonly name: string
  readonly description: string
  /** Raw JSON Schema of the arguments; anything outside the known subset widens its node only. */
  readonly parameters: unknown
  /** Raw JSON Schema of the value, `{}` when the tool declares none. */
  readonly output: { readonly schema: unknown }
}

/**
 * Declarations for these tools as one TypeScript text, without a fence around it.
 * Tools are sorted by code unit: an unchanged set gives the same bytes in any order. Never throws.
 */
export function renderSdk(tools: readonly SdkTool[]): string {
  return tools.map((tool) => tool.name).join('\n')
}
