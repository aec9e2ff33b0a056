import { applyEdits, findNodeAtLocation, modify, type JSONPath, type Node } from 'jsonc-parser'
import { collectFindings } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'

/** One change to a configuration text. Paths are of names and indexes, such as `['providers', 0, 'enabled']`. */
export type ConfigEdit =
  | { readonly kind: 'set'; readonly path: JSONPath; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: JSONPath }
  /** The last step is the index the value will have; -1 adds it at the end. */
  | { readonly kind: 'insert'; readonly path: JSONPath; readonly value: unknown }
  /** Moves an item of the array at `path` from one index to another. */
  | { readonly kind: 'move'; readonly path: JSONPath; readonly from: number; readonly to: number }

/**
 * Makes changes to a configuration text, one after another, and leaves everything else as it is: comments, order, indentation.
 * The result is not checked: that is `parseConfig`'s work.
 * @throws {ConfigError} when the text is no JSON
 * @throws {RangeError} when there is nothing at a `move`'s indexes
 */
export function editConfig(text: string, edits: readonly ConfigEdit[]): string {
  return edits.reduce(applyEdit, text)
}

function applyEdit(text: string, edit: ConfigEdit): string {
  const root = parseSound(text)
  if (edit.kind === 'move') return moveItem(text, root, edit.path, edit.from, edit.to)
  const value = edit.kind === 'remove' ? undefined : edit.value
  const changes = modify(text, edit.path, value, { isArrayInsertion: edit.kind === 'insert', formattingOptions: formatOf(text) })
  return applyEdits(text, changes)
}

function parseSound(text: string): Node {
  const findings = collectFindings('the configuration', text)
  const { root } = parseJsonTree(text, findings)
  findings.throwIfAny()
  if (root === undefined) throw findings.toError()
  return root
}

function formatOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string; keepLines: boolean } {
  const indentation = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  return {
    insertSpaces: !indentation.startsWith('\t'),
    tabSize: indentation.startsWith('\t') ? 1 : indentation.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    keepLines: true,
  }
}

/** What belongs to one item of an array, and moves with it. */
interface Piece {
  /** The comments above it. */
  readonly before: string
  readonly body: string
  /** The comment behind it on its line. */
  readonly behind: string
}

function moveItem(text: string, root: Node, path: JSONPath, from: number, to: number): string {
  const array = findNodeAtLocation(root, path)
  const items = array?.type === 'array' ? (array.children ?? []) : []
  const first = items[0]
  if (array === undefined || first === undefined || items[from] === undefined || items[to] === undefined) {
    throw new RangeError(`there is no item ${from} or no place ${to} to move it to`)
  }
  const start = array.offset + 1
  const end = array.offset + array.length - 1
  const { pieces, blanks, hasLastComma, rest } = cutPieces(text, items, start, end)
  pieces.splice(to, 0, ...pieces.splice(from, 1))
  const joined = pieces.map(({ before, body, behind }, index) => {
    const comma = index < pieces.length - 1 || hasLastComma ? ',' : ''
    const next = blanks[index + 1] ?? rest
    const lineEnd = behind.includes('//') && !/^[\n\r]/.test(next) ? formatOf(text).eol : ''
    return `${blanks[index] ?? ''}${before}${body}${comma}${behind}${lineEnd}`
  })
  return text.slice(0, start) + joined.join('') + rest + text.slice(end)
}

/** Everything between the brackets of an array. */
interface CutArray {
  readonly pieces: Piece[]
  /** The line breaks and indentation before each piece: they stay where they are. */
  readonly blanks: readonly string[]
  readonly hasLastComma: boolean
  readonly rest: string
}

/** A gap between items: comments and blanks up to the comma, the comma, and comments behind it that end the line. */
const gapWithComma =
  /^((?:\s|\/\/[^\n\r]*(?=[\n\r]|$)|\/\*[\s\S]*?\*\/)*?)(,)((?:[ \t]*\/\*[^\n\r]*?\*\/)*[ \t]*\/\/[^\n\r]*|(?:[ \t]*\/\*[^\n\r]*?\*\/)+(?=[ \t]*[\n\r]))?/

/** The gap after the last item when no comma follows it: comments that end the line. */
const gapWithoutComma = /^()()((?:[ \t]*\/\*[^\n\r]*?\*\/)*[ \t]*\/\/[^\n\r]*|(?:[ \t]*\/\*[^\n\r]*?\*\/)+(?=[ \t]*[\n\r]))?/

function cutPieces(text: string, items: readonly Node[], start: number, end: number): CutArray {
  const pieces: Piece[] = []
  const blanks: string[] = []
  let position = start
  let hasLastComma = false
  for (const [index, item] of items.entries()) {
    const bodyEnd = item.offset + item.length
    const gap = text.slice(bodyEnd, items[index + 1]?.offset ?? end)
    const [taken = '', early = '', comma = '', late = ''] = gapWithComma.exec(gap) ?? gapWithoutComma.exec(gap) ?? []
    const before = text.slice(position, item.offset)
    const blank = /^\s*/.exec(before)?.[0] ?? ''
    hasLastComma = comma !== ''
    blanks.push(blank)
    pieces.push({ before: before.slice(blank.length), body: text.slice(item.offset, bodyEnd) + early, behind: late })
    position = bodyEnd + taken.length
  }
  return { pieces, blanks, hasLastComma, rest: text.slice(position, end) }
}
