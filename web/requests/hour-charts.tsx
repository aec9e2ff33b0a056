import { memo, useMemo, useState, type ReactNode } from 'react'
import type { MinuteSums } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatCount, formatMs, markEstimate } from '../ui/format.ts'
import { useMedia } from '../ui/use-media.ts'
import { ChartTable, LegendEntry } from './chart-parts.tsx'
import { formatMinute } from './format-minute.ts'
import { MinutePlot, type MinutePlotProps } from './minute-plot.tsx'

/**
 * The last hour in three charts: requests and errors, first token, tokens. On phones a button shows them, and they
 * scroll sideways.
 */
export const HourCharts = memo(function HourCharts({ hour }: { readonly hour: readonly MinuteSums[] }): ReactNode {
  const charts = useMemo(() => [requestsChart(hour), firstTokenChart(hour), tokensChart(hour)], [hour])
  const isWide = useMedia(wideQuery)
  const [isOpen, setOpen] = useState(false)
  if (!isWide && !isOpen) return <ChartButton isOpen={false} onChange={setOpen} />
  return (
    <>
      {isWide ? null : <ChartButton isOpen onChange={setOpen} />}
      <section
        aria-label={say.requests.byMinute}
        className={
          'relative -mx-4 flex snap-x scroll-px-4 gap-3 overflow-x-auto px-4 @2xl:mx-0 @2xl:grid @2xl:grid-cols-3 ' +
          '@2xl:overflow-visible @2xl:px-0'
        }
      >
        {charts.map((chart) => (
          <MinuteChart key={chart.title} {...chart} />
        ))}
      </section>
    </>
  )
})

/** Wide enough to show the charts above the list. Below, the list comes first. */
const wideQuery = '(min-width: 40rem)'

function ChartButton({
  isOpen,
  onChange,
}: {
  readonly isOpen: boolean
  readonly onChange: (isOpen: boolean) => void
}): ReactNode {
  return (
    <Button icon="chart" className="self-start" aria-pressed={isOpen} onClick={() => onChange(!isOpen)}>
      {say.usage.chart}
    </Button>
  )
}

type Chart = MinutePlotProps & { readonly title: string }

function requestsChart(hour: readonly MinuteSums[]): Chart {
  const requests = hour.map((minute) => minute.requests),
    errors = hour.map((minute) => minute.errors)
  return {
    title: say.views.requests,
    times: hour.map(({ time }) => time),
    bars: [
      {
        name: say.requests.withoutError,
        values: requests.map((count, index) => count - (errors[index] ?? 0)),
        colour: 'text-c1',
      },
      { name: say.requests.withError, values: errors, colour: 'text-bad' },
    ],
    columns: [
      { name: say.views.requests, values: requests },
      { name: say.requests.errors, values: errors },
    ],
    format: formatCount,
    summary:
      say.requests.requestsByMinute(formatCount(total(requests)), formatCount(total(errors))) +
      peak(hour, requests, formatCount),
  }
}

function firstTokenChart(hour: readonly MinuteSums[]): Chart {
  const median = hour.map(({ firstTokenP50 }) => firstTokenP50),
    p95 = hour.map(({ firstTokenP95 }) => firstTokenP95)
  return {
    title: say.requests.firstToken,
    times: hour.map(({ time }) => time),
    lines: [
      { name: 'p50', values: median, colour: 'text-ink' },
      { name: 'p95', values: p95, colour: 'text-muted', isDashed: true },
    ],
    columns: [
      { name: 'p50', values: median },
      { name: 'p95', values: p95 },
    ],
    format: formatMs,
    formatAxis: (ms) => (ms >= 10_000 ? `${formatCount(ms / 1_000)} s` : formatMs(ms)),
    summary: say.requests.firstOfStreams + peak(hour, p95, formatMs),
  }
}

function tokensChart(hour: readonly MinuteSums[]): Chart {
  const prompt = hour.map(({ promptTokens }) => promptTokens),
    completion = hour.map(({ completionTokens }) => completionTokens)
  const estimated = new Set(hour.filter(({ isEstimated }) => isEstimated === true).map(({ time }) => time))
  const sum = (values: readonly number[]): string => markEstimate(formatCount(total(values)), estimated.size > 0)
  return {
    title: say.common.tokens,
    times: hour.map(({ time }) => time),
    bars: [
      { name: say.requests.inShort, values: prompt, colour: 'text-edge' },
      { name: say.requests.outShort, values: completion, colour: 'text-c1' },
    ],
    columns: [
      { name: say.requests.in, values: prompt },
      { name: say.requests.out, values: completion },
    ],
    format: (count, time) => markEstimate(formatCount(count), estimated.has(time)),
    summary:
      say.requests.tokensByMinute(sum(prompt), sum(completion)) +
      peak(
        hour,
        prompt.map((count, index) => count + (completion[index] ?? 0)),
        formatCount,
      ),
  }
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

/** ` At most 40, at 12:03.` */
function peak(
  hour: readonly MinuteSums[],
  values: readonly (number | undefined)[],
  format: (value: number) => string,
): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const time = hour[values.indexOf(most)]?.time
  return most === 0 || time === undefined
    ? say.requests.nothingYet
    : say.requests.most(format(most), formatMinute(time))
}

/** A chart with title, legend and data table. */
function MinuteChart({ title, ...plot }: MinutePlotProps & { readonly title: string }): ReactNode {
  const { bars = [], lines = [] } = plot
  return (
    <figure
      className={
        'flex w-[85%] min-w-0 shrink-0 snap-start flex-col gap-2 rounded-xl border border-line bg-panel p-4 ' +
        '@2xl:w-auto'
      }
    >
      <figcaption className="flex flex-col gap-1">
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
