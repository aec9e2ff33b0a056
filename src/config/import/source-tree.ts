import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { joinPath, type NodeKind, type ShapeNode } from '../../shapes/node.ts'

/** More values are not those of a configuration: aliases of YAML can stand for millions. */
const valuesMax = 100_000

/** A value of a file that is imported. */
export class SourceNode {
  readonly kind: NodeKind
  /** Of a scalar. */
  readonly value: unknown
  readonly path: string
  /** From 1. */
  readonly line: number
  /** The file, if it is another one than that of the root. */
  readonly file: string | undefined
  readonly members = new Map<string, SourceNode>()
  readonly items: SourceNode[] = []

  constructor(given: Pick<SourceNode, 'kind' | 'path' | 'line'> & Partial<Pick<SourceNode, 'value' | 'file'>>) {
    this.kind = given.kind
    this.value = given.value
    this.path = given.path
    this.line = given.line
    this.file = given.file
  }

  get(name: string): SourceNode | undefined {
    return this.members.get(name)
  }

  /** The member at the end of a path of names. */
  at(...names: readonly string[]): SourceNode | undefined {
    return names.reduce<SourceNode | undefined>((node, name) => node?.get(name), this)
  }

  /** A text without surrounding blanks; `undefined` for other values, and for an empty one. */
  get text(): string | undefined {
    return typeof this.value === 'string' && this.value.trim() !== '' ? this.value.trim() : undefined
  }

  /** A finite number, also in a text. */
  get number(): number | undefined {
    const number = typeof this.value === 'string' && this.text !== undefined ? Number(this.value) : this.value
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined
  }

  /** The value as a parser gives it. */
  get plain(): unknown {
    if (this.kind === 'array') return this.items.map((item) => item.plain)
    return this.kind === 'object' ? this.plainMembers : this.value
  }

  get plainMembers(): JsonObject {
    return Object.fromEntries(Array.from(this.members, ([name, node]) => [name, node.plain]))
  }

  /** The scalars and empty containers in the order of the file. */
  *leaves(): Generator<SourceNode> {
    const inner = this.kind === 'object' ? [...this.members.values()] : this.items
    if (inner.length === 0) yield this
    for (const node of inner) yield* node.leaves()
  }
}

/** Counts the values of a tree while it is made. */
export class ValueCount {
  #count = 0

  /** @returns false when there are too many */
  add(): boolean {
    this.#count += 1
    return this.#count <= valuesMax
  }
}

/** A tree of JSON. @param lineOf line of an offset @param refuse is called for a name that is there twice */
export function sourceTree(
  node: ShapeNode,
  lineOf: (offset: number) => number,
  refuse: (at: ShapeNode, name: string) => void,
): SourceNode {
  const made = new SourceNode({ kind: node.kind, value: node.value, path: node.path, line: lineOf(node.offset) })
  for (const { name, node: member } of node.members()) {
    if (made.members.has(name)) refuse(member, name)
    made.members.set(name, sourceTree(member, lineOf, refuse))
  }
  made.items.push(...node.elements().map((item) => sourceTree(item, lineOf, refuse)))
  return made
}

/** A tree of a value that stands in a text at a node, such as JSON in a string. All of it is on the node's line. */
export function innerTree(
  { path, line, file }: Pick<SourceNode, 'path' | 'line' | 'file'>,
  value: unknown,
): SourceNode {
  const kind = Array.isArray(value) ? 'array' : isRecord(value) ? 'object' : kindOf(value)
  const made = new SourceNode({ kind, value: typeof value === 'object' ? null : value, path, line, file })
  if (Array.isArray(value))
    made.items.push(...value.map((item, index) => innerTree({ path: joinPath(path, index), line, file }, item)))
  else if (isRecord(value))
    for (const [name, member] of Object.entries(value))
      made.members.set(name, innerTree({ path: joinPath(path, name), line, file }, member))
  return made
}

function kindOf(value: unknown): NodeKind {
  return typeof value === 'string'
    ? 'string'
    : typeof value === 'number'
      ? 'number'
      : typeof value === 'boolean'
        ? 'boolean'
        : 'null'
}
