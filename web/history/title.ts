import type { UserMessage } from './conversation.ts'
import { oneLine } from './one-line.ts'

const longest = 60
const untitled = 'New conversation'

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/**
 * What a conversation is called until a person chooses: the beginning of its first message, in one line of at most 60
 * characters without the signs of Markdown.
 */
export function titleFrom(message: UserMessage): string {
  const line = oneLine(withoutMarkdown(message.text.slice(0, 2_000))).trim()
  if (line !== '') return shortened(line, longest)
  return shortened(oneLine(message.images[0]?.name ?? '').trim(), longest) || untitled
}

/** A title that a person chose, as it is kept: one line of at most 200 characters; empty when there is nothing to see. */
export function chosenTitle(text: string): string {
  return shortened(oneLine(text).trim(), 200)
}

/** Each step takes one kind of sign away. Signs between blanks, or inside words, are no Markdown: `2 * 3`, `snake_case`. */
function withoutMarkdown(text: string): string {
  return text
    .replace(/^[ \t]*(?:```|~~~).*$/gm, '')
    .replace(/^[ \t]*(?:(?:#{1,6}|>+|[-+*]|\d{1,9}[.)])[ \t]+)+/gm, '')
    .replace(/^[ \t]*(?:[-=*_][ \t]*){3,}$/gm, '')
    .replace(/!?\[([^[\]]*)\]\([^()\s]*(?: "[^"]*")?\)/g, '$1')
    .replace(/`+/g, '')
    .replace(/\*{2,}|__+|~~+/g, '')
    .replace(/(?<!\S)[*_](?=\S)|(?<=\S)[*_](?=[\s.,;:!?)]|$)/gm, '')
}

/** Cut between letters, and where possible between words. */
function shortened(line: string, most: number): string {
  if (line.length <= most) return line
  let cut = ''
  for (const { segment } of letters.segment(line.slice(0, most * 2))) {
    if (cut.length + segment.length > most - 1) break
    cut += segment
  }
  const word = cut.lastIndexOf(' ')
  const isWithinWord = line[cut.length] !== ' '
  return `${(isWithinWord && word > most / 2 ? cut.slice(0, word) : cut).trimEnd()}…`
}
