/** Compiles a program: the TypeScript body of an async function becomes a JavaScript body with positions. */
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping'
import { compilerService } from './compiler-service.ts'
import { ProgramCache } from './program-cache.ts'
import { guardNesting, guardText } from './source-guard.ts'
import { countLines, type SourcePosition } from './source-position.ts'
import type { SourceScan } from './source-scan.ts'
import { explainSyntax, unbalancedBraces } from './syntax-message.ts'

/** The name that a program's frames carry in stack texts. */
const PROGRAM_FILENAME = 'program.ts'

/** A program ready for a sandbox. */
export interface CompiledProgram {
  /** JavaScript body of an async function, to be compiled in strict mode; no wrapper around it. */
  readonly code: string
  readonly filename: typeof PROGRAM_FILENAME
  /** The program as it was handed in; `locate` answers in its lines and columns. */
  readonly source: string
  /** Place in `source` of a place in `code` (1-based both); undefined when nothing of the program stands there. */
  locate(position: SourcePosition): SourcePosition | undefined
}

/** What a compile may cost. */
export interface CompileOptions {
  /** Longest accepted source, in bytes of UTF-8. */
  readonly maxSourceBytes: number
  /** Ends the wait: the compile rejects with the signal's reason, in an AbortError when that is no Error. */
  readonly signal?: AbortSignal
}

/**
 * Compiles one program; an unchanged program is answered from a small cache.
 * @param source body of an async TypeScript function: top-level `await` and `return` are allowed.
 * @throws ProgramError `SOURCE_TOO_LARGE`, `SYNTAX_ERROR` with the position, `COMPILE_FAILED` when the compiler gave up.
 */
export async function compileProgram(source: string, options: CompileOptions): Promise<CompiledProgram> {
  const { maxSourceBytes, signal } = options
  guardText(source, maxSourceBytes)
  const known = programs.get(source)
  if (known !== undefined) return known
  const scan = guardNesting(source)
  const failure = { source, scan, linesBefore: 1, diagnostics: [] }
  const transformed = await compilerService.transform(`${FUNCTION_HEAD}${source}${FUNCTION_TAIL}`, signal)
  if (transformed.kind === 'refused') throw explainSyntax({ ...failure, diagnostics: transformed.diagnostics })
  const body = cutBody(transformed.code)
  if (body === undefined) throw unbalancedBraces(failure)
  if (body.mayLeave || !isBalanced(scan)) {
    const asMethod = await compilerService.transform(`${METHOD_HEAD}${source}${METHOD_TAIL}`, signal)
    if (asMethod.kind === 'refused') throw unbalancedBraces({ ...failure, diagnostics: asMethod.diagnostics })
  }
  const program = toProgram(source, body, transformed.map)
  programs.set(source, program, 2 * (source.length + body.code.length + transformed.map.length))
  return program
}

const programs = new ProgramCache<CompiledProgram>({ maxEntries: 100, maxBytes: 8 * 1024 * 1024 })

/** One line before the program, in both wrappers. */
const FUNCTION_HEAD = '"use strict"; async function __ptc_program() {\n'
const FUNCTION_TAIL = '\n}'
/**
 * A text that closes the function above and goes on must go on with a statement; one that closes
 * this method must go on with a comma or a brace. What fits in both closes neither.
 */
const METHOD_HEAD = '"use strict"; ({ async __ptc_program() {\n'
const METHOD_TAIL = '\n} })'

/** The wrapper as the compiler prints it. */
const PRINTED_DIRECTIVE = '"use strict";\n'
const PRINTED_HEAD = 'async function __ptc_program() {\n'
const PRINTED_TAIL = '}\n'
/** The two lines of it before the body. */
const PRINTED_LINES = 2

interface ProgramBody {
  readonly code: string
  /** Declarations that the compiler adds for syntax the engine lacks, such as decorators. */
  readonly helpers: string
  /** The output looks as if the text might have left the wrapper. */
  readonly mayLeave: boolean
}

function cutBody(output: string): ProgramBody | undefined {
  const at = output.indexOf(PRINTED_HEAD)
  const before = output.slice(0, at)
  if (at === -1 || !before.startsWith(PRINTED_DIRECTIVE) || !output.endsWith(PRINTED_TAIL)) return undefined
  const code = output.slice(at + PRINTED_HEAD.length, -PRINTED_TAIL.length)
  if (code !== '' && !code.endsWith('\n')) return undefined
  const helpers = before.slice(PRINTED_DIRECTIVE.length)
  // Everything inside the function is indented; only lines of templates and outer statements are not.
  const mayLeave = helpers !== '' || /^[^ \n]/mu.test(code)
  return { code, helpers, mayLeave }
}

function isBalanced({ strayCloser, unclosed }: SourceScan): boolean {
  return strayCloser === undefined && unclosed === undefined
}

function toProgram(source: string, { code, helpers }: ProgramBody, map: string): CompiledProgram {
  const lastLine = countLines(source)
  let trace: TraceMap | undefined
  return Object.freeze({
    code: helpers + code,
    filename: PROGRAM_FILENAME,
    source,
    locate({ line, column }: SourcePosition): SourcePosition | undefined {
      if (!(line >= 1 && column >= 1)) return undefined
      trace ??= new TraceMap(map)
      const found = originalPositionFor(trace, {
        line: Math.trunc(line) + PRINTED_LINES,
        column: Math.trunc(column) - 1,
      })
      if (found.line === null) return undefined
      // The wrapper's head is the first line of what was compiled.
      const own = { line: found.line - 1, column: found.column + 1 }
      return own.line >= 1 && own.line <= lastLine ? own : undefined
    },
  })
}
