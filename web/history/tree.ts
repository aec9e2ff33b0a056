import type { Conversation, Message } from './conversation.ts'
import { newestAfter } from './newest-after.ts'

/**
 * The messages of a conversation as a tree. Messages with the same parent are versions of each other, in the order of
 * their creation. The leaf selects the branch that is shown, and no message comes after it, so every message is shown
 * by some choice of versions. A conversation without a leaf has no versions: its messages are one branch.
 */
export type Tree = Pick<Conversation, 'messages' | 'leaf'>

/** Position of a message among its versions, from 1. */
export interface VersionPlace {
  readonly version: number
  readonly count: number
}

/** Returns the messages of the shown branch. */
export function branchOf({ messages, leaf }: Tree): readonly Message[] {
  if (leaf === undefined) return messages
  const branch: Message[] = []
  let wanted: string | undefined = leaf
  // Parents come before their children.
  for (let at = messages.length - 1; at >= 0 && wanted !== undefined; at--) {
    const message = messages[at]
    if (message?.id !== wanted) continue
    branch.push(message)
    wanted = message.parent
  }
  return branch.toReversed()
}

/** Returns the last message of the shown branch. */
export function leafOf({ messages, leaf }: Tree): Message | undefined {
  return leaf === undefined ? messages.at(-1) : messages.findLast(({ id }) => id === leaf)
}

/** Returns all versions of a message, itself included; empty if it is missing. */
export function versionsOf({ messages, leaf }: Tree, id: string): readonly Message[] {
  const message = messages.find((each) => each.id === id)
  if (message === undefined) return []
  return leaf === undefined ? [message] : messages.filter(({ parent }) => parent === message.parent)
}

/** Returns the places of all messages that have other versions. */
export function versionPlaces({ messages, leaf }: Tree): ReadonlyMap<string, VersionPlace> {
  if (leaf === undefined) return noPlaces
  const counts = new Map<string | undefined, number>()
  const numbered = messages.map(({ id, parent }) => {
    const version = (counts.get(parent) ?? 0) + 1
    counts.set(parent, version)
    return { id, parent, version }
  })
  return new Map(
    numbered.flatMap(({ id, parent, version }) => {
      const count = counts.get(parent) ?? 1
      return count === 1 ? [] : [[id, { version, count }] as const]
    }),
  )
}

const noPlaces: ReadonlyMap<string, VersionPlace> = new Map()

/** Adds messages in a row after `parent`, as a new version of what follows it, and shows them. */
export function withAdded(tree: Tree, parent: string | undefined, added: readonly Message[]): Tree {
  if (tree.leaf === undefined && tree.messages.at(-1)?.id === parent)
    return { messages: [...tree.messages, ...added], leaf: undefined }
  const linked = added.map((message, index) => ({ ...message, parent: added[index - 1]?.id ?? parent }))
  return { messages: [...withParents(tree), ...linked], leaf: linked.at(-1)?.id ?? tree.leaf }
}

/** Shows the branch of a message, to its newest end. */
export function withShown(tree: Tree, id: string): Tree {
  return tree.leaf === undefined ? tree : { messages: tree.messages, leaf: newestAfter(tree.messages, id) }
}

/**
 * Removes a message. Messages after it stay, after its parent. If it was the last one of the shown branch, the version
 * before it is shown, or else the next one.
 */
export function withoutMessage(tree: Tree, id: string): Tree {
  const gone = tree.messages.find((message) => message.id === id)
  if (gone === undefined) return tree
  if (tree.leaf === undefined) return { messages: tree.messages.filter((message) => message !== gone), leaf: undefined }
  const versions = versionsOf(tree, id)
  const at = versions.indexOf(gone)
  const messages = tree.messages
    .filter((message) => message !== gone)
    .map((message) => (message.parent === id ? { ...message, parent: gone.parent } : message))
  if (tree.leaf !== id) return { messages, leaf: tree.leaf }
  const next = versions[at - 1] ?? versions[at + 1]
  return { messages, leaf: next === undefined ? gone.parent : newestAfter(messages, next.id) }
}

/** Merges another state of a tree into this one, except the message `kept`. Shows what follows the shown branch. */
export function merged(tree: Tree, other: Tree, kept: string): Tree {
  const others = new Map(withParents(other).map((message) => [message.id, message]))
  const known = new Set(tree.messages.map(({ id }) => id))
  const added = [...others.values()].filter(({ id }) => !known.has(id))
  const leaf = leafOf(tree)?.id
  if (tree.leaf === undefined && other.leaf === undefined && added.length === 0) return tree
  const messages = [
    ...withParents(tree).map((message) =>
      message.id === kept ? message : { ...(others.get(message.id) ?? message), parent: message.parent },
    ),
    ...added,
  ]
  return { messages, leaf: leaf && newestAfter(messages, leaf) }
}

/** Returns the messages with their parents, also those of a single branch. */
export function withParents({ messages, leaf }: Tree): readonly Message[] {
  if (leaf !== undefined) return messages
  return messages.map((message, index) => ({ ...message, parent: messages[index - 1]?.id }))
}
