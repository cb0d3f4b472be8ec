/** Policies from files: JSON, or a module that exports one. */
import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, PolicyError } from '../errors.ts'
import { parseJson } from '../json/text.ts'
import type { PolicyDefinition } from './definition.ts'
import { Policy } from './policy.ts'

const MODULES = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

/**
 * Loads a policy.
 * @param source a `.json` file, a TypeScript or JavaScript module that exports one as `policy` or by default, or
 * the policy itself, loaded or as written.
 * @throws PolicyError (`INVALID_POLICY`) that lists every fault with its place.
 */
export async function loadPolicy(source: string | PolicyDefinition | Policy): Promise<Policy> {
  if (source instanceof Policy) return source
  const definition = typeof source === 'string' ? await readDefinition(source) : source
  const { compilePolicy } = await import('./compile-policy.ts')
  const place = typeof source === 'string' ? source : 'the policy option'
  return compilePolicy(definition, { place, workingFolder: process.cwd() })
}

async function readDefinition(path: string): Promise<unknown> {
  const file = resolve(path)
  const kind = extname(file)
  if (kind !== '.json' && !MODULES.includes(kind)) {
    throw new PolicyError(path, [`its name must end with .json, ${MODULES.join(', ')}`])
  }
  try {
    if (kind === '.json') return parseJson(await readFile(file, 'utf8'))
    return definitionIn(await import(pathToFileURL(file).href), path)
  } catch (cause) {
    throw cause instanceof PolicyError ? cause : new PolicyError(path, [messageOf(cause)], { cause })
  }
}

function definitionIn(module: Readonly<Record<string, unknown>>, path: string): unknown {
  const { policy, default: exported } = module
  if (policy !== undefined || exported !== undefined) return policy ?? exported
  throw new PolicyError(path, ['the module exports no policy: export const policy = { rules, default }'])
}
