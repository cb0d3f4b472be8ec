/** What a rule demands of one argument. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { RE2JS } from 're2js'
import { messageOf } from '../errors.ts'
import { compareNumbers, isExactNumber } from '../json/number.ts'
import type { JsonValue } from '../json/value.ts'

/** `undecidable`: the value is not of the kind that the operator is about. */
export type Outcome = 'holds' | 'fails' | 'undecidable'

/** Tests one value. */
export type Test = (value: JsonValue) => Outcome

/** What compiling needs from outside. */
export interface ConditionContext {
  /** Absolute path that relative ones start at. */
  readonly workingFolder: string
  /** Compiles a regular expression that takes linear time. */
  readonly compileRegex: (pattern: string) => RE2JS
}

/** Longest text that is searched, in characters: also linear time is time of the host. */
const MAX_SEARCHED_CHARACTERS = 65_536

type Operator = (operand: JsonValue, context: ConditionContext) => Test | { readonly problem: string }

const OPERATORS: Readonly<Record<string, Operator>> = {
  equals: (operand) =>
    isScalar(operand) ? isOneOf([operand]) : { problem: 'must be a text, number, boolean or null' },
  oneOf: (operand) =>
    Array.isArray(operand) && operand.length > 0 && operand.every(isScalar)
      ? isOneOf(operand)
      : { problem: 'must be an array of texts, numbers, booleans or nulls, at least one' },
  matches: (operand, { compileRegex }) => {
    if (typeof operand !== 'string') return { problem: 'must be a regular expression as text' }
    try {
      return hasMatch(compileRegex(operand))
    } catch (failure) {
      return { problem: `is no regular expression in RE2 syntax: ${messageOf(failure)}` }
    }
  },
  under: (operand, { workingFolder }) =>
    typeof operand === 'string' && isPlainPath(operand)
      ? isUnder(resolve(workingFolder, operand), workingFolder)
      : { problem: 'must be a folder as a path, not a URL and not beginning with ~' },
  less: (operand) => comparison(operand, (order) => order < 0),
  greater: (operand) => comparison(operand, (order) => order > 0),
}

/** Names of the operators, for messages. */
export const OPERATOR_NAMES: readonly string[] = Object.keys(OPERATORS)

/** One operator of a condition as a test, or what is wrong with it. */
export function compileOperator(
  name: string,
  operand: JsonValue,
  context: ConditionContext,
): Test | { readonly problem: string } {
  const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined
  if (operator === undefined) return { problem: `is no operator; there are ${OPERATOR_NAMES.join(', ')}` }
  return operator(operand, context)
}

/** All tests on one value: failing wins, then not knowing. */
export function testAll(tests: readonly Test[], value: JsonValue): Outcome {
  const outcomes = tests.map((test) => test(value))
  if (outcomes.includes('fails')) return 'fails'
  return outcomes.includes('undecidable') ? 'undecidable' : 'holds'
}

function isOneOf(operands: readonly JsonValue[]): Test {
  const kinds = new Set(operands.map(kindOf))
  return (value) => {
    if (!kinds.has(kindOf(value))) return 'undecidable'
    return operands.some((operand) => isSameScalar(operand, value)) ? 'holds' : 'fails'
  }
}

function isSameScalar(one: JsonValue, other: JsonValue): boolean {
  return isNumeric(one) && isNumeric(other) ? compareNumbers(one, other) === 0 : one === other
}

function hasMatch(regex: RE2JS): Test {
  return (value) => {
    if (typeof value !== 'string' || value.length > MAX_SEARCHED_CHARACTERS) return 'undecidable'
    return regex.matcher(value).find() ? 'holds' : 'fails'
  }
}

function isUnder(folder: string, workingFolder: string): Test {
  return (value) => {
    if (typeof value !== 'string' || !isPlainPath(value)) return 'undecidable'
    const way = relative(folder, resolve(workingFolder, value))
    const isOutside = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
    return isOutside ? 'fails' : 'holds'
  }
}

/** A tool may take a URL, `~` or a NUL for another place than the one that can be compared. */
function isPlainPath(text: string): boolean {
  return text !== '' && !text.startsWith('~') && !text.includes('\0') && !/^[A-Za-z][A-Za-z0-9+.-]+:/.test(text)
}

function comparison(operand: JsonValue, isMet: (order: number) => boolean): Test | { readonly problem: string } {
  if (!isNumeric(operand)) return { problem: 'must be a number' }
  return (value) => {
    if (!isNumeric(value)) return 'undecidable'
    return isMet(compareNumbers(value, operand)) ? 'holds' : 'fails'
  }
}

function isNumeric(value: JsonValue): value is Parameters<typeof compareNumbers>[0] {
  return (typeof value === 'number' && !Number.isNaN(value)) || isExactNumber(value)
}

function isScalar(value: JsonValue): boolean {
  return kindOf(value) !== 'container'
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null'
  if (isNumeric(value)) return 'number'
  return typeof value === 'object' ? 'container' : typeof value
}
