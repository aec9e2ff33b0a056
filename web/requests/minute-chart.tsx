import type { ReactNode } from 'react'
import { ChartTable, LegendEntry } from './chart-parts.tsx'
import { MinutePlot, type MinutePlotProps } from './minute-plot.tsx'

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
