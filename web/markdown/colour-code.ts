import type { Highlighter, ColouredRun } from './highlighter.ts'

/** Consecutive chunks of a code block, with colours. */
export interface ColouredPart {
  /** Index of the next chunk. */
  readonly end: number
  readonly text: string
  readonly runs: readonly ColouredRun[]
}

const partCharacters = 4_000
const partCharactersMax = 24_000

/**
 * Colours the chunks from `start`. Takes the fewest chunks that fill a part, and more while a construct such as a
 * comment is still open.
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
    const { runs, isIncomplete } = highlight(text)
    if (!isIncomplete || end >= chunks.length || text.length >= partCharactersMax) return { end, text, runs }
    wanted = text.length * 2
  }
}
