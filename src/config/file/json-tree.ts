import { getLocation, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser/lib/esm/main.js'
import { formatPath, joinPath, type NodeKind, type NodeMember, type ShapeNode } from '../../shapes/node.ts'
import type { Findings } from './fault-lines.ts'

/** Most levels of objects and arrays. Checked before parsing, since the parser is recursive. */
const depthMax = 64

const locatedMax = 20

/** Syntax errors that do not affect the rest of the tree. */
const recoverable: ReadonlySet<string> = new Set(['CommaExpected'])

/** The tree of a JSON text. */
export interface JsonTree {
  /** `undefined` when the text has no value, or too many levels. */
  readonly root: Node | undefined
  /** Whether the tree is reliable; false after a syntax error that affects the rest of the text. */
  readonly isSound: boolean
}

/**
 * Parses JSON with comments and trailing commas. Syntax errors are added to `findings`, one for each line, without
 * quoting the text, which may be a key.
 */
export function parseJsonTree(text: string, findings: Findings): JsonTree {
  // The parser does not accept a byte order mark; a blank in its place keeps the offsets.
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
    return { root: undefined, isSound: false }
  }
  const lines = new Set<number>()
  for (const error of errors) {
    const line = findings.lineOf(error.offset)
    if (lines.has(line)) continue
    lines.add(line)
    // Finding a path reads the text from its start, so the number of paths is limited.
    const path = lines.size > locatedMax ? '' : pathOf(unmarked, error.offset)
    findings.add({ offset: error.offset, path }, describeToken(unmarked, error), describeExpected(error))
  }
  return {
    root,
    isSound: errors.every((error) => recoverable.has(printParseErrorCode(error.error))),
  }
}

/** A value of the parsed text, for shapes. */
export class FileNode implements ShapeNode {
  readonly kind: NodeKind
  readonly offset: number

  readonly path: string
  readonly isSecret: boolean
  readonly #node: Node

  constructor(node: Node, path = '', isSecret = false) {
    this.#node = node
    this.path = path
    this.isSecret = isSecret
    // A property is never a value.
    this.kind = node.type === 'property' ? 'null' : node.type
    this.offset = node.offset
  }

  get value(): unknown {
    const value: unknown = this.#node.value
    return value
  }

  members(): readonly NodeMember[] {
    if (this.kind !== 'object') return []
    return (this.#node.children ?? []).flatMap(({ offset, children: [key, value] = [] }) => {
      // A property without a value is a syntax error, which has been added already.
      if (key === undefined || value === undefined) return []
      const name = String(key.value)
      const path = joinPath(this.path, name)
      return [{ name, at: { offset, path }, node: new FileNode(value, path, this.isSecret) }]
    })
  }

  elements(): readonly ShapeNode[] {
    if (this.kind !== 'array') return []
    return (this.#node.children ?? []).map(
      (item, index) => new FileNode(item, joinPath(this.path, index), this.isSecret),
    )
  }

  asSecret(): ShapeNode {
    return new FileNode(this.#node, this.path, true)
  }
}

/**
 * The path of the field at an offset. Before a field's name it is the path of the enclosing object; empty at the root.
 */
function pathOf(text: string, offset: number): string {
  const { path, isAtPropertyKey } = getLocation(text, offset)
  return formatPath(isAtPropertyKey && path.at(-1) === '' ? path.slice(0, -1) : path)
}

/**
 * Strings, comments and brackets, as the parser separates them: a string ends with its line, unless the line break is
 * escaped.
 */
const structure = /"[^"\\\n\r]*(?:\\[\s\S][^"\\\n\r]*)*"?|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\]]/g

function findDepthExcess(text: string): number | undefined {
  const open: string[] = []
  for (const { 0: token, index } of text.matchAll(structure)) {
    if (token === '{' || token === '[') open.push(token)
    // Like the parser: only "}" ends an object, and only "]" ends an array.
    else if ((token === '}' && open.at(-1) === '{') || (token === ']' && open.at(-1) === '[')) open.pop()
    if (open.length > depthMax) return index
  }
  return undefined
}

function describeToken(text: string, error: ParseError): string {
  const token = text.slice(error.offset, error.offset + Math.max(error.length, 1))
  if (token === '') return 'the end of the file'
  if (/^[{}[\],:]$/.test(token)) return `"${token}"`
  if (token.startsWith('"')) return 'a string'
  if (token.startsWith('/')) return 'a comment'
  return /^[-\d]/.test(token) ? 'a number' : 'an unquoted word'
}

/** The allowed text, by the parser's name of the error. */
const expectedByError: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a string in double quotes, a number, true, false, null, an object or an array',
  InvalidNumberFormat: 'a number such as 5 or 0.5',
  UnexpectedEndOfNumber: 'a number such as 5 or 0.5',
  PropertyNameExpected: 'the name of a field in double quotes',
  ValueExpected: 'a value',
  ColonExpected: '":" after the name of a field',
  CommaExpected: '"," between two values',
  CloseBraceExpected: '"}" at the end of an object',
  CloseBracketExpected: '"]" at the end of an array',
  EndOfFileExpected: 'nothing after the end of the object',
  UnexpectedEndOfComment: 'a comment such as // … or /* … */',
  InvalidCommentToken: 'a comment such as // … or /* … */',
  UnexpectedEndOfString: 'a string that ends with a double quote on the same line',
  InvalidUnicode: 'only the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
  InvalidEscapeCharacter: 'only the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
}

function describeExpected(error: ParseError): string {
  return expectedByError[printParseErrorCode(error.error)] ?? 'no control characters within a string'
}
