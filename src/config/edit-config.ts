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

/** What belongs to one item of an array: the comments above it, itself, and the comment behind it on its line. */
interface Piece {
  readonly before: string
  readonly body: string
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
  const { pieces, hasLastComma, rest } = cutPieces(text, items, start, end)
  pieces.splice(to, 0, ...pieces.splice(from, 1))
  const joined = pieces.map(({ before, body, behind }, index) => {
    const comma = index < pieces.length - 1 || hasLastComma ? ',' : ''
    return `${before}${body}${comma}${behind}`
  })
  return text.slice(0, start) + joined.join('') + rest + text.slice(end)
}

function cutPieces(text: string, items: readonly Node[], start: number, end: number): { pieces: Piece[]; hasLastComma: boolean; rest: string } {
  const pieces: Piece[] = []
  let position = start
  let hasLastComma = false
  for (const [index, item] of items.entries()) {
    const bodyEnd = item.offset + item.length
    const gap = text.slice(bodyEnd, items[index + 1]?.offset ?? end)
    // Comments and blanks up to the comma, the comma, and a comment behind it on the same line.
    const [taken = '', early = '', comma = '', late = ''] =
      /^((?:\s|\/\/[^\n\r]*(?=[\n\r]|$)|\/\*[\s\S]*?\*\/)*?)(,)((?:[ \t]*\/\*[^\n\r]*?\*\/)*[ \t]*(?:\/\/[^\n\r]*)?)/.exec(gap) ?? /^()()([ \t]*(?:\/\/[^\n\r]*)?)/.exec(gap) ?? []
    hasLastComma = comma !== ''
    pieces.push({ before: text.slice(position, item.offset), body: text.slice(item.offset, bodyEnd) + early, behind: late })
    position = bodyEnd + taken.length
  }
  return { pieces, hasLastComma, rest: text.slice(position, end) }
}
