import type { ConversationHead, SearchHit } from './conversation.ts'
import { findWords, type TextRange } from './find-words.ts'
import { fold } from './fold.ts'
import { oneLine } from './one-line.ts'

/** The searched part of a conversation. */
export interface Searched {
  readonly title: string
  readonly messages: readonly { readonly id: string; readonly text: string }[]
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
