/** A part of a text that is read for itself. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** An image whose bytes are in the text. `source` is undefined while they are arriving. */
  | { readonly kind: 'image'; readonly alternative: string; readonly source: string | undefined }

// What the inline lexer takes grows faster than its input, with the number of marks above all: see `pieces.test.ts`. So it never gets much at once.
const markCost = 20
const sentenceCost = 2_000
const wordCost = 3_000
const costMax = 4_000
const marks = new Set('*_~`[]<>!\\&@('.split('').map((mark) => mark.charCodeAt(0)))

/** The text in pieces, each small enough to be read quickly. What is before a cut does not depend on what comes after it, so pieces stay while a text grows. */
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

interface FoundImage {
  readonly start: number
  readonly end: number
  readonly alternative: string
  readonly source: string | undefined
}

/** Images with their bytes in base64. They are found before anything else, since they are far longer than a piece. */
function* imagesIn(text: string): Generator<FoundImage> {
  for (let at = text.indexOf('](data:image/'); at !== -1; at = text.indexOf('](data:image/', at + 1)) {
    const opening = text.lastIndexOf('![', at), alternative = text.slice(opening + 2, at)
    if (opening === -1 || alternative.length > 1_000 || /[[\]`\n]/.test(alternative)) continue
    const source = /data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]*/y
    source.lastIndex = at + 2
    const match = source.exec(text)
    if (match === null) continue
    const end = source.lastIndex
    if (text[end] === ')') yield { start: opening, end: end + 1, alternative, source: match[0] }
    else if (end === text.length) yield { start: opening, end, alternative, source: undefined }
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
  let cost = 0
  for (let offset = from; offset < end; offset += 1) {
    const code = text.charCodeAt(offset)
    cost += marks.has(code) ? markCost : 1
    if (cost < sentenceCost) continue
    const isSpace = code === 32 || code === 10
    if (isSpace && (cost >= wordCost || code === 10 || '.!?'.includes(text[offset - 1] ?? ' '))) return offset + 1
    if (cost >= costMax && !isHighSurrogate(code)) return offset + 1
  }
  return end
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}
