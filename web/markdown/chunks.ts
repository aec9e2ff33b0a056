/**
 * Lines that keep coming, in chunks that end with a line: what is full never changes again, so a long block is not
 * shown anew for each line.
 */
export interface Chunks {
  readonly full: readonly string[]
  readonly open: string
}

const chunkCharacters = 2_048
const lineCharactersMax = 8_192

/** No lines. */
export const noLines: Chunks = { full: [], open: '' }

/** The lines with one more, which is given without its end. A very long line is in several chunks. */
export function addLine(chunks: Chunks, line: string): Chunks {
  const open = `${chunks.open}${line}\n`
  if (open.length < chunkCharacters) return { full: chunks.full, open }
  return { full: [...chunks.full, ...cut(open)], open: '' }
}

/** All chunks; joined they are the text, every line with its end. */
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

/** Not between the two halves of a character. */
function endOfCharacter(text: string, offset: number): number {
  return (text.codePointAt(offset - 1) ?? 0) > 0xffff ? offset + 1 : offset
}
