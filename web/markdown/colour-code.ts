import type { Highlighter, Run } from './highlighter.ts'

/** Some chunks of a block of code, in colours. */
export interface ColouredPart {
  /** Which chunk comes after it. */
  readonly end: number
  readonly text: string
  readonly runs: readonly Run[]
}

const partCharacters = 4_000
const partCharactersMax = 24_000

/**
 * Colours the chunks from `start`: as few as make one part, and more while the code is in the middle of something that
 * began in them, such as a comment.
 */
export function colourPart(highlight: Highlighter, chunks: readonly string[], start: number): ColouredPart {
  let end = start,
    text = '',
    wanted = partCharacters
  for (;;) {
    while (end < chunks.length && text.length < wanted) {
      text += chunks[end] ?? ''
      end += 1
    }
    const { runs, isInMiddle } = highlight(text)
    if (!isInMiddle || end >= chunks.length || text.length >= partCharactersMax) return { end, text, runs }
    wanted = text.length * 2
  }
}
