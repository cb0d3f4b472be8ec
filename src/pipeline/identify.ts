/** The beginning of every call: an identity, frozen arguments, the definition that it found. */
import { type HarnessError, messageOf } from '../errors.ts'
import { deepFreeze } from '../json/freeze.ts'
import { snapshotJson } from '../json/snapshot.ts'
import type { ToolDefinition, ToolExecution, ToolExecutionInput, ToolExecutionToken } from '../tool/definition.ts'
import type { ToolExecutionResult } from '../tool/outcome.ts'
import { failure, thrownFailure } from './result.ts'
import type { ToolSource } from './tool-source.ts'

/** How one call begins. */
export interface PipelineCallOptions {
  /** Runs this definition instead of a look-up; for an executor's own transport tool. */
  readonly definition?: ToolDefinition
  /** The arguments are a JSON value that nobody else holds: they are frozen as they are, without a copy. */
  readonly ownsArguments?: boolean
  /** Ends the call before any policy, unless it was cancelled before: the executor does not take it. */
  readonly refusal?: HarnessError
  /** The run whose program makes the call; told to who approves it. */
  readonly runId?: string
}

/** A call with its identity, and the definition that it found when it began. */
export interface IdentifiedCall {
  readonly execution: ToolExecution
  readonly found: ToolDefinition | undefined
  /** What is wrong with its arguments. */
  readonly unfit?: ToolExecutionResult
}

/** Copies and freezes the arguments and makes the execution; each field of the input is read once. */
export function identify(
  input: ToolExecutionInput,
  tools: ToolSource,
  { definition, ownsArguments = false }: PipelineCallOptions = {},
): IdentifiedCall {
  const { callId, rootCallId = callId, name, schema, agent, toolSet, parent, signal } = input
  // Found before the arguments are read: a getter among them may change the registry.
  const found = definition ?? tools.executable(name, agent, toolSet)
  const token = Symbol(name) as ToolExecutionToken // the brand exists in types only
  const identity = {
    callId,
    rootCallId,
    name,
    token,
    signal,
    ...(schema === undefined ? {} : { schema }),
    ...(agent === undefined ? {} : { agent }),
    ...(toolSet === undefined ? {} : { toolSet }),
    ...(parent === undefined ? {} : { parent }),
  }
  const unfitCall = (unfit: ToolExecutionResult): IdentifiedCall => ({
    execution: Object.freeze({ ...identity, arguments: undefined }),
    found,
    unfit,
  })
  let given: unknown
  try {
    given = input.arguments
  } catch (thrown) {
    return unfitCall(thrownFailure(thrown))
  }
  try {
    const args = ownsArguments ? given : snapshotJson(given)
    return { execution: Object.freeze({ ...identity, arguments: deepFreeze(args) }), found }
  } catch (cause) {
    const message = `tool execution arguments must be losslessly JSON-serializable: ${messageOf(cause)}`
    return unfitCall(failure(message, { name: 'ToolArgsError', code: 'INVALID_ARGS' }))
  }
}
