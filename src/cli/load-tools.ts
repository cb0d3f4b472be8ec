/** Tools from modules that people write: TypeScript or JavaScript, any export form. */
import { readFileSync, statSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type TransformFailure, transformSync } from 'esbuild'
import { messageOf, type ToolDefinition } from '../index.ts'
import { CommandError } from './exit-code.ts'

/** Loads every tool that the modules export. @throws CommandError that says what is wrong with which module. */
export async function loadTools(paths: readonly string[]): Promise<ToolDefinition[]> {
  const tools: ToolDefinition[] = []
  for (const path of paths) {
    for (const tool of await loadModule(path)) {
      const namesake = tools.find(({ name }) => name === tool.name)
      if (namesake !== undefined && namesake !== tool) {
        throw new CommandError(`two tools are named "${tool.name}"; the second one is in ${path}: rename one of them`)
      }
      if (namesake === undefined) tools.push(tool)
    }
  }
  return tools
}

async function loadModule(path: string): Promise<ToolDefinition[]> {
  const file = resolve(path)
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new CommandError(`there is no tools module at ${path}; give the path of a .ts or .js file`)
  const exported = await importModule(file, path)
  const tools = toolsOf(Object.values(exported))
  if (tools.length > 0) return tools
  // What Node adds to a CommonJS module is no export of its author.
  const names = Object.keys(exported).filter(
    (name) => name !== 'module.exports' && !(name === 'default' && isEmpty(exported[name])),
  )
  const found = names.length === 0 ? 'it exports nothing' : `it exports ${names.join(', ')}`
  throw new CommandError(`${path} exports no tools: ${found}; export what defineTool returns, one or an array`)
}

async function importModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const address = pathToFileURL(file).href
  try {
    return await importWithTypes(address)
  } catch (cause) {
    throw new CommandError(`${path} cannot be loaded: ${messageOf(cause)}${placeOf(cause, file)}`)
  }
}

/** Where a module is no valid syntax: Node tells that for TypeScript in the stack, for JavaScript not at all. */
function placeOf(cause: unknown, file: string): string {
  if (!(cause instanceof SyntaxError)) return ''
  const [first = ''] = String(cause.stack).split('\n', 1)
  const told = /^(?:file:.*|\/.*|[A-Za-z]:.*):\d+$/.test(first) ? first : undefined
  const place = told ?? placeInFile(file)
  return place === undefined ? '' : ` (${place})`
}

function placeInFile(file: string): string | undefined {
  try {
    transformSync(readFileSync(file, 'utf8'), { loader: 'ts', logLevel: 'silent' })
    return undefined
  } catch (failure) {
    const line = isTransformFailure(failure) ? failure.errors[0]?.location?.line : undefined
    return line === undefined ? undefined : `${file}:${line}`
  }
}

function isTransformFailure(failure: unknown): failure is TransformFailure {
  return failure instanceof Error && 'errors' in failure && Array.isArray(failure.errors)
}

/** Node strips types by itself; syntax that needs compiling, such as enums, goes through esbuild. */
async function importWithTypes(address: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(address)
  } catch (failure) {
    if (!hasCode(failure, 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')) throw failure
    const hooks = registerHooks({ load: compileTypeScript })
    try {
      return await import(`${address}?compiled`)
    } finally {
      hooks.deregister()
    }
  }
}

const compileTypeScript: Parameters<typeof registerHooks>[0]['load'] = (address, context, nextLoad) => {
  const isTypeScript = /\.[mc]?ts(?:\?|$)/.test(address) && !address.includes('/node_modules/')
  if (!isTypeScript) return nextLoad(address, context)
  const file = fileURLToPath(address)
  const source = readFileSync(file, 'utf8')
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', sourcefile: file, sourcemap: 'inline' })
  return { format: 'module', source: code, shortCircuit: true }
}

function toolsOf(values: readonly unknown[]): ToolDefinition[] {
  return [...new Set(values.flat().filter(isToolDefinition))]
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** Enough to tell a tool from another export; registering it checks the rest. */
function isToolDefinition(value: unknown): value is ToolDefinition {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'execute' in value &&
    typeof value.execute === 'function'
  )
}

function hasCode(failure: unknown, code: string): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === code
}

/** Reads a program from a file, or from standard input for `-`. */
export async function readProgram(path: string): Promise<string> {
  if (path === '-') return readInput()
  try {
    return await readFile(resolve(path), 'utf8')
  } catch (cause) {
    const reason = hasCode(cause, 'ENOENT')
      ? 'there is no such file'
      : hasCode(cause, 'EISDIR')
        ? 'it is a folder'
        : messageOf(cause)
    throw new CommandError(`the program ${path} cannot be read: ${reason}; give a file, or - for standard input`)
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
