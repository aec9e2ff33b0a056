import { memo, useState, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { lazily } from '../ui/lazily.tsx'
import { showBidiControls } from './bidi.ts'
import type { Block } from './block.ts'
import { ChunkBox, CodeLines } from './code-lines.tsx'
import type { CodeLook } from './code-tools.tsx'
import type { ColouredPart } from './colour-code.ts'
import { useColours } from './use-colours.ts'

const longBlockChunks = 6

const CodeTools = lazily(async () => (await import('./code-tools.tsx')).CodeTools, { failed: () => null })
const CodePreview = lazily(async () => (await import('./code-tools.tsx')).CodePreview)

/** Renders a code block: language, tools and lines. Complete code is coloured. */
export function CodeBlock({ code }: { readonly code: Extract<Block, { kind: 'code' }> }): ReactNode {
  const { chunks, info } = code,
    language = languageOf(info)
  const [look, setLook] = useState<CodeLook>('plain')
  const isLong = chunks.length >= longBlockChunks && look === 'plain'
  const parts = useColours(chunks, language, code.isOpen)
  return (
    <div dir="ltr" className="overflow-hidden rounded-lg border border-line bg-panel">
      <div className="flex items-center gap-1 border-b border-line ps-3 text-xs text-muted">
        <span className="me-auto truncate">{info === '' ? 'text' : showBidiControls(info)}</span>
        {code.isOpen ? null : (
          <CodeTools text={() => chunks.join('')} info={info} language={language} look={look} onLook={setLook} />
        )}
        <CopyButton label={say.markdown.copyCode} text={() => chunks.join('')} />
      </div>
      {look === 'preview' ? (
        <CodePreview text={chunks.join('')} />
      ) : (
        <pre
          role="group"
          tabIndex={0}
          aria-label={language === '' ? say.markdown.code : say.markdown.codeIn(language)}
          className={
            'overflow-x-auto p-3 font-mono text-sm -outline-offset-2 ' + (look === 'plain' ? '' : 'whitespace-pre-wrap')
          }
        >
          <code>
            {parts.map((part, index) => (
              <ColouredChunk key={index} part={part} isLong={isLong} />
            ))}
            <CodeLines chunks={chunks.slice(parts.at(-1)?.end ?? 0)} isLong={isLong} />
          </code>
        </pre>
      )}
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
