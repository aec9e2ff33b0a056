import { say } from '../texts/say.ts'
import type { UserMessage } from './conversation.ts'
import { oneLine } from './one-line.ts'

const longest = 60
const untitled = say.common.newConversation

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Makes formulas readable. Loaded with the first title that may have some. */
let plainFormulas = (text: string): string => text

/** Whether a title may have formulas. */
export function mayHaveFormulas(title: string): boolean {
  return /\$|\\[([]/.test(title)
}

/** Loads what {@link titleFrom} needs for formulas. Without it, they stay TeX. */
export async function loadFormulas(): Promise<void> {
  ;({ plainFormulas } = await import('./plain-formulas.ts'))
}

/** Derives a title from the first message: its start, in one line of at most 60 characters without Markdown and TeX. */
export function titleFrom(message: UserMessage): string {
  const line = oneLine(withoutMarkdown(plainFormulas(message.text.slice(0, 2_000)))).trim()
  if (line !== '') return shortened(line, longest)
  const [first] = [...(message.files ?? []), ...message.images]
  return shortened(oneLine(first?.name ?? '').trim(), longest) || untitled
}

/** Cleans a title that a person chose: one line of at most 200 characters. Empty if nothing is visible. */
export function chosenTitle(text: string): string {
  return shortened(oneLine(text).trim(), 200)
}

/**
 * Removes Markdown. Each step removes one kind of syntax. Signs between blanks or inside words stay: `2 * 3`,
 * `snake_case`.
 */
export function withoutMarkdown(text: string): string {
  return text
    .replace(/^[ \t]*(?:```|~~~).*$/gm, '')
    .replace(/^[ \t]*(?:(?:#{1,6}|>+|[-+*]|\d{1,9}[.)])[ \t]+)+/gm, '')
    .replace(/^[ \t]*(?:[-=*_][ \t]*){3,}$/gm, '')
    .replace(/!?\[([^[\]]*)\]\([^()\s]*(?: "[^"]*")?\)/g, '$1')
    .replace(/`+/g, '')
    .replace(/\*{2,}|__+|~~+/g, '')
    .replace(/(?<!\S)[*_](?=\S)|(?<=\S)[*_](?=[\s.,;:!?)]|$)/gm, '')
}

/** Shortens at a word boundary if possible, and never within a letter. */
export function shortened(line: string, most: number): string {
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
