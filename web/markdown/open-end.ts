import { noParsedLines, readLine } from './read-line.ts'

/** Marks of this page alone, each with text that has no meaning for blocks. */
const ofThisPage: readonly (readonly [RegExp, string])[] = [
  [/\r\n?/g, '\n'],
  [/\$\$|\\[[\]]|\[\^|\||:-|-:/g, 'xx'],
  [/<(\/?)(?:details|summary)/gi, '<$1section'],
]

/**
 * Returns the line that ends a block of code or raw HTML which is still open at the end of a text, for a reader of
 * CommonMark 0.31. Blocks within a list or a quotation end with it.
 */
export function openEnd(text: string): string | undefined {
  const plain = ofThisPage.reduce((written, [mark, instead]) => written.replace(mark, instead), text)
  const frame = plain.split('\n').reduce(readLine, noParsedLines).frames[1]
  if (frame?.kind === 'fence') return frame.fence.character.repeat(frame.fence.length)
  return frame?.kind === 'html' && frame.end !== 'blank line' ? frame.end : undefined
}
