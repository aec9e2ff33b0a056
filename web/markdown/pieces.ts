/** A piece of inline text, parsed independently. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** An image as a data URL. `source` is undefined while it is incomplete. */
  | { readonly kind: 'image'; readonly alternative: string; readonly source: string | undefined }

// A piece is parsed and rendered again for each word added to it, so its length is bounded. Marks such as `**` match
// only within a piece.
const sentencesLength = 8_000
const wordsLength = 12_000
const lengthMax = 16_000
const alternativeMax = 1_000
const partLength = 16_000
const imageLength = 2_000

/**
 * Splits text into pieces. A cut depends only on the text before it, so earlier pieces stay equal as the text grows.
 */
export function splitPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let start = 0
  for (const image of imagesIn(text)) {
    addText(pieces, text, start, image.start)
    pieces.push({ kind: 'image', alternative: image.alternative, source: image.source })
    start = image.end
  }
  addText(pieces, text, start, text.length)
  return pieces
}

/**
 * Groups pieces into parts with separate layout, so the browser lays out only the last part of a very long text again
 * as it grows.
 */
export function groupPieces(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const parts: Piece[][] = []
  let length = partLength
  for (const piece of pieces) {
    if (length >= partLength) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(piece)
    length += piece.kind === 'text' ? piece.text.length : imageLength
  }
  return parts
}

interface FoundImage {
  readonly start: number
  readonly end: number
  readonly alternative: string
  readonly source: string | undefined
}

/** Finds images as base64 data URLs. Done first, since they are far longer than a piece. */
function* imagesIn(text: string): Generator<FoundImage> {
  for (let at = text.indexOf('](data:image/'); at !== -1; at = text.indexOf('](data:image/', at + 1)) {
    const before = text.slice(Math.max(0, at - alternativeMax), at),
      opening = before.lastIndexOf('![')
    const alternative = before.slice(opening + 2),
      start = at - alternative.length - 2
    if (opening === -1 || /[[\]`\n]/.test(alternative)) continue
    const source = /data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]*/y
    source.lastIndex = at + 2
    const match = source.exec(text)
    if (match === null) continue
    const end = source.lastIndex
    if (text[end] === ')') yield { start, end: end + 1, alternative, source: match[0] }
    else if (end === text.length) yield { start, end, alternative, source: undefined }
  }
}

function addText(pieces: Piece[], text: string, start: number, end: number): void {
  let from = start
  while (from < end) {
    const cut = findCut(text, from, end)
    pieces.push({ kind: 'text', text: text.slice(from, cut) })
    from = cut
  }
}

/**
 * Finds the end of the piece that begins at `from`: after a sentence, else after a word, else at the maximum length.
 */
function findCut(text: string, from: number, end: number): number {
  for (let offset = from + sentencesLength; offset < Math.min(end, from + lengthMax); offset += 1) {
    const character = text.charAt(offset),
      isAfterSentence = character === '\n' || '.!?'.includes(text.charAt(offset - 1))
    if ((character === ' ' || character === '\n') && (isAfterSentence || offset >= from + wordsLength))
      return offset + 1
  }
  if (end <= from + lengthMax) return end
  return from + lengthMax - (isHighSurrogate(text.charCodeAt(from + lengthMax - 1)) ? 1 : 0)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}
