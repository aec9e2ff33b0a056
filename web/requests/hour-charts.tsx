import { memo, useMemo, type ReactNode } from 'react'
import type { MinuteEntry } from '../../src/http/page/page-api.ts'
import { formatCount, formatMs, markEstimate } from '../ui/format.ts'
import { formatMinute } from './format-minute.ts'
import { MinuteChart } from './minute-chart.tsx'
import type { MinutePlotProps } from './minute-plot.tsx'

/** The last hour in three charts: requests and errors, first token, tokens. On phones they scroll sideways. */
export const HourCharts = memo(function HourCharts({ hour }: { readonly hour: readonly MinuteEntry[] }): ReactNode {
  const charts = useMemo(() => [requestsChart(hour), firstTokenChart(hour), tokensChart(hour)], [hour])
  return (
    <section
      aria-label="The last hour, by minute"
      className={
        'relative -mx-4 flex snap-x scroll-px-4 gap-3 overflow-x-auto px-4 @2xl:mx-0 @2xl:grid @2xl:grid-cols-3 ' +
        '@2xl:overflow-visible @2xl:px-0'
      }
    >
      {charts.map((chart) => (
        <MinuteChart key={chart.title} {...chart} />
      ))}
    </section>
  )
})

type Chart = MinutePlotProps & { readonly title: string }

function requestsChart(hour: readonly MinuteEntry[]): Chart {
  const requests = hour.map((minute) => minute.requests),
    errors = hour.map((minute) => minute.errors)
  return {
    title: 'Requests',
    times: hour.map(({ time }) => time),
    bars: [
      {
        name: 'without error',
        values: requests.map((count, index) => count - (errors[index] ?? 0)),
        colour: 'text-accent',
      },
      { name: 'with error', values: errors, colour: 'text-bad' },
    ],
    columns: [
      { name: 'Requests', values: requests },
      { name: 'Errors', values: errors },
    ],
    format: formatCount,
    summary:
      `Requests by minute: ${formatCount(total(requests))} in the last hour, ` +
      `${formatCount(total(errors))} of them with an error. ${peak(hour, requests, formatCount)}`,
  }
}

function firstTokenChart(hour: readonly MinuteEntry[]): Chart {
  const median = hour.map(({ firstTokenP50 }) => firstTokenP50),
    p95 = hour.map(({ firstTokenP95 }) => firstTokenP95)
  return {
    title: 'Time to first token',
    times: hour.map(({ time }) => time),
    lines: [
      { name: 'p50', values: median, colour: 'text-accent' },
      { name: 'p95', values: p95, colour: 'text-warn', isDashed: true },
    ],
    columns: [
      { name: 'p50', values: median },
      { name: 'p95', values: p95 },
    ],
    format: formatMs,
    formatAxis: (ms) => (ms >= 10_000 ? `${ms / 1_000} s` : formatMs(ms)),
    summary: `Time to the first token of streams, by minute, in the last hour. ${peak(hour, p95, formatMs)}`,
  }
}

function tokensChart(hour: readonly MinuteEntry[]): Chart {
  const prompt = hour.map(({ promptTokens }) => promptTokens),
    completion = hour.map(({ completionTokens }) => completionTokens)
  const estimated = new Set(hour.filter(({ isEstimated }) => isEstimated === true).map(({ time }) => time))
  const sum = (values: readonly number[]): string => markEstimate(formatCount(total(values)), estimated.size > 0)
  return {
    title: 'Tokens',
    times: hour.map(({ time }) => time),
    bars: [
      { name: 'in', values: prompt, colour: 'text-muted' },
      { name: 'out', values: completion, colour: 'text-accent' },
    ],
    columns: [
      { name: 'In', values: prompt },
      { name: 'Out', values: completion },
    ],
    format: (count, time) => markEstimate(formatCount(count), estimated.has(time)),
    summary: `Tokens by minute: ${sum(prompt)} in and ${sum(completion)} out in the last hour. ${peak(
      hour,
      prompt.map((count, index) => count + (completion[index] ?? 0)),
      formatCount,
    )}`,
  }
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

/** `At most 40, at 12:03.` */
function peak(
  hour: readonly MinuteEntry[],
  values: readonly (number | undefined)[],
  format: (value: number) => string,
): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const time = hour[values.indexOf(most)]?.time
  return most === 0 || time === undefined ? 'Nothing yet.' : `At most ${format(most)}, at ${formatMinute(time)}.`
}
