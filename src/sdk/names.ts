/** How a program reaches a tool: raw names, split at dots, the same way the sandbox builds its bindings. */

/** Groups deeper than this are not declared; the raw name in brackets always works. */
const MAX_SEGMENTS = 32

/** One step of a name: a tool, a group of tools, or both. */
export interface NameNode<Tool> {
  readonly tool?: Tool
  /** In code-unit order of the keys. */
  readonly members: ReadonlyMap<string, NameNode<Tool>>
}

/** A property key as TypeScript text: bare where it may be, else a string literal. */
export function propertyKey(name: string): string {
  return isIdentifier(name) ? name : stringLiteral(name)
}

/**
 * The expression that reaches a tool: `tools.read_file`, `tools.math.sum`, `tools.github["list-issues"]`;
 * with an empty step between dots, `tools["a..b"]`.
 */
export function accessPath(toolName: string, global = 'tools'): string {
  const steps = stepsOf(toolName) ?? [toolName]
  return global + steps.map((step) => (isIdentifier(step) ? `.${step}` : `[${stringLiteral(step)}]`)).join('')
}

/** A string as TypeScript text on one line, harmless inside a Markdown fence. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text)
    .replaceAll('```', '\\u0060\\u0060\\u0060')
    .replaceAll(/[\u2028\u2029\p{Cf}\p{Cc}]/gu, escapeUnits)
}

/** Groups tools by the dots of their names. Every step of a name is a key, exactly as it is written. */
export function nameTree<Tool>(tools: ReadonlyMap<string, Tool>): NameNode<Tool> {
  const root = makeNode<Tool>()
  for (const name of [...tools.keys()].toSorted(compareCodeUnits)) {
    const tool = tools.get(name)
    const steps = stepsOf(name)
    if (tool === undefined || steps === undefined) continue
    let node = root
    for (const step of steps) {
      const next = node.members.get(step) ?? makeNode<Tool>()
      node.members.set(step, next)
      node = next
    }
    node.tool = tool
  }
  sortMembers(root)
  return root
}

/** Order of names and keys: by UTF-16 code unit, the same on every machine. */
export function compareCodeUnits(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

interface OpenNode<Tool> {
  tool?: Tool
  members: Map<string, OpenNode<Tool>>
}

function makeNode<Tool>(): OpenNode<Tool> {
  return { members: new Map() }
}

/** Undefined when the name has no sensible path of its own. */
function stepsOf(name: string): string[] | undefined {
  const steps = name.split('.', MAX_SEGMENTS + 1)
  return steps.length > MAX_SEGMENTS || steps.includes('') ? undefined : steps
}

/** `a-b` sorts before `a.c` as a name, but `a` before `a-b` as a key. */
function sortMembers<Tool>(root: OpenNode<Tool>): void {
  const pending = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    node.members = new Map([...node.members].toSorted(([left], [right]) => compareCodeUnits(left, right)))
    pending.push(...node.members.values())
  }
}

/** A name that needs no quotes as a property. */
function isIdentifier(name: string): boolean {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/u.test(name)
}

function escapeUnits(character: string): string {
  let text = ''
  for (let index = 0; index < character.length; index++) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return text
}
