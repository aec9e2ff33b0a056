import type { ReactNode } from 'react'
import { ChartTable, LegendEntry } from '../requests/chart-parts.tsx'
import { MinutePlot, type ColouredSeries, type Series } from '../requests/minute-plot.tsx'
import { locale } from '../texts/locale.ts'
import { spanOf } from './range-words.ts'
import type { UsageRange } from './usage-sums.ts'

export interface UsageFigureProps {
  readonly title: string
  readonly range: UsageRange
  /** Unix milliseconds: of days, the midnights in UTC of their dates. */
  readonly times: readonly number[]
  /** Text alternative of the chart. */
  readonly summary: string
  readonly bars?: readonly ColouredSeries[]
  readonly lines?: readonly ColouredSeries[]
  /** Columns of the table. Default: the series of the chart. */
  readonly tableColumns?: readonly Series[]
  readonly format: (value: number) => string
  readonly formatAxis?: (value: number) => string
  readonly stepMin?: number
}

const hour = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
// Days are dates of the service's time zone, given as midnights in UTC.
const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** A chart by hour or day, with a legend, and a table below. Arrow keys or hovering show the values of one time. */
export function UsageFigure(props: UsageFigureProps): ReactNode {
  const { title, range, times, summary, bars = [], lines = [], tableColumns, ...formats } = props
  const series = [...bars, ...lines]
  const { unit } = range
  const formatTime = (time: number): string => (unit === 'hour' ? hour : day).format(time)
  return (
    <figure className="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-panel p-4">
      <figcaption className="flex flex-col gap-1">
        <h2 className="text-sm font-semibold">{title}</h2>
        <ul className="flex min-w-0 flex-wrap gap-x-3 text-xs text-muted">
          {series.map((each) => (
            <LegendEntry key={each.name} series={each} isLine={lines.includes(each)} />
          ))}
        </ul>
      </figcaption>
      <MinutePlot
        {...formats}
        summary={summary}
        unit={unit}
        times={times}
        bars={bars}
        lines={lines}
        columns={series}
        formatTime={formatTime}
        isLabelled={(index, labelsMax) => index % Math.max(1, Math.ceil(times.length / labelsMax)) === 0}
      />
      <ChartTable
        title={title}
        times={times}
        columns={tableColumns ?? series}
        format={formats.format}
        unit={unit}
        formatTime={formatTime}
        span={spanOf(range)}
      />
    </figure>
  )
}
