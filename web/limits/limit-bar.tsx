import type { ReactNode } from 'react'
import type { LimitRowEntry, LimitUseEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { amountOf, windowWords, usedShare } from './limit-words.ts'

/** The used part of a limit. Decorative: the numbers stand beside it. */
export function UsedBar({ share }: { readonly share: number }): ReactNode {
  const colour = share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent'
  return (
    <span aria-hidden="true" className="mt-1 block h-1.5 overflow-hidden rounded-full border border-line bg-page">
      <span className={`block h-full forced-colors:bg-[Highlight] ${colour}`} style={{ width: `${share * 100}%` }} />
    </span>
  )
}

interface LimitBarProps {
  readonly row: LimitRowEntry
  readonly use: LimitUseEntry | undefined
  readonly timeZone: string
}

/** What callers that are counted together have used of a limit: `$41.20 of $200, begins again 1 Dec`. */
export function LimitBar({ row, use, timeZone }: LimitBarProps): ReactNode {
  if (use === undefined) return null
  const { kind, limit } = row
  const used = use.used + (use.held ?? 0)
  return (
    <div className="max-w-120 text-sm tabular-nums">
      <UsedBar share={usedShare(limit, use.remaining)} />
      <p className={use.remaining === 0 ? 'font-medium text-bad' : 'text-muted'}>
        {say.limits.usedOf(amountOf(kind, used), amountOf(kind, limit))}
        {windowWords(row, timeZone)}
      </p>
    </div>
  )
}
