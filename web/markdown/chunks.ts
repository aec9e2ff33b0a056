/** Lines that keep coming, in chunks that end with a line: what is full never changes again, so a long block is not shown anew for each line. */
export interface Chunks {
  readonly full: readonly string[]
  readonly open: string
}

const chunkCharacters = 2048

/** No lines. */
export const noLines: Chunks = { full: [], open: '' }

/** The lines with one more, which is given without its end. */
export function addLine(chunks: Chunks, line: string): Chunks {
  const open = `${chunks.open}${line}\n`
  return open.length < chunkCharacters ? { full: chunks.full, open } : { full: [...chunks.full, open], open: '' }
}

/** All chunks; joined they are the text, every line with its end. */
export function allChunks(chunks: Chunks): readonly string[] {
  return chunks.open === '' ? chunks.full : [...chunks.full, chunks.open]
}
