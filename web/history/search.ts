import type { Conversation, ConversationHead, SearchHit } from './conversation.ts'
import { fold, placeOf } from './fold.ts'
import type { Place } from './fold.ts'
import { oneLine } from './one-line.ts'

/** What is searched of a conversation. */
export interface Searched {
  readonly title: string
  readonly messages: readonly { readonly id: string; readonly text: string }[]
}

/** The words of a query, folded; at most 20 of them count. */
export function wordsOf(query: string): readonly string[] {
  return [
    ...new Set(
      fold(query.slice(0, 1_000))
        .split(/\s+/u)
        .filter((word) => word !== ''),
    ),
  ].slice(0, 20)
}

/**
 * Gives what is searched of the messages of a conversation: every word of them, folded, once. A word that is looked for
 * has no blanks, so it occurs there exactly when it occurs in a message, and there is far less to read. Each message is
 * looked at once.
 */
export function wordFolder(): (conversation: Conversation) => string {
  const known = new WeakMap<object, ReadonlySet<string>>()
  function folded(message: { readonly text: string }): ReadonlySet<string> {
    const words = known.get(message) ?? new Set(fold(message.text).split(/\s+/u))
    known.set(message, words)
    return words
  }
  return ({ messages }) => {
    const all = new Set<string>()
    for (const message of messages) for (const word of folded(message)) all.add(word)
    return [...all].join('\n')
  }
}

/** Whether every word occurs in the title, folded, or in what {@link wordFolder} gives. */
export function hasAll(title: string, text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word) || title.includes(word))
}

/**
 * What is shown of a conversation in which all words were found: the message that has most of those that the title has
 * not.
 */
export function hitIn(head: ConversationHead, { title, messages }: Searched, words: readonly string[]): SearchHit {
  const foldedTitle = fold(title)
  const wanted = words.filter((word) => !foldedTitle.includes(word))
  if (wanted.length === 0) return { head }
  let best: Searched['messages'][number] | undefined,
    most = 0
  for (const message of messages) {
    const text = fold(message.text)
    const count = wanted.filter((word) => text.includes(word)).length
    if (count > most) [best, most] = [message, count]
  }
  const place = best && placeOf(best.text, wanted)
  return best === undefined || place === undefined
    ? { head }
    : { head, excerpt: { ...excerptOf(best.text, place), messageId: best.id } }
}

const before = 40,
  after = 120

function excerptOf(text: string, { start, end }: Place): Place & { readonly text: string } {
  const from = Math.max(0, start - before),
    to = Math.min(text.length, end + after)
  const lead = `${from > 0 ? '…' : ''}${oneLine(fromWord(text.slice(from, start), from > 0)).trimStart()}`
  const match = oneLine(text.slice(start, end))
  const rest = `${oneLine(toWord(text.slice(end, to), to < text.length)).trimEnd()}${to < text.length ? '…' : ''}`
  return { text: lead + match + rest, start: lead.length, end: lead.length + match.length }
}

/** Without what is left of a word that was cut in two. */
function fromWord(text: string, isCut: boolean): string {
  return isCut ? text.replace(/^\S*\s/u, '') : text
}

function toWord(text: string, isCut: boolean): string {
  return isCut ? text.replace(/\s\S*$/u, '') : text
}
