import { memo, type ReactNode } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import { showBidiControls } from './bidi.ts'
import type { Block } from './block.ts'
import { ChunkBox, CodeLines } from './code-lines.tsx'
import type { ColouredPart } from './colour-code.ts'
import { useColours } from './use-colours.ts'

const longBlockChunks = 6

/** Renders a code block: language, copy button and lines. Complete code is coloured. */
export function CodeBlock({ code }: { readonly code: Extract<Block, { kind: 'code' }> }): ReactNode {
  const { chunks, info } = code,
    language = languageOf(info)
  const isLong = chunks.length >= longBlockChunks
  const parts = useColours(chunks, language, code.isOpen)
  return (
    <div dir="ltr" className="overflow-hidden rounded-lg border border-line bg-panel">
      <div className="flex items-center justify-between gap-2 border-b border-line ps-3 text-xs text-muted">
        <span className="truncate">{info === '' ? 'text' : showBidiControls(info)}</span>
        <CopyButton label="Copy code" text={() => chunks.join('')} />
      </div>
      <pre
        role="group"
        tabIndex={0}
        aria-label={language === '' ? 'Code' : `Code, ${language}`}
        className="overflow-x-auto p-3 font-mono text-sm -outline-offset-2"
      >
        <code>
          {parts.map((part, index) => (
            <ColouredChunk key={index} part={part} isLong={isLong} />
          ))}
          <CodeLines chunks={chunks.slice(parts.at(-1)?.end ?? 0)} isLong={isLong} />
        </code>
      </pre>
    </div>
  )
}

/** Returns the language: the first word of the info string, without an attached suffix as in `ts{1,3}`. */
function languageOf(info: string): string {
  return info.split(/[\s{,:]/, 1)[0]?.toLowerCase() ?? ''
}

const ColouredChunk = memo(function ColouredChunk({
  part,
  isLong,
}: {
  readonly part: ColouredPart
  readonly isLong: boolean
}): ReactNode {
  return (
    <ChunkBox text={part.text} isLong={isLong}>
      {part.runs.map((run, index) =>
        run.colour === undefined ? (
          showBidiControls(run.text)
        ) : (
          <span key={index} className={run.colour}>
            {showBidiControls(run.text)}
          </span>
        ),
      )}
    </ChunkBox>
  )
})
