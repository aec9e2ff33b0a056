import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type JSONPath,
  type Node,
} from 'jsonc-parser/lib/esm/main.js'
import { collectFindings } from '../file/fault-lines.ts'
import { parseJsonTree } from '../file/json-tree.ts'
import { rearrange, type Piece } from './rearrange.ts'

/** Values longer than this, in characters, are written over several lines. */
const lineLengthMax = 100

/** One change to a configuration text. Paths contain names and indexes, such as `['providers', 0, 'enabled']`. */
export type ConfigEdit =
  | { readonly kind: 'set'; readonly path: JSONPath; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: JSONPath }
  /** The path's last step is the new index of the value; -1 appends it. */
  | { readonly kind: 'insert'; readonly path: JSONPath; readonly value: unknown }
  /** Moves an item of the array at `path` from one index to another. */
  | { readonly kind: 'move'; readonly path: JSONPath; readonly from: number; readonly to: number }

/**
 * Makes changes to a configuration text, one after another. Other values, comments, order and indentation stay. A
 * comment above an item of an array, or after it on its line, moves with the item. The result is not checked;
 * `parseConfig` does that.
 *
 * @throws {ConfigError} when the text is not JSON
 * @throws {RangeError} when the array of a `move` has no such index
 */
export function editConfig(text: string, edits: readonly ConfigEdit[]): string {
  return edits.reduce(applyEdit, text)
}

/** The value at a path of a configuration text, if it is there. @throws {ConfigError} as `editConfig` */
export function valueAt(text: string, path: JSONPath): unknown {
  const node = findNodeAtLocation(parseSound(text), path)
  return node === undefined ? undefined : getNodeValue(node)
}

/** A member of the root as it is written, with its line from 1. @throws {ConfigError} as `editConfig` */
export function memberText(text: string, name: string): { readonly line: number; readonly text: string } | undefined {
  const member = findNodeAtLocation(parseSound(text), [name])?.parent
  if (member === undefined) return undefined
  const line = text.slice(0, member.offset).split(/\r\n|\n|\r/).length
  return { line, text: text.slice(member.offset, member.offset + member.length) }
}

function applyEdit(text: string, edit: ConfigEdit): string {
  const root = parseSound(text)
  switch (edit.kind) {
    case 'set':
      return addWithinLine(text, root, edit.path, edit.value) ?? modifyText(text, edit.path, edit.value, false)
    case 'remove':
      return removeItem(text, root, edit.path) ?? modifyText(text, edit.path, undefined, false)
    case 'insert':
      return insertItem(text, root, edit.path, edit.value) ?? modifyText(text, edit.path, edit.value, true)
    case 'move':
      return moveItem(text, root, edit.path, edit.from, edit.to)
  }
}

function modifyText(text: string, path: JSONPath, value: unknown, isArrayInsertion: boolean): string {
  return applyEdits(text, modify(text, path, value, { isArrayInsertion, formattingOptions: formatOf(text) }))
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

/** Adds a member to an object on one line, and keeps it on one line. `undefined` when that is not possible. */
function addWithinLine(text: string, root: Node, path: JSONPath, value: unknown): string | undefined {
  const name = path.at(-1)
  const object = findNodeAtLocation(root, path.slice(0, -1))
  const last = object?.children?.at(-1)
  if (
    object?.type !== 'object' ||
    last === undefined ||
    typeof name !== 'string' ||
    findNodeAtLocation(root, path) !== undefined
  )
    return undefined
  const member = `, ${JSON.stringify(name)}: ${JSON.stringify(value)}`
  const line = text.slice(object.offset, object.offset + object.length)
  if (/[\n\r]/.test(line) || member.length > lineLengthMax) return undefined
  const end = last.offset + last.length
  return text.slice(0, end) + member + text.slice(end)
}

/** Removes an item of an array, or a member of an object, with its comments and no others. */
function removeItem(text: string, root: Node, path: JSONPath): string | undefined {
  const found = findNodeAtLocation(root, path)
  const item = found?.parent?.type === 'property' ? found.parent : found
  const parent = item?.parent
  if (item === undefined || parent === undefined) return undefined
  const index = parent.children?.indexOf(item) ?? -1
  return rearrange(text, parent, formatOf(text).eol, (pieces) => pieces.toSpliced(index, 1))
}

function insertItem(text: string, root: Node, path: JSONPath, value: unknown): string | undefined {
  const found = findArray(root, path)
  if (found === undefined || found.items.length === 0) return undefined
  const index = found.index === -1 ? found.items.length : found.index
  const piece: Piece = { before: '', body: formatValue(text, value), behind: '' }
  return rearrange(text, found.array, formatOf(text).eol, (pieces) => pieces.toSpliced(index, 0, piece))
}

function moveItem(text: string, root: Node, path: JSONPath, from: number, to: number): string {
  const found = findArray(root, [...path, from])
  const moved = found?.items[from]
  if (found === undefined || moved === undefined || found.items[to] === undefined) {
    throw new RangeError(`cannot move item ${from} to ${to}: an index is out of range`)
  }
  return rearrange(text, found.array, formatOf(text).eol, (pieces) =>
    pieces.toSpliced(from, 1).toSpliced(to, 0, ...pieces.slice(from, from + 1)),
  )
}

/** Finds the array that the path's last step indexes. */
function findArray(root: Node, path: JSONPath): { array: Node; items: readonly Node[]; index: number } | undefined {
  const index = path.at(-1)
  const array = findNodeAtLocation(root, path.slice(0, -1))
  return array?.type === 'array' && typeof index === 'number'
    ? { array, items: array.children ?? [], index }
    : undefined
}

/** Formats a value on one line with blanks; over several lines when it is long. */
function formatValue(text: string, value: unknown): string {
  const { insertSpaces, tabSize, eol } = formatOf(text)
  const step = insertSpaces ? ' '.repeat(tabSize) : '\t'
  const lines = (JSON.stringify(value, null, step) ?? 'null').split('\n')
  const oneLine = lines.map((line) => line.trim()).join(' ')
  return oneLine.length <= lineLengthMax ? oneLine : lines.join(`${eol}${step}${step}`)
}
