import { memo, type ReactNode } from 'react'
import type { RequestEntry } from '../../src/http/page-api.ts'
import { formatCost, formatCount, formatMs, formatTime } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { TrailLine } from '../ui/trail.tsx'
import { endingOf, type Ending } from './filter-requests.ts'
import type { RequestRow } from './request-rows.ts'

/** The grid that headings and rows share where there is room; below it, rows are cards. */
export const wideColumns = {
  withUsers: '@5xl:grid-cols-[6.5rem_minmax(0,0.7fr)_minmax(0,1.1fr)_minmax(0,2fr)_minmax(0,10rem)_5rem_5rem_8.5rem_5.5rem]',
  withoutUsers: '@5xl:grid-cols-[6.5rem_minmax(0,1.1fr)_minmax(0,2fr)_minmax(0,10rem)_5rem_5rem_8.5rem_5.5rem]',
} as const

const cardAreas = "grid-cols-[auto_auto_1fr_auto] [grid-template-areas:'time_time_status_status'_'model_model_model_total'_'trail_trail_trail_trail'_'user_first_tokens_cost']"
const endingLooks = {
  ok: { icon: 'check', tone: 'text-ok' }, failed: { icon: 'warn', tone: 'text-bad' }, refused: { icon: 'warn', tone: 'text-bad' },
  cut: { icon: 'warn', tone: 'text-bad' }, left: { icon: 'leave', tone: 'text-muted' },
} as const satisfies Readonly<Record<Ending, unknown>>

/** What {@link RequestLine} shows. */
export interface RequestLineProps {
  readonly row: RequestRow
  /** Among all rows, headings included, from 1. */
  readonly place: number
  readonly hasUsers: boolean
  /** It is the one row that Tab goes to. */
  readonly isTabStop: boolean
  readonly onOpen: (row: RequestRow) => void
  readonly onFocus: (row: RequestRow) => void
}

/** One request as a row, or as a card where it is narrow. Rows are all of one height. */
export const RequestLine = memo(function RequestLine({ row, place, hasUsers, isTabStop, onOpen, onFocus }: RequestLineProps): ReactNode {
  const { request } = row
  const { time, user, model, trail, firstTokenMs, totalMs, promptTokens, completionTokens, cost } = request
  return (
    <tr role="row" aria-rowindex={place} data-key={row.key} className={`relative grid h-29 content-center items-center gap-x-3 gap-y-1 border-b border-line px-3 text-sm tabular-nums hover:bg-hover @5xl:h-10 @5xl:[grid-template-areas:none] ${cardAreas} ${hasUsers ? wideColumns.withUsers : wideColumns.withoutUsers}`}>
      <td role="cell" className="[grid-area:time] @5xl:[grid-area:auto]">
        <button
          type="button" aria-haspopup="dialog" tabIndex={isTabStop ? 0 : -1} className="scroll-mt-12 rounded-sm after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          onClick={() => onOpen(row)} onFocus={() => onFocus(row)}
        >
          <span className="sr-only">Request of </span>{formatTime(time)}
        </button>
      </td>
      {hasUsers ? <td role="cell" className="truncate text-xs text-muted [grid-area:user] @5xl:text-sm @5xl:[grid-area:auto]">{user ?? '–'}</td> : null}
      <td role="cell" className="truncate font-medium [grid-area:model] @5xl:font-normal @5xl:[grid-area:auto]">{model === '' ? <span className="text-muted">unreadable</span> : model}</td>
      <td role="cell" className="overflow-hidden whitespace-nowrap [grid-area:trail] [&>span]:flex-nowrap @5xl:[grid-area:auto]">{trail.length === 0 ? <span className="text-muted">nobody was asked</span> : <TrailLine trail={trail} />}</td>
      <td role="cell" className="justify-self-end truncate [grid-area:status] @5xl:justify-self-start @5xl:[grid-area:auto]"><StatusWord request={request} /></td>
      <td role="cell" className="text-xs text-muted [grid-area:first] @5xl:text-right @5xl:text-sm @5xl:text-ink @5xl:[grid-area:auto]"><span className="@5xl:hidden">first token </span>{firstTokenMs === undefined ? '–' : formatMs(firstTokenMs)}</td>
      <td role="cell" className="text-right [grid-area:total] @5xl:[grid-area:auto]">{formatMs(totalMs)}</td>
      <td role="cell" className="truncate text-right text-xs text-muted [grid-area:tokens] @5xl:text-sm @5xl:text-ink @5xl:[grid-area:auto]">{tokenWords(promptTokens, completionTokens)}<span className="@5xl:hidden"> tokens</span></td>
      <td role="cell" className="text-right text-xs text-muted [grid-area:cost] @5xl:text-sm @5xl:text-ink @5xl:[grid-area:auto]">{cost === undefined ? '–' : formatCost(cost)}</td>
    </tr>
  )
})

/** How a request ended: picture, word, code, colour. */
export function StatusWord({ request }: { readonly request: RequestEntry }): ReactNode {
  const ending = endingOf(request), { icon, tone } = endingLooks[ending]
  const word = ending === 'ok' ? 'OK' : ending === 'left' ? 'caller left' : (request.error ?? 'failed').replaceAll('_', ' ')
  return <span className={`inline-flex max-w-full items-center gap-1 ${tone}`} title={`${word} ${request.status}`}><Icon name={icon} className="size-4" /><span className="truncate">{word}</span> {request.status}</span>
}

/** `12 / 340`: in and out. */
function tokenWords(promptTokens: number | undefined, completionTokens: number | undefined): ReactNode {
  if (promptTokens === undefined && completionTokens === undefined) return '–'
  const words = (count: number | undefined): string => (count === undefined ? '?' : formatCount(count))
  return <>{words(promptTokens)}<span className="sr-only"> in,</span><span aria-hidden="true"> / </span>{words(completionTokens)}<span className="sr-only"> out</span></>
}
