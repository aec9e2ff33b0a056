import type { Conversation, ConversationHead, SearchHit } from './conversation.ts'
import { fold, findWords, type TextRange } from './fold.ts'
import { oneLine } from './one-line.ts'

/** The searched part of a conversation. */
export interface Searched {
  readonly title: string
  readonly messages: readonly { readonly id: string; readonly text: string }[]
}

/** Splits and folds a query; at most 20 words. */
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
 * Creates a function that returns the distinct folded words of a conversation's messages. A searched word has no
 * blanks, so it occurs there exactly if it occurs in a message. Results per message are cached.
 */
export function wordFolder(): (conversation: Conversation) => string {
  const cached = new WeakMap<object, ReadonlySet<string>>()
  function folded(message: { readonly text: string }): ReadonlySet<string> {
    const words = cached.get(message) ?? new Set(fold(message.text).split(/\s+/u))
    cached.set(message, words)
    return words
  }
  return ({ messages }) => {
    const all = new Set<string>()
    for (const message of messages) for (const word of folded(message)) all.add(word)
    return [...all].join('\n')
  }
}

/** Whether every word occurs in the folded title, or in the words from {@link wordFolder}. */
export function hasAll(title: string, text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word) || title.includes(word))
}

/**
 * Creates the hit for a conversation that matches. The excerpt is of the message with most of the words missing in the
 * title.
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
  const place = best && findWords(best.text, wanted)
  return best === undefined || place === undefined
    ? { head }
    : { head, excerpt: { ...excerptOf(best.text, place), messageId: best.id } }
}

const before = 40,
  after = 120

function excerptOf(text: string, { start, end }: TextRange): TextRange & { readonly text: string } {
  const from = Math.max(0, start - before),
    to = Math.min(text.length, end + after)
  const lead = `${from > 0 ? '…' : ''}${oneLine(fromWord(text.slice(from, start), from > 0)).trimStart()}`
  const match = oneLine(text.slice(start, end))
  const rest = `${oneLine(toWord(text.slice(end, to), to < text.length)).trimEnd()}${to < text.length ? '…' : ''}`
  return { text: lead + match + rest, start: lead.length, end: lead.length + match.length }
}

/** Removes the rest of a word that was cut. */
function fromWord(text: string, isCut: boolean): string {
  return isCut ? text.replace(/^\S*\s/u, '') : text
}

function toWord(text: string, isCut: boolean): string {
  return isCut ? text.replace(/\s\S*$/u, '') : text
}
