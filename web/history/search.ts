import type { Conversation } from './conversation.ts'
import { fold } from './fold.ts'

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
