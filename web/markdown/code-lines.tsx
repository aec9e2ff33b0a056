import { memo, type ReactNode } from 'react'
import { showBidiControls } from './bidi.ts'

/**
 * Renders chunks of lines. `isLong`: chunks far from the visible part are neither laid out nor painted, which requires
 * lines that do not wrap.
 */
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

/** Box of a chunk. Lines do not wrap, so its size is known without layout. */
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
