import type { Node } from 'jsonc-parser'

/** The text of one item of an array, which moves as a whole. */
export interface Piece {
  /** The comments above it. */
  readonly before: string
  readonly body: string
  /** The comment after it on its line. */
  readonly behind: string
}

/** Everything between the brackets of an array. */
interface CutArray {
  readonly pieces: readonly Piece[]
  /** The line breaks and indentation before each index; they do not move. */
  readonly blanks: readonly string[]
  readonly hasLastComma: boolean
  readonly rest: string
}

/**
 * Reorders, removes and adds items of an array. Comments move with their item; comments after the last item stay at the
 * end.
 *
 * @param array a node of the tree of `text`, with at least one item
 * @param eol line break for added lines
 */
export function rearrange(
  text: string,
  array: Node,
  eol: string,
  change: (pieces: readonly Piece[]) => readonly Piece[],
): string {
  const start = array.offset + 1
  const end = array.offset + array.length - 1
  const { pieces, blanks, hasLastComma, rest } = cutPieces(text, array.children ?? [], start, end)
  const changed = change(pieces)
  // Additional items are indented like the last one; a blank divides them from a single one without indentation.
  const [first = '', ...others] = blanks
  const further = others.at(-1) ?? (first === '' ? ' ' : first)
  const blankOf = (index: number): string => blanks[index] ?? further
  const joined = changed.map(({ before, body, behind }, index) => {
    const isLast = index === changed.length - 1
    const next = isLast ? rest : blankOf(index + 1)
    const lineEnd = behind.includes('//') && !/^[\n\r]/.test(next) ? eol : ''
    return `${blankOf(index)}${before}${body}${isLast && !hasLastComma ? '' : ','}${behind}${lineEnd}`
  })
  return text.slice(0, start) + joined.join('') + rest + text.slice(end)
}

const commentsAndBlanks = /((?:\s|\/\/[^\n\r]*(?=[\n\r]|$)|\/\*[\s\S]*?\*\/)*?)/.source
const commentsToLineEnd =
  /((?:[ \t]*\/\*[^\n\r]*?\*\/)*[ \t]*\/\/[^\n\r]*|(?:[ \t]*\/\*[^\n\r]*?\*\/)+(?=[ \t]*[\n\r]))?/.source

/** A gap between items: comments and blanks up to the comma, the comma, and comments after it up to the line's end. */
const gapWithComma = new RegExp(`^${commentsAndBlanks}(,)${commentsToLineEnd}`)

/** The gap after a last item without comma: comments up to the line's end. */
const gapWithoutComma = new RegExp(`^()()${commentsToLineEnd}`)

function cutPieces(text: string, items: readonly Node[], start: number, end: number): CutArray {
  const pieces: Piece[] = []
  const blanks: string[] = []
  let position = start
  let hasLastComma = false
  for (const [index, item] of items.entries()) {
    const bodyEnd = item.offset + item.length
    const gap = text.slice(bodyEnd, items[index + 1]?.offset ?? end)
    const [taken = '', early = '', comma = '', late = ''] = gapWithComma.exec(gap) ?? gapWithoutComma.exec(gap) ?? []
    const before = text.slice(position, item.offset)
    const blank = /^\s*/.exec(before)?.[0] ?? ''
    hasLastComma = comma !== ''
    blanks.push(blank)
    pieces.push({ before: before.slice(blank.length), body: text.slice(item.offset, bodyEnd) + early, behind: late })
    position = bodyEnd + taken.length
  }
  return { pieces, blanks, hasLastComma, rest: text.slice(position, end) }
}
