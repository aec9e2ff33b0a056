import { decodeEntities } from './entities.ts'

/** The text with its escapes and references replaced by what they stand for (CommonMark 0.31, sections 2.4 and 2.5). */
export function unescapeText(text: string): string {
  return text
    .split(/(\\[!-/:-@[-`{-~])/)
    .map((part, index) => (index % 2 === 1 ? part.charAt(1) : decodeEntities(part)))
    .join('')
}
