const letters: ReadonlyMap<string, string> = new Map([
  ['ς', 'σ'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ħ', 'h'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['þ', 'th'],
  ['ð', 'd'],
])

/**
 * A text as search compares it: without case, accents and other dress, so that `Straße` is `STRASSE` and `Ångström` is
 * `angstrom`.
 */
export function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/[ςøłđħæœþð]/g, (letter) => letters.get(letter) ?? letter)
}

/** Where something lies in a text. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** Where the first of some words, folded as by {@link fold} and without blanks, lies in a text as it is written. */
export function placeOf(text: string, words: readonly string[]): Place | undefined {
  let lineStart = 0
  for (const line of text.split('\n')) {
    const folded = fold(line)
    if (words.some((word) => folded.includes(word))) return shifted(placeInLine(line, words), lineStart)
    lineStart += line.length + 1
  }
  return undefined
}

function shifted(place: Place | undefined, by: number): Place | undefined {
  return place && { start: place.start + by, end: place.end + by }
}

/**
 * Folds letter by letter, and remembers where each comes from. A letter that is found in part counts, and so do the
 * marks behind it.
 */
function placeInLine(line: string, words: readonly string[]): Place | undefined {
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
