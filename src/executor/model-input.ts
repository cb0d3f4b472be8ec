/** Schemas for a model request. */
import { deepFreeze } from '../json/freeze.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { ToolSchema } from '../tool/content.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { ToolModelInput } from '../tool/executor.ts'

/** The schemas of these tools, behind those of the executor itself; the same ones for the same tools. */
export function modelInput(tools: readonly ToolDefinition[], own: readonly ToolSchema[] = []): ToolModelInput {
  // By code unit, so that the order in which tools were registered does not change a request.
  const schemas = [...own, ...tools.map(toSchema).sort((one, other) => (one.name < other.name ? -1 : 1))]
  return { schemas, knownNames: schemas.map(({ name }) => name) }
}

function toSchema({ name, description, parameters }: ToolDefinition): ToolSchema {
  // Registration saw to it that parameters are a JSON object.
  return { name, description, parameters: snapshotJson(parameters) as ToolSchema['parameters'] }
}

/** Frozen copies by the parameters that they are of: a definition is lent and does not change. */
const frozenParameters = new WeakMap<object, ToolSchema['parameters']>()

/** The schema of a tool as a program's binding has it, frozen all the way. */
export function bindingSchema({ name, description, parameters }: ToolDefinition): ToolSchema {
  let frozen = frozenParameters.get(parameters)
  if (frozen === undefined) {
    // Registration saw to it that parameters are a JSON object.
    frozen = deepFreeze(snapshotJson(parameters) as ToolSchema['parameters'])
    frozenParameters.set(parameters, frozen)
  }
  return Object.freeze({ name, description, parameters: frozen })
}
