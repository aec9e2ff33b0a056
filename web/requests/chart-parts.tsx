import { useState, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { formatMinute } from './format-minute.ts'
import { formatted, type ColouredSeries, type MinutePlotProps } from './minute-plot.tsx'

/** A series in the legend of a chart. */
export function LegendEntry({
  series: { name, colour, isDashed },
  isLine,
}: {
  readonly series: ColouredSeries
  readonly isLine: boolean
}): ReactNode {
  return (
    <li className="inline-flex items-center gap-1.5">
      {isLine ? (
        <svg width="14" height="10" aria-hidden="true" className={colour}>
          <path
            d="M1 5h12"
            stroke="currentColor"
            strokeWidth="2.5"
            strokeLinecap="round"
            {...(isDashed === true ? { strokeDasharray: '1 4' } : {})}
          />
        </svg>
      ) : (
        <Square className={colour} />
      )}
      <span className="max-w-48 truncate">{name}</span>
    </li>
  )
}

/** The colour of a series, as in its bars. Decorative. */
export function Square({ className }: { readonly className: string }): ReactNode {
  return (
    <svg width="10" height="10" aria-hidden="true" className={`shrink-0 ${className}`}>
      <rect width="10" height="10" rx="2" fill="currentColor" />
    </svg>
  )
}

/** Table of the minutes, or other units, that have a value. Rendered when opened. */
export function ChartTable({
  title,
  times,
  columns,
  format,
  unit = 'minute',
  formatTime = formatMinute,
  span = say.requests.hourBefore,
}: Pick<MinutePlotProps, 'times' | 'columns' | 'format' | 'unit' | 'formatTime'> & {
  readonly title: string
  /** The time of the chart, such as `in the last hour`. */
  readonly span?: string
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const rows = times
    .map((time, index) => ({ time, values: columns.map(({ values }) => values[index]) }))
    .filter(({ values }) => values.some((value) => value !== undefined && value !== 0))
    .toReversed()
  return (
    <details className="text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-md py-1 text-xs text-accent pointer-coarse:py-3">
        {say.requests.showAsTable}
        <span className="sr-only">: {title}</span>
      </summary>
      {!isOpen ? null : rows.length === 0 ? (
        <p className="py-2 text-muted">{say.requests.nothing(span)}</p>
      ) : (
        <div className="max-h-64 overflow-auto" tabIndex={0} role="region" aria-label={say.requests.table(title)}>
          <table className="w-full text-right tabular-nums">
            <caption className="sr-only">{say.requests.tableBy(title, say.requests.units[unit])}</caption>
            <thead>
              <tr>
                <th scope="col" className="py-1 text-left font-medium">
                  {say.requests.axis[unit]}
                </th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col" className="ps-3 font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ time, values }) => (
                <tr key={time} className="border-t border-line">
                  <th scope="row" className="py-1 text-left font-normal">
                    {formatTime(time)}
                  </th>
                  {values.map((value, index) => (
                    <td key={columns[index]?.name} className="ps-3">
                      {formatted(value, format, time)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}
