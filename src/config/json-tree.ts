import { getLocation, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import type { Findings } from './findings.ts'

/** Objects and arrays within one another. The parser recurses, so the depth is looked at before it runs. */
const depthMax = 64

const locatedMax = 20

/** Faults of syntax after which the rest of the tree can still be trusted. */
const harmless: ReadonlySet<string> = new Set(['CommaExpected'])

/** The tree of a JSON text, and whether it can be looked into further. */
export interface JsonTree {
  /** Absent when there is no value at all, or it nests too deep. */
  readonly root: Node | undefined
  /** What is in the tree is what its author meant; false after a fault that shifts what follows. */
  readonly isSound: boolean
}

/**
 * Parses JSON with comments and trailing commas. Faults of syntax are noted, one a line, without quoting what stands
 * there: it may be a key.
 */
export function parseJsonTree(text: string, findings: Findings): JsonTree {
  // A byte order mark is no part of the text; a blank keeps the offsets.
  const unmarked = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text
  const tooDeep = findDepthExcess(unmarked)
  if (tooDeep !== undefined) {
    findings.add(
      { offset: tooDeep, path: '' },
      `more than ${depthMax} levels of objects and arrays`,
      `at most ${depthMax}`,
    )
    return { root: undefined, isSound: false }
  }
  const errors: ParseError[] = []
  const root = parseTree(unmarked, errors, { allowTrailingComma: true })
  if (root === undefined) {
    findings.add({ offset: 0, path: '' }, 'no value', 'an object')
    return { root, isSound: false }
  }
  const lines = new Set<number>()
  for (const error of errors) {
    const line = findings.lineOf(error.offset)
    if (lines.has(line)) continue
    lines.add(line)
    // Each look-up reads the text from its start: not for every line of a file of another kind.
    const path = lines.size > locatedMax ? '' : pathOf(unmarked, error.offset)
    findings.add({ offset: error.offset, path }, describeToken(unmarked, error), describeExpected(error))
  }
  return { root, isSound: errors.every((error) => harmless.has(printParseErrorCode(error.error))) }
}

/**
 * The field at an offset. Where the name of one is yet to come it is the object around it; at the top that is the file
 * as a whole.
 */
function pathOf(text: string, offset: number): string {
  const { path, isAtPropertyKey } = getLocation(text, offset)
  return formatPath(isAtPropertyKey && path.at(-1) === '' ? path.slice(0, -1) : path)
}

/** `providers[1].headers["x y"]` for the path of keys and indexes that leads there. */
export function formatPath(segments: readonly (string | number)[]): string {
  return segments.reduce<string>((path, segment) => joinPath(path, segment), '')
}

/** A path with one more key or index. Keys that are no plain names are quoted, and shortened to 40 characters. */
export function joinPath(path: string, segment: string | number): string {
  if (typeof segment === 'number') return `${path}[${segment}]`
  if (/^[\w$-]{1,40}$/.test(segment)) return path === '' ? segment : `${path}.${segment}`
  const shown = segment.length > 40 ? `${segment.slice(0, 39)}…` : segment
  return `${path}[${JSON.stringify(shown)}]`
}

/**
 * Texts, comments and brackets, cut as the parser cuts them: a text ends with its line, unless the line's end is
 * escaped.
 */
const structure = /"[^"\\\n\r]*(?:\\[\s\S][^"\\\n\r]*)*"?|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\]]/g

function findDepthExcess(text: string): number | undefined {
  const open: string[] = []
  for (const { 0: token, index } of text.matchAll(structure)) {
    if (token === '{' || token === '[') open.push(token)
    // The parser stays in an object until "}" comes, and in an array until "]" does.
    else if ((token === '}' && open.at(-1) === '{') || (token === ']' && open.at(-1) === '[')) open.pop()
    if (open.length > depthMax) return index
  }
  return undefined
}

function describeToken(text: string, error: ParseError): string {
  const token = text.slice(error.offset, error.offset + Math.max(error.length, 1))
  if (token === '') return 'the end of the file'
  if (/^[{}[\],:]$/.test(token)) return `"${token}"`
  if (token.startsWith('"')) return 'a text'
  if (token.startsWith('/')) return 'a comment'
  return /^[-\d]/.test(token) ? 'a number' : 'something without double quotes'
}

function describeExpected(error: ParseError): string {
  switch (printParseErrorCode(error.error)) {
    case 'InvalidSymbol':
      return 'text in double quotes, a number, true, false, null, an object or an array'
    case 'InvalidNumberFormat':
    case 'UnexpectedEndOfNumber':
      return 'a number such as 5 or 0.5'
    case 'PropertyNameExpected':
      return 'the name of a field in double quotes'
    case 'ValueExpected':
      return 'a value'
    case 'ColonExpected':
      return '":" after the name of a field'
    case 'CommaExpected':
      return '"," between two values'
    case 'CloseBraceExpected':
      return '"}" at the end of an object'
    case 'CloseBracketExpected':
      return '"]" at the end of an array'
    case 'EndOfFileExpected':
      return 'nothing after the end of the object'
    case 'UnexpectedEndOfComment':
    case 'InvalidCommentToken':
      return 'a comment such as // … or /* … */'
    case 'UnexpectedEndOfString':
      return 'a text that ends with a double quote on the same line'
    case 'InvalidUnicode':
    case 'InvalidEscapeCharacter':
      return 'only the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX'
    default:
      return 'no control characters within a text'
  }
}
