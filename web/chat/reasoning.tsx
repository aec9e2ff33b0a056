import type { ReactNode } from 'react'
import { Markdown } from '../markdown/markdown.tsx'
import { say } from '../texts/say.ts'
import { formatSeconds } from '../ui/format-seconds.ts'

/** Props of {@link Reasoning}. */
export interface ReasoningProps {
  readonly text: string
  readonly ms: number | undefined
  readonly isThinking: boolean
}

/** The model's reasoning, collapsed. */
export function Reasoning({ text, ms, isThinking }: ReasoningProps): ReactNode {
  return (
    <details className="mb-3 text-sm text-muted">
      <summary className={`w-fit rounded-md py-1 ${isThinking ? 'animate-pulse' : ''}`}>
        {isThinking ? say.chat.thinking : ms === undefined ? say.chat.thoughts : say.chat.thought(secondsOf(ms))}
      </summary>
      <div className="mt-1 border-l-2 border-line pl-4">
        <Markdown text={text} isStreaming={isThinking} />
      </div>
    </details>
  )
}

function secondsOf(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 1) return say.chat.lessThanSecond
  return formatSeconds(seconds)
}
