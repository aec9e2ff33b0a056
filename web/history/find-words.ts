import { fold } from './fold.ts'

/** A range of a text. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/**
 * Finds the first of some words in a text. The words are folded and contain no blanks; the range is of the original
 * text.
 */
export function findWords(text: string, words: readonly string[]): TextRange | undefined {
  let lineStart = 0
  for (const line of text.split('\n')) {
    const folded = fold(line)
    if (words.some((word) => folded.includes(word))) return shifted(findInLine(line, words), lineStart)
    lineStart += line.length + 1
  }
  return undefined
}

function shifted(place: TextRange | undefined, by: number): TextRange | undefined {
  return place && { start: place.start + by, end: place.end + by }
}

/** Folds letter by letter, and keeps the original offsets. Extends the range to whole letters with their marks. */
function findInLine(line: string, words: readonly string[]): TextRange | undefined {
  const starts: number[] = [],
    ends: number[] = []
  let folded = '',
    at = 0
  for (const letter of line) {
    const part = fold(letter)
    for (let index = 0; index < part.length; index++) {
      starts.push(at)
      ends.push(at + letter.length)
    }
    folded += part
    at += letter.length
  }
  const found = words
    .map((word) => ({ from: folded.indexOf(word), to: folded.indexOf(word) + word.length }))
    .filter(({ from }) => from >= 0)
  const first = found.toSorted((one, other) => one.from - other.from || other.to - one.to)[0]
  return first && { start: starts[first.from] ?? 0, end: Math.max(ends[first.to - 1] ?? at, starts[first.to] ?? at) }
}
