/** Lines of a growing block, in chunks of whole lines. A full chunk never changes, so it is rendered once. */
export interface Chunks {
  readonly full: readonly string[]
  readonly open: string
}

const chunkCharacters = 2_048
const lineCharactersMax = 8_192

/** No lines. */
export const noLines: Chunks = { full: [], open: '' }

/** Appends a line, given without its line end. A very long line is split into several chunks. */
export function addLine(chunks: Chunks, line: string): Chunks {
  const open = `${chunks.open}${line}\n`
  if (open.length < chunkCharacters) return { full: chunks.full, open }
  return { full: [...chunks.full, ...cut(open)], open: '' }
}

/** Returns all chunks. Joined, they are the text with a line end after each line. */
export function allChunks(chunks: Chunks): readonly string[] {
  return chunks.open === '' ? chunks.full : [...chunks.full, chunks.open]
}

function cut(text: string): readonly string[] {
  const parts: string[] = []
  for (let start = 0; start < text.length;) {
    const isLast = text.length - start <= lineCharactersMax * 2,
      end = isLast ? text.length : endOfCharacter(text, start + lineCharactersMax)
    parts.push(text.slice(start, end))
    start = end
  }
  return parts
}

/** Moves an offset behind a surrogate pair that it would split. */
function endOfCharacter(text: string, offset: number): number {
  return (text.codePointAt(offset - 1) ?? 0) > 0xffff ? offset + 1 : offset
}
