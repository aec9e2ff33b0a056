import { memo, type ReactNode } from 'react'
import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { formatCount, formatMs, formatTime, inWords, markEstimate } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { TrailRow } from '../ui/trail-row.tsx'
import { stepsOf } from '../ui/trail-steps.ts'
import { shortCost } from './cost-words.ts'
import { outcomeOf, type Outcome } from './filter-requests.ts'
import { formatDay, isToday } from './format-day.ts'
import type { RequestRow } from './request-rows.ts'

/** Grid columns of headings and rows on wide windows. On narrow ones, rows are cards. */
export const wideColumns = {
  withUsers:
    '@4xl:grid-cols-[6.5rem_minmax(0,0.9fr)_minmax(0,1.5fr)_minmax(0,2.5fr)_minmax(8rem,1fr)_4rem_4rem_6rem_4.5rem]',
  withoutUsers: '@4xl:grid-cols-[6.5rem_minmax(0,1.4fr)_minmax(0,2.5fr)_minmax(9.5rem,0.9fr)_4rem_4rem_6rem_4.5rem]',
} as const

const outcomeStyles = {
  ok: { icon: 'check', tone: 'text-ok' },
  failed: { icon: 'warn', tone: 'text-bad' },
  refused: { icon: 'warn', tone: 'text-bad' },
  cut: { icon: 'warn', tone: 'text-bad' },
  left: { icon: 'leave', tone: 'text-muted' },
} as const satisfies Readonly<Record<Outcome, unknown>>

export interface RequestLineProps {
  readonly row: RequestRow
  /** Index among all rows including the heading, from 1. */
  readonly place: number
  readonly hasUsers: boolean
  /** The one row that Tab reaches. */
  readonly isTabStop: boolean
  readonly onOpen: (row: RequestRow) => void
  readonly onFocus: (row: RequestRow) => void
}

/** A request as a row, or as a card on narrow windows. All rows have one height. */
export const RequestLine = memo(function RequestLine({
  row,
  place,
  hasUsers,
  isTabStop,
  onOpen,
  onFocus,
}: RequestLineProps): ReactNode {
  const { request } = row
  const { time, api, user, model, trail, firstTokenMs, totalMs } = request
  return (
    <tr
      role="row"
      aria-rowindex={place}
      data-key={row.key}
      className={
        'relative grid h-25 content-center items-center gap-x-3 gap-y-1 border-t border-line px-3 text-sm ' +
        'tabular-nums hover:bg-hover grid-cols-[auto_minmax(0,1fr)_auto_auto] @2xl:h-20 ' +
        '@2xl:grid-cols-[auto_minmax(0,1fr)_minmax(0,auto)_auto_auto] @4xl:h-17 ' +
        (hasUsers ? wideColumns.withUsers : wideColumns.withoutUsers)
      }
    >
      <td role="cell" className="[grid-area:1/1] @4xl:[grid-area:auto]">
        <button
          type="button"
          tabIndex={isTabStop ? 0 : -1}
          className={
            'scroll-mt-12 rounded-sm whitespace-nowrap after:absolute after:inset-0 focus-visible:outline-none ' +
            'focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 ' +
            'focus-visible:after:outline-accent'
          }
          onClick={() => onOpen(row)}
          onFocus={() => onFocus(row)}
        >
          <span className="sr-only">{say.requests.requestOf}</span>
          {isToday(time) ? formatTime(time) : <span className="text-xs">{formatDay(time)}</span>}
        </button>
      </td>
      {hasUsers ? (
        <td
          role="cell"
          className={
            'truncate text-xs text-muted [grid-area:1/2] @2xl:[grid-area:1/3] @4xl:text-sm @4xl:[grid-area:auto]'
          }
        >
          {user ?? '–'}
        </td>
      ) : null}
      <td
        role="cell"
        className="truncate font-medium [grid-area:2/1/3/3] @2xl:[grid-area:1/2] @4xl:font-normal @4xl:[grid-area:auto]"
      >
        {model === '' ? <span className="text-muted">{modelless(request)}</span> : model}
        {api === 'chat' ? null : <span className="text-muted"> · {api}</span>}
      </td>
      <td
        role="cell"
        className={
          'max-h-11 overflow-hidden [grid-area:3/1/4/5] @2xl:[grid-area:2/1/3/4] @4xl:max-h-16 ' +
          '@4xl:[grid-area:auto]'
        }
      >
        {trail.length === 0 ? (
          <span className="text-muted">{say.requests.noProviderInLine}</span>
        ) : (
          <TrailRow steps={stepsOf(request)} isQuiet />
        )}
      </td>
      <td
        role="cell"
        className={
          'max-w-40 justify-self-end [grid-area:1/3/2/5] @2xl:[grid-area:1/4/2/6] @4xl:max-w-full ' +
          '@4xl:justify-self-start @4xl:[grid-area:auto]'
        }
      >
        <StatusWord request={request} />
      </td>
      <td role="cell" className="whitespace-nowrap @max-4xl:sr-only @4xl:text-right">
        <span className="@4xl:hidden">{say.requests.firstTokenInLine}</span>
        {firstTokenMs === undefined ? '–' : formatMs(firstTokenMs)}
      </td>
      <td
        role="cell"
        className="text-right whitespace-nowrap [grid-area:2/3] @2xl:[grid-area:2/4] @4xl:[grid-area:auto]"
      >
        {formatMs(totalMs)}
      </td>
      <td role="cell" className="truncate @max-4xl:sr-only @4xl:text-right">
        {tokenWords(request)}
      </td>
      <td
        role="cell"
        className={
          'text-right whitespace-nowrap text-muted [grid-area:2/4] @2xl:[grid-area:2/5] @4xl:text-ink ' +
          '@4xl:[grid-area:auto]'
        }
      >
        {shortCost(request)}
      </td>
    </tr>
  )
})

/** In place of the name of a model. */
export function modelless({ isStored }: RequestEntry): string {
  return isStored === true ? say.requests.noModel : say.requests.unreadable
}

/** Outcome of a request: icon, word, status and colour. */
export function StatusWord({ request }: { readonly request: RequestEntry }): ReactNode {
  const outcome = outcomeOf(request),
    { icon, tone } = outcomeStyles[outcome]
  const word = outcome === 'ok' ? 'OK' : outcome === 'left' ? say.requests.callerLeft : wordOf(request.error)
  return (
    <span className={`flex min-w-0 items-center gap-1 ${tone}`} title={`${word} ${request.status}`}>
      <Icon name={icon} className="size-4" />
      <span className="truncate">{word}</span> <span>{request.status}</span>
    </span>
  )
}

function wordOf(error: string | undefined): string {
  return error === undefined ? say.requests.failed : inWords(error)
}

/** `12 / 340`: input and output. */
function tokenWords({ promptTokens, completionTokens, isEstimated }: RequestEntry): ReactNode {
  if (promptTokens === undefined && completionTokens === undefined) return '–'
  const words = (count: number | undefined): string =>
    count === undefined ? '?' : markEstimate(formatCount(count), isEstimated)
  return (
    <>
      {words(promptTokens)}
      <span className="sr-only">{say.requests.inOf}</span>
      <span aria-hidden="true"> / </span>
      {words(completionTokens)}
      <span className="sr-only">{say.requests.outOf}</span>
      <span className="@4xl:hidden">{say.requests.tokensInLine}</span>
    </>
  )
}
