import type { ReactNode } from 'react'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { formatMs, inWords } from './format.ts'
import { TrailMark } from './trail-row.tsx'
import { failureInWords, type TrailStep } from './trail-steps.ts'

/** The attempts of a request downwards, each with its reason in words, status and time. */
export function TrailList<Entry extends TrailEntry>({
  trail,
  label,
  more,
}: {
  readonly trail: readonly Entry[]
  readonly label: string
  /** What stands behind the words of an attempt. */
  readonly more?: (attempt: Entry) => ReactNode
}): ReactNode {
  return (
    <ol aria-label={label} className="flex flex-col text-sm">
      {trail.map((attempt, index) => (
        <li key={index} className="relative flex items-baseline gap-2.5 py-1.5">
          {index === 0 ? null : (
            <span aria-hidden="true" className="absolute -top-2 left-[7.5px] h-4 border-l border-muted" />
          )}
          <span className="relative top-0.5">
            <TrailMark step={markOf(attempt)} />
          </span>
          <span className="min-w-0 flex-1 wrap-anywhere">
            <Attempt attempt={attempt} />
            {more?.(attempt)}
          </span>
          <span className="whitespace-nowrap tabular-nums">{formatMs(attempt.ms)}</span>
        </li>
      ))}
    </ol>
  )
}

function markOf({ provider, failure }: TrailEntry): TrailStep {
  return failure === undefined ? { kind: 'answered', provider } : { kind: 'failed', provider, reason: failure }
}

/** `groq busy · rate limit, status 429`. */
function Attempt({ attempt: { provider, failure, status } }: { readonly attempt: TrailEntry }): ReactNode {
  const short = failure === undefined ? say.ui.answered : failureInWords(failure)
  const exact = failure === undefined ? short : inWords(failure)
  return (
    <>
      <span className="font-semibold text-ink">{provider}</span>{' '}
      <span className={failure === undefined ? undefined : 'text-bad'}>{short}</span>
      {short.startsWith(exact) ? null : ` · ${exact}`}
      {status === undefined ? null : `, ${say.ui.statusIs(String(status))}`}
    </>
  )
}
