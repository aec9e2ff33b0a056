import { isRecord } from '../../../src/base/json-value.ts'
import type { AssistantMessage, Conversation, Message } from '../conversation.ts'
import { newestAfter } from '../newest-after.ts'

/** What two sides of a conversation had when they were last equal. */
export interface Common {
  /** Ids of all messages. */
  readonly messages: readonly string[]
  /** Members besides messages, such as the title: name → JSON. */
  readonly members: Readonly<Record<string, string>>
}

/** Members that are merged by rules of their own. */
const special = new Set(['id', 'created', 'updated', 'messages', 'leaf'])

/** Returns what both sides of a conversation have now. */
export function commonOf(conversation: Conversation): Common {
  return { messages: conversation.messages.map(({ id }) => id), members: membersOf(conversation) }
}

/** Parses stored data. */
export function parseCommon(value: unknown): Common | undefined {
  if (!isRecord(value) || !Array.isArray(value['messages']) || !isRecord(value['members'])) return undefined
  const members = Object.entries(value['members']).filter(
    (each): each is [string, string] => typeof each[1] === 'string',
  )
  return {
    messages: value['messages'].filter((id): id is string => typeof id === 'string'),
    members: Object.fromEntries(members),
  }
}

/**
 * Merges two states of a conversation. A message that one side added is kept; one that one side removed, and the other
 * had before, is removed. Of an answer that both have, the longer one is kept. Other members are those of the side that
 * changed them; of both, those of `mine`.
 *
 * @param common absent: nothing is known, so nothing is removed
 */
export function mergeConversations(mine: Conversation, other: Conversation, common: Common | undefined): Conversation {
  const messages = mergeMessages(mine, other, new Set(common?.messages))
  const shown = shownLeaf(mine, other, messages)
  const whole: Conversation = {
    ...mergeMembers(mine, other, common?.members ?? {}),
    id: mine.id,
    created: Math.min(mine.created, other.created),
    updated: Math.max(mine.updated, other.updated),
    messages,
    leaf: shown,
  }
  return isInRow(messages) ? { ...whole, messages: messages.map(withoutParent), leaf: undefined } : whole
}

/** Whether two states have the same content. */
export function isSame(one: Conversation, other: Conversation): boolean {
  return JSON.stringify(inForm(one)) === JSON.stringify(inForm(other))
}

/** The same members in the same order. */
function inForm(conversation: Conversation): unknown {
  return sorted({ ...conversation, messages: linked(conversation), leaf: leafIdOf(conversation) })
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  return Object.fromEntries(names.toSorted().map((name) => [name, sorted(value[name])]))
}

function membersOf(conversation: Conversation): Readonly<Record<string, string>> {
  const members = Object.entries(conversation).filter(([name, value]) => !special.has(name) && value !== undefined)
  return Object.fromEntries(members.map(([name, value]) => [name, JSON.stringify(sorted(value))]))
}

/** The members of `other` that it changed and `mine` did not. */
function mergeMembers(mine: Conversation, other: Conversation, common: Readonly<Record<string, string>>): Conversation {
  const [ours, theirs] = [membersOf(mine), membersOf(other)]
  const taken = new Set(Object.keys({ ...ours, ...theirs }).filter((name) => ours[name] === common[name]))
  const kept = Object.fromEntries([...taken].map((name) => [name, undefined]))
  const added = Object.fromEntries(Object.entries(other).filter(([name]) => taken.has(name)))
  const { title, isTitled } = withTitle(mine, other, ours['title'] === common['title'])
  return { ...mine, ...kept, ...added, title, isTitled }
}

/** A title that a person chose goes before one that is derived from messages. */
function withTitle(mine: Conversation, other: Conversation, isUnchanged: boolean): Conversation {
  if (mine.isTitled !== other.isTitled) return mine.isTitled ? mine : other
  return isUnchanged ? other : mine
}

