/** Renders the declarations of a tool set: the TypeScript text that a program's author reads. */
import { describeNode, docComment } from './doc-comment.ts'
import { compareCodeUnits, type NameNode, nameTree, propertyKey } from './names.ts'
import { ownValue } from './schema-node.ts'
import { mayOmitArguments, jsonSchemaToTs } from './schema-to-ts.ts'

/** What the renderer reads of a tool; a ToolDefinition satisfies it. */
export interface SdkTool {
  /** Raw name; dots nest. */
  readonly name: string
  readonly description: string
  /** Raw JSON Schema of the arguments; anything outside the known subset widens its own node only. */
  readonly parameters: unknown
  /** Raw JSON Schema of the value, `{}` when the tool declares none: such a value is `any`. */
  readonly output: { readonly schema: unknown }
}

/**
 * Declarations for these tools as one TypeScript text, without a fence around it: `JsonValue`,
 * `ToolCallError`, `Tools` and `tools`. Tools are sorted by code unit, so that an unchanged set
 * gives the same bytes in any order; of two tools of one name the first counts. Never throws.
 */
export function renderToolsSdk(tools: readonly SdkTool[]): string {
  const byName = new Map<string, SdkTool>()
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  const lines = [HEAD, 'interface Tools {']
  const tree = nameTree(byName)
  for (const [key, node] of tree.members) lines.push(...renderMember(key, node, INDENT))
  lines.push(...renderRawNames(byName, tree))
  lines.push('}', '', 'declare const tools: Tools;', '')
  return lines.join('\n')
}

const INDENT = '  '

const HEAD = `/** Any JSON value. A number beyond 2^53 that must stay exact arrives as a bigint; convert it with Number() to calculate. */
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

/** All tools. A value that no schema describes is \`any\`: look at it before you rely on its shape. */`

/** A tool, a group of tools, or a function with members. Recursion is bounded by the steps of a name. */
function renderMember(key: string, node: NameNode<SdkTool>, indent: string): string[] {
  const { tool, members } = node
  const head = `${indent}readonly ${propertyKey(key)}: `
  const comment = tool === undefined ? [] : toolComment(tool, indent)
  if (members.size === 0) return tool === undefined ? [] : [...comment, `${head}${signature(tool, indent, ' => ')};`]
  const inner = indent + INDENT
  const lines = [...comment, `${head}{`]
  if (tool !== undefined) lines.push(`${inner}${signature(tool, inner, ': ')};`)
  for (const [memberKey, member] of members) lines.push(...renderMember(memberKey, member, inner))
  lines.push(`${indent}};`)
  return lines
}

/** A dotted name is a key of its own as well: `tools["math.sum"]`. */
function renderRawNames(tools: ReadonlyMap<string, SdkTool>, tree: NameNode<SdkTool>): string[] {
  const lines: string[] = []
  for (const name of [...tools.keys()].toSorted(compareCodeUnits)) {
    const tool = tools.get(name)
    if (tool === undefined || tree.members.get(name)?.tool === tool) continue
    const head = `${INDENT}readonly ${propertyKey(name)}: `
    const path = pathOf(name, tree)
    if (path !== undefined) lines.push(`${head}Tools${path};`)
    else lines.push(...toolComment(tool, INDENT), `${head}${signature(tool, INDENT, ' => ')};`)
  }
  return lines
}

function pathOf(name: string, tree: NameNode<SdkTool>): string | undefined {
  let node: NameNode<SdkTool> | undefined = tree
  let path = ''
  for (const step of name.split('.')) {
    node = node.members.get(step)
    if (node === undefined) return undefined
    path += `[${propertyLiteral(step)}]`
  }
  return node.tool === undefined ? undefined : path
}

function propertyLiteral(step: string): string {
  const key = propertyKey(step)
  return key.startsWith('"') ? key : `"${key}"`
}

function toolComment(tool: SdkTool, indent: string): string[] {
  const [returned] = describeNode(ownValue(tool.output, 'schema'))
  return docComment([tool.description, returned === undefined || returned === '' ? '' : `@returns ${returned}`], indent)
}

function signature(tool: SdkTool, indent: string, arrow: ' => ' | ': '): string {
  const args = jsonSchemaToTs(tool.parameters, 'arguments', indent)
  const optional = mayOmitArguments(tool.parameters) ? '?' : ''
  return `(args${optional}: ${args})${arrow}Promise<${jsonSchemaToTs(ownValue(tool.output, 'schema'), 'output', indent)}>`
}
