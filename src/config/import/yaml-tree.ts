import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type Scalar,
} from 'yaml'
import { joinPath, type NodeKind } from '../../shapes/node.ts'
import { ConfigError } from '../config.ts'
import { SourceNode, ValueCount } from './source-tree.ts'

const depthMax = 64

/**
 * Parses YAML 1.1, as PyYAML reads it (`no`, `on`, `<<`), to a tree with lines. Only `svc import` loads the parser.
 *
 * @throws {ConfigError} for a text that is not YAML, several documents, names that are there twice, aliases that stand
 *   for themselves or for more than 100,000 values
 */
export function yamlTree(text: string, file: string): SourceNode {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { version: '1.1', merge: true, lineCounter: lines, prettyErrors: false })
  const fault: MakeFault = (offset, found, allowed, field = '') => {
    const { line, col } = lines.linePos(offset)
    return new ConfigError([{ file, line: Math.max(1, line), column: Math.max(1, col), field, found, allowed }])
  }
  const [document, second] = Array.isArray(documents) ? documents : []
  if (document === undefined) throw fault(0, 'no value', 'a map of settings')
  const [error] = [...document.errors, ...(second?.errors ?? [])]
  if (error !== undefined && isTooDeep(error)) throw fault(error.pos[0], 'too many levels', `at most ${depthMax}`)
  if (error !== undefined) throw fault(error.pos[0], withoutText(error.message), 'YAML')
  if (second !== undefined) throw fault(second.range[0], 'a second document', 'one document')
  return new TreeMaker(document, lines, fault).make(document.contents, '', 0)
}

/** The parser is recursive: what ends its stack has thousands of levels. */
function isTooDeep({ message }: Error): boolean {
  return message.includes('call stack')
}

/** The parser may quote the text, which may be a key. */
function withoutText(message: string): string {
  return message.replaceAll(/(?<=: )[^]*$|"[^"]*"/g, '…').split('\n')[0] ?? message
}

type MakeFault = (offset: number, found: string, allowed: string, field?: string) => ConfigError

class TreeMaker {
  readonly #document: Document
  readonly #lines: LineCounter
  readonly #fault: MakeFault
  readonly #count = new ValueCount()
  readonly #targets = new Map<Alias, unknown>()
  /** The nodes whose inner values are being made. */
  readonly #open = new Set<unknown>()

  constructor(document: Document, lines: LineCounter, fault: MakeFault) {
    this.#document = document
    this.#lines = lines
    this.#fault = fault
  }

  make(node: unknown, path: string, offset: number): SourceNode {
    const start = isNode(node) ? (node.range?.[0] ?? offset) : offset
    const target = isAlias(node) ? this.#targetOf(node) : node
    this.#check(node, target, { start, path })
    const line = this.#lines.linePos(start).line
    if (isScalar(target)) return new SourceNode({ ...scalarOf(target), path, line })
    if (!isMap(target) && !isSeq(target)) return new SourceNode({ kind: 'null', value: null, path, line })
    this.#open.add(target)
    const made = new SourceNode({ kind: isMap(target) ? 'object' : 'array', path, line })
    if (isMap(target)) for (const pair of target.items) this.#addPair(made, pair, start)
    else
      for (const [index, item] of target.items.entries()) made.items.push(this.make(item, joinPath(path, index), start))
    this.#open.delete(target)
    return made
  }

  #check(node: unknown, target: unknown, { start, path }: { readonly start: number; readonly path: string }): void {
    const refuse = (found: string, allowed: string): never => {
      throw this.#fault(start, found, allowed, path)
    }
    if (!this.#count.add()) refuse('more than 100,000 values, by aliases', 'fewer values')
    if (this.#open.size > depthMax) refuse('too many levels', `at most ${depthMax}`)
    if (isAlias(node) && target === undefined) refuse('an alias without its anchor', 'an anchor before it')
    if (this.#open.has(target)) refuse('an alias within the value that it stands for', 'no circle')
  }

  /** The parser searches the whole document for an anchor. */
  #targetOf(alias: Alias): unknown {
    const known = this.#targets.get(alias) ?? alias.resolve(this.#document)
    this.#targets.set(alias, known)
    return known
  }

  #addPair(made: SourceNode, { key, value }: Pair, offset: number): void {
    const start = isNode(key) ? (key.range?.[0] ?? offset) : offset
    const plain = isScalar(key) ? key.value : key
    if (plain === '<<' || typeof plain === 'symbol') return this.#merge(made, value, start)
    if (typeof plain === 'object' && plain !== null)
      throw this.#fault(start, 'a name that is no text', 'a text', made.path)
    const name = String(isScalar(key) ? scalarOf(key).value : plain)
    made.members.set(name, this.make(value, joinPath(made.path, name), start))
  }

  /** Members of a merged map stand behind those of the map itself. */
  #merge(made: SourceNode, value: unknown, offset: number): void {
    const merged = this.make(value, made.path, offset)
    for (const map of merged.kind === 'array' ? merged.items : [merged])
      for (const [name, node] of map.members) if (!made.members.has(name)) made.members.set(name, node)
  }
}

function isNode(value: unknown): value is Node {
  return isAlias(value) || isScalar(value) || isMap(value) || isSeq(value)
}

/** PyYAML takes `y` and `n` for texts, though YAML 1.1 has them as booleans. Dates and large numbers count as texts. */
function scalarOf({ value, source }: Scalar): { readonly kind: NodeKind; readonly value: unknown } {
  if (typeof value === 'boolean' && source !== undefined && /^[yn]$/i.test(source))
    return { kind: 'string', value: source }
  if (typeof value === 'string') return { kind: 'string', value }
  if (typeof value === 'number') return { kind: 'number', value }
  if (typeof value === 'boolean') return { kind: 'boolean', value }
  return value === null || value === undefined
    ? { kind: 'null', value: null }
    : { kind: 'string', value: String(value) }
}