function mergeMessages(mine: Conversation, other: Conversation, before: ReadonlySet<string>): readonly Message[] {
  const [ours, theirs] = [linked(mine), linked(other)]
  const [ourIds, theirIds] = [idsOf(ours), idsOf(theirs)]
  // The parents of `other` count where both know a message: then no circle can arise.
  const all = new Map([...ours, ...theirs].map((message) => [message.id, message]))
  const own = new Map(ours.map((message) => [message.id, message]))
  const isRemoved = (id: string): boolean => before.has(id) && !(ourIds.has(id) && theirIds.has(id))

  function keptParent(message: Message): string | undefined {
    let parent = message.parent
    while (parent !== undefined && isRemoved(parent)) parent = all.get(parent)?.parent
    return parent
  }

  const kept = [...all.values()]
    .filter(({ id }) => !isRemoved(id))
    .map((message) => {
      const parent = keptParent(message)
      const mineToo = own.get(message.id)
      const chosen = theirIds.has(message.id) && mineToo !== undefined ? better(mineToo, message) : message
      return { ...chosen, parent }
    })
  return parentsFirst(kept, [...theirs, ...ours])
}

/** Orders messages as they were, each after its parent. */
function parentsFirst(kept: readonly Message[], order: readonly Message[]): readonly Message[] {
  const left = new Map(kept.map((message) => [message.id, message]))
  const placed: Message[] = []
  const ids = [...idsOf(order)]
  function place(id: string): void {
    const line: Message[] = []
    for (let next = left.get(id); next !== undefined; next = next.parent === undefined ? next : left.get(next.parent)) {
      if (!left.delete(next.id)) break
      line.push(next)
    }
    placed.push(...line.toReversed())
  }
  // Only the order of messages with one parent has a meaning: by the time of their creation on both sides.
  const times = new Map(kept.map(({ id, time }) => [id, time]))
  const positions = new Map(ids.map((id, index) => [id, index]))
  for (const id of ids.toSorted(
    (one, another) =>
      (times.get(one) ?? 0) - (times.get(another) ?? 0) || (positions.get(one) ?? 0) - (positions.get(another) ?? 0),
  ))
    place(id)
  return placed
}

const ranks: readonly AssistantMessage['status'][] = ['streaming', 'interrupted', 'failed', 'stopped', 'complete']

/** Questions never change. The longer answer is the later state of it. */
function better(one: Message, other: Message): Message {
  if (one.role === 'user' || other.role === 'user') return other
  const difference =
    lengthOf(one) - lengthOf(other) ||
    ranks.indexOf(one.status) - ranks.indexOf(other.status) ||
    JSON.stringify(one).length - JSON.stringify(other).length
  return difference > 0 ? one : other
}

function lengthOf({ text, reasoning }: AssistantMessage): number {
  return text.length + reasoning.length
}

/** The end of the branch that `mine` shows, or else `other`. */
function shownLeaf(mine: Conversation, other: Conversation, messages: readonly Message[]): string | undefined {
  const kept = idsOf(messages)
  for (const side of [mine, other]) {
    const all = new Map(linked(side).map((message) => [message.id, message]))
    let at = leafIdOf(side)
    while (at !== undefined && !kept.has(at)) at = all.get(at)?.parent
    if (at !== undefined) return newestAfter(messages, at)
  }
  const [first] = messages
  return first === undefined ? undefined : newestAfter(messages, first.id)
}

/** Whether each message follows the one before, so that there are no versions. */
function isInRow(messages: readonly Message[]): boolean {
  return messages.every(({ parent }, index) => parent === messages[index - 1]?.id)
}

function withoutParent({ parent: _, ...message }: Message): Message {
  return message
}

/** As `withParents` of tree.ts, which belongs to the chat: an import of it would divide the scripts of the page. */
function linked({ messages, leaf }: Conversation): readonly Message[] {
  return leaf === undefined
    ? messages.map((message, index) => ({ ...message, parent: messages[index - 1]?.id }))
    : messages
}

function leafIdOf({ messages, leaf }: Conversation): string | undefined {
  return leaf ?? messages.at(-1)?.id
}

function idsOf(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.map(({ id }) => id))
}
