import { memo, type ReactNode } from 'react'
import { showBidiControls } from './bidi.ts'

/** Lines in chunks. `isLong`: chunks far from what is seen are neither laid out nor painted; their lines must not wrap. */
export function CodeLines({
  chunks,
  isLong = false,
}: {
  readonly chunks: readonly string[]
  readonly isLong?: boolean
}): ReactNode {
  return chunks.map((chunk, index) => <CodeChunk key={index} text={chunk} isLong={isLong} />)
}

const CodeChunk = memo(function CodeChunk({
  text,
  isLong,
}: {
  readonly text: string
  readonly isLong: boolean
}): ReactNode {
  return (
    <ChunkBox text={text} isLong={isLong}>
      {showBidiControls(text)}
    </ChunkBox>
  )
})

/** The box of a chunk. Its size is known without laying it out, since lines are not wrapped. */
export function ChunkBox({
  text,
  isLong,
  children,
}: {
  readonly text: string
  readonly isLong: boolean
  readonly children: ReactNode
}): ReactNode {
  if (!isLong) return <span className="block">{children}</span>
  return (
    <span className="block [content-visibility:auto]" style={{ containIntrinsicSize: sizeOf(text) }}>
      {children}
    </span>
  )
}

function sizeOf(text: string): string {
  let lines = 0,
    longest = 0,
    start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    lines += 1
    longest = Math.max(longest, end - start)
    start = end + 1
  }
  return `${Math.max(longest, text.length - start)}ch ${Math.max(lines, 1)}lh`
}
