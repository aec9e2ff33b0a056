/** A part of a text that is read for itself. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** An image whose bytes are in the text. `source` is undefined while they are arriving. */
  | { readonly kind: 'image'; readonly alternative: string; readonly source: string | undefined }

// A piece is read and shown anew with every word that arrives in it, so it is bounded; within the bound, marks such as `**` find each other.
const sentencesLength = 8_000
const wordsLength = 12_000
const lengthMax = 16_000
const alternativeMax = 1_000
const partLength = 16_000
const imageLength = 2_000

/**
 * The text in pieces, each small enough to be read quickly. What is before a cut does not depend on what comes after
 * it, so pieces stay while a text grows.
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
 * The pieces in parts. Each is laid out for itself, so that a browser lays out only the last part of a very long text
 * anew while it grows.
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

/** Images with their bytes in base64. They are found before anything else, since they are far longer than a piece. */
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

/** Where the piece that begins at `from` ends: if it is long, after a sentence, or after a word, or where it must. */
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
