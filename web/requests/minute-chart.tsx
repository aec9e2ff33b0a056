import { useState, type ReactNode } from 'react'
import { formatMinute } from './format-minute.ts'
import { formatted, MinutePlot, type ColouredSeries, type MinutePlotProps } from './minute-plot.tsx'

/** A chart with title, legend and data table. */
export function MinuteChart({ title, ...plot }: MinutePlotProps & { readonly title: string }): ReactNode {
  const { bars = [], lines = [] } = plot
  return (
    <figure
      className={
        'flex w-[85%] min-w-0 shrink-0 snap-start flex-col gap-2 rounded-xl border border-line bg-panel p-4 ' +
        '@2xl:w-auto'
      }
    >
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h2 className="text-sm font-semibold">{title}</h2>
        <ul className="flex flex-wrap gap-x-3 text-xs text-muted">
          {[...bars, ...lines].map((series) => (
            <LegendEntry key={series.name} series={series} isLine={lines.includes(series)} />
          ))}
        </ul>
      </figcaption>
      <MinutePlot {...plot} />
      <ChartTable title={title} {...plot} />
    </figure>
  )
}

function LegendEntry({
  series: { name, colour, isDashed },
  isLine,
}: {
  readonly series: ColouredSeries
  readonly isLine: boolean
}): ReactNode {
  return (
    <li className="inline-flex items-center gap-1.5">
      <svg width={isLine ? 14 : 10} height="10" aria-hidden="true" className={colour}>
        {isLine ? (
          <path
            d="M1 5h12"
            stroke="currentColor"
            strokeWidth="2.5"
            strokeLinecap="round"
            {...(isDashed === true ? { strokeDasharray: '1 4' } : {})}
          />
        ) : (
          <rect width="10" height="10" rx="2" fill="currentColor" />
        )}
      </svg>
      {name}
    </li>
  )
}

/** Table of the minutes that had requests. Rendered when opened. */
function ChartTable({ title, times, columns, format }: MinutePlotProps & { readonly title: string }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const rows = times
    .map((time, index) => ({ time, values: columns.map(({ values }) => values[index]) }))
    .filter(({ values }) => values.some((value) => value !== undefined && value !== 0))
    .toReversed()
  return (
    <details className="text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-md py-1 text-xs text-accent pointer-coarse:py-3">
        Show as table<span className="sr-only">: {title}</span>
      </summary>
      {!isOpen ? null : rows.length === 0 ? (
        <p className="py-2 text-muted">There is nothing in the last hour.</p>
      ) : (
        <div className="max-h-64 overflow-y-auto" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
          <table className="w-full text-right tabular-nums">
            <caption className="sr-only">{title}, by minute, newest first</caption>
            <thead>
              <tr>
                <th scope="col" className="py-1 text-left font-medium">
                  Minute
                </th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col" className="font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ time, values }) => (
                <tr key={time} className="border-t border-line">
                  <th scope="row" className="py-1 text-left font-normal">
                    {formatMinute(time)}
                  </th>
                  {values.map((value, index) => (
                    <td key={columns[index]?.name}>{formatted(value, format, time)}</td>
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
