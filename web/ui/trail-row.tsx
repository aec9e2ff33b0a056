import { useState, type ReactNode } from 'react'
import { formatCount } from '../texts/locale.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { formatMs } from './format-seconds.ts'
import { Icon } from './icon.tsx'
import type { TrailStep } from './trail-steps.ts'
import { useNow } from './use-now.ts'

/**
 * The way of a request in a row: `✗ ollama unreachable → ✓ groq`. It wraps, and is never cut. Phrases only, so that it
 * may stand in a summary or a button.
 */
export function TrailRow({
  steps,
  isQuiet = steps.length === 1,
}: {
  readonly steps: readonly TrailStep[]
  /** Names are not bold, as in tables. */
  readonly isQuiet?: boolean
}): ReactNode {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-1.5 gap-y-0.5">
      {steps.map((step, index) => (
        <span key={index} className="inline-flex max-w-full items-center gap-x-1.5">
          {index === 0 ? null : (
            <span>
              <span className="sr-only">{say.ui.thenNext}</span>
              <span aria-hidden="true">→</span>
            </span>
          )}
          <TrailMark step={step} />
          <span className="min-w-0 wrap-anywhere">
            <Words step={step} weight={isQuiet ? 'font-medium' : 'font-semibold'} />
          </span>
        </span>
      ))}
    </span>
  )
}

function Words({ step, weight }: { readonly step: TrailStep; readonly weight: string }): ReactNode {
  const name = step.kind === 'more' ? null : <span className={`text-ink ${weight}`}>{step.provider}</span>
  switch (step.kind) {
    case 'failed':
      return (
        <>
          <span className="sr-only">{say.ui.failedBefore}</span>
          {name} <span className="text-bad">{step.reason}</span>
        </>
      )
    case 'answered':
      return (
        <>
          {name}
          <span className="sr-only"> {say.ui.answered}</span>
        </>
      )
    case 'asking':
      return (
        <>
          {rich(say.ui.asking, { provider: name })} <Elapsed key={step.ms} ms={step.ms} />
        </>
      )
    case 'next':
      return name
    case 'more':
      return say.ui.moreProviders(formatCount(step.count))
  }
}

const tickMs = 100

/** Goes on from a time. Not read by screen readers, which would read every change. */
function Elapsed({ ms }: { readonly ms: number }): ReactNode {
  const now = useNow(tickMs)
  const [began] = useState(now)
  return (
    <span aria-hidden="true" className="tabular-nums">
      {formatMs(ms + Math.max(0, now - began))}
    </span>
  )
}

const markStyles = {
  failed: 'border-bad text-bad',
  answered: 'border-ok bg-ok text-page',
  asking: 'border-accent',
  next: 'border-muted text-ink',
} as const

/** A circle before a name: with a cross, a check, a dot or a number. */
export function TrailMark({ step }: { readonly step: TrailStep }): ReactNode {
  if (step.kind === 'more') return null
  return (
    <span
      aria-hidden={step.kind !== 'next'}
      className={
        'inline-grid size-4 shrink-0 place-items-center rounded-full border text-[0.625rem]/none font-semibold ' +
        markStyles[step.kind]
      }
    >
      {step.kind === 'next' ? (
        step.place
      ) : step.kind === 'asking' ? (
        // A border, not a background: forced colours show it.
        <span className="animate-pulse rounded-full border-4 border-accent" />
      ) : (
        <Icon name={step.kind === 'failed' ? 'close' : 'check'} className="size-3 stroke-3" />
      )}
    </span>
  )
}
