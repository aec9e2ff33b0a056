import { isRecord } from '../base/json-value.ts'

/** Where a value stands: its path in the document, and its offset in the text. */
export interface ValuePlace {
  /** Such as `providers[1].headers["x y"]`. Empty: the whole document. */
  readonly path: string
  /** In characters; 0 for values without a text. */
  readonly offset: number
}

export type NodeKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** A value from outside as shapes see it: of a file with offsets (`config/file/json-tree.ts`), or a parsed value. */
export interface ShapeNode extends ValuePlace {
  readonly kind: NodeKind
  /** Undefined for objects and arrays. */
  readonly value: unknown
  /** The value may be a credential and is never quoted in a fault. */
  readonly isSecret: boolean
  /** The members of an object in their order, repeated ones too. Else none. */
  members(): readonly NodeMember[]
  /** The elements of an array. Else none. */
  elements(): readonly ShapeNode[]
  /** The same value, which is never quoted. */
  asSecret(): ShapeNode
}

export interface NodeMember {
  readonly name: string
  /** The place of the name. */
  readonly at: ValuePlace
  readonly node: ShapeNode
}

/** The first member of this name. */
export function memberNode(node: ShapeNode | undefined, name: string): ShapeNode | undefined {
  return node?.members().find((member) => member.name === name)?.node
}

/** Calls `refuse` for each value that was there before, with the first node that has it. */
export function forRepeats(
  values: Iterable<readonly [value: unknown, node: ShapeNode | undefined]>,
  refuse: (node: ShapeNode, first: ShapeNode) => void,
): void {
  const seen = new Map<unknown, ShapeNode>()
  for (const [value, node] of values) {
    if (node === undefined || value === undefined) continue
    const first = seen.get(value)
    if (first === undefined) seen.set(value, node)
    else refuse(node, first)
  }
}

/** The value of a node, as a parser gives it. */
export function plainValue(node: ShapeNode): unknown {
  if (node.kind === 'array') return node.elements().map(plainValue)
  if (node.kind === 'object')
    return Object.fromEntries(node.members().map(({ name, node: of }) => [name, plainValue(of)]))
  return node.kind === 'null' ? null : node.value
}

/** A value that was parsed already. `undefined` members are absent. */
export function valueNode(value: unknown, path = '', isSecret = false): ShapeNode {
  return {
    path,
    offset: 0,
    kind: kindOf(value),
    value: typeof value === 'object' ? undefined : value,
    isSecret,
    members: () =>
      (isRecord(value) ? Object.entries(value) : []).flatMap(([name, member]) => {
        if (member === undefined) return []
        const node = valueNode(member, joinPath(path, name), isSecret)
        return [{ name, at: node, node }]
      }),
    elements: () =>
      Array.isArray(value) ? value.map((item, index) => valueNode(item, joinPath(path, index), isSecret)) : [],
    asSecret: () => valueNode(value, path, true),
  }
}

function kindOf(value: unknown): NodeKind {
  if (Array.isArray(value)) return 'array'
  if (isRecord(value)) return 'object'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'null'
}

/** Formats a path of keys and indexes, such as `providers[1].headers["x y"]`. */
export function formatPath(segments: readonly (string | number)[]): string {
  return segments.reduce<string>((path, segment) => joinPath(path, segment), '')
}

/** Adds a key or index to a path. Keys with special characters are quoted; keys are cut at 40 characters. */
export function joinPath(path: string, segment: string | number): string {
  if (typeof segment === 'number') return `${path}[${segment}]`
  if (/^[\w$-]{1,40}$/.test(segment)) return path === '' ? segment : `${path}.${segment}`
  const shown = segment.length > 40 ? `${segment.slice(0, 39)}…` : segment
  return `${path}[${JSON.stringify(shown)}]`
}
