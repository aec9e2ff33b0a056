import { decodeEntities } from './entities.ts'

/** Decodes backslash escapes and character references (CommonMark 0.31, sections 2.4 and 2.5). */
export function unescapeText(text: string): string {
  return text
    .split(/(\\[!-/:-@[-`{-~])/)
    .map((part, index) => (index % 2 === 1 ? part.charAt(1) : decodeEntities(part)))
    .join('')
}
