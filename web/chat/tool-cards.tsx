import { useState, type ReactNode } from 'react'
import type { ToolCall } from '../history/conversation.ts'
import { oneLine } from '../history/one-line.ts'
import { CodeBlock } from '../markdown/code-block.tsx'
import { say } from '../texts/say.ts'
import { Icon } from '../ui/icon.tsx'

export interface ToolCardsProps {
  readonly calls: readonly ToolCall[]
  /** More may follow in the last call. */
  readonly isStreaming: boolean
  /** Renders the content of closed cards, too. */
  readonly isWhole?: boolean
}

/** Calls of tools, each as a folded card with its arguments and its result. All of it is text. */
export function ToolCards({ calls, isStreaming, isWhole = false }: ToolCardsProps): ReactNode {
  return (
    <div className="mb-3 flex flex-col gap-2" role="group" aria-label={say.tools.calls}>
      {calls.map((call, index) => (
        <ToolCard key={index} call={call} isOpenEnded={isStreaming && index === calls.length - 1} isWhole={isWhole} />
      ))}
    </div>
  )
}

interface ToolCardProps {
  readonly call: ToolCall
  readonly isOpenEnded: boolean
  readonly isWhole: boolean
}

function ToolCard({ call, isOpenEnded, isWhole }: ToolCardProps): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const { name, arguments: given, result } = call
  return (
    <details
      className="min-w-0 rounded-lg border border-line bg-panel text-sm"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex min-h-9 items-center gap-2 rounded-lg px-3 py-1.5 pointer-coarse:min-h-11">
        <Icon name="tool" className="size-4 shrink-0 text-muted" />
        <span className="sr-only">{say.tools.call}</span>
        <bdi className="min-w-0 truncate font-mono">{oneLine(name) || say.tools.unnamed}</bdi>
        <span className={`ml-auto shrink-0 text-xs text-muted ${isOpenEnded ? 'animate-pulse' : ''}`}>
          {isOpenEnded ? say.tools.arriving : result === undefined ? say.tools.called : say.tools.withResult}
        </span>
      </summary>
      {isOpen || isWhole ? (
        <div className="flex flex-col gap-2 border-t border-line p-3">
          <Part title={say.tools.arguments} text={given} isOpenEnded={isOpenEnded} />
          {result === undefined ? null : <Part title={say.tools.result} text={result} isOpenEnded={false} />}
        </div>
      ) : null}
    </details>
  )
}

interface PartProps {
  readonly title: string
  readonly text: string
  readonly isOpenEnded: boolean
}

function Part({ title, text, isOpenEnded }: PartProps): ReactNode {
  const shown = isOpenEnded ? { text, isJson: true } : laidOut(text)
  return (
    <section className="min-w-0">
      <h3 className="mb-1 text-xs font-medium text-muted">{title}</h3>
      {shown.text.trim() === '' ? (
        <p className="text-muted">{say.common.none}</p>
      ) : (
        <CodeBlock
          code={{
            kind: 'code',
            info: shown.isJson ? 'json' : '',
            chunks: chunksOf(shown.text),
            isOpen: isOpenEnded,
          }}
        />
      )}
    </section>
  )
}

const laidOutMax = 200_000

/** Lays JSON out on several lines. Other text stays as it is. */
function laidOut(text: string): { readonly text: string; readonly isJson: boolean } {
  if (text.length > laidOutMax) return { text, isJson: false }
  try {
    return { text: JSON.stringify(JSON.parse(text), undefined, 2), isJson: true }
  } catch {
    // Of a model: it may be cut, or no JSON at all.
    return { text, isJson: false }
  }
}

const linesInChunk = 50

function chunksOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return Array.from({ length: Math.ceil(lines.length / linesInChunk) }, (_, index) => {
    const to = (index + 1) * linesInChunk
    return lines.slice(index * linesInChunk, to).join('\n') + (to < lines.length ? '\n' : '')
  })
}
