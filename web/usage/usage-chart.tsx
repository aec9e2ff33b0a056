import { useMemo, type ReactNode } from 'react'
import type { UsageEntry } from '../../src/http/page/page-api.ts'
import { MinutePlot } from '../requests/minute-plot.tsx'
import { formatCost, formatCount, formatShortCount } from '../ui/format.ts'
import { chartData, type Measure, type UsageRange } from './usage-sums.ts'

/** Props of {@link UsageChart}. */
export interface UsageChartProps {
  readonly rows: readonly UsageEntry[]
  readonly range: UsageRange
  readonly measure: Measure
  /** Unix milliseconds. */
  readonly now: number
  readonly nameOf: (name: string) => string
}

const colours = ['text-accent', 'text-warn', 'text-accent opacity-50'] as const
const otherColour = 'text-muted'
const words: Readonly<Record<Measure, string>> = { cost: 'Cost', requests: 'Requests', tokens: 'Tokens' }
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
// Days are dates of the service's time zone, given as midnights in UTC.
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** The largest groups over time, as stacked bars. Arrow keys or hovering show the values of one hour or day. */
export function UsageChart({ rows, range, measure, now, nameOf }: UsageChartProps): ReactNode {
  const { times, series } = useMemo(
    () => chartData(rows, range, { measure, now, groupsMax: colours.length }),
    [rows, range, measure, now],
  )
  const format = measure === 'cost' ? formatCost : formatCount
  const bars = series.map(({ name, values }, index) => ({
    name: name === undefined ? 'all others' : nameOf(name),
    values,
    colour: name === undefined ? otherColour : (colours[index] ?? otherColour),
  }))
  const total = series.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0)
  const unit = range.unit === 'hour' ? 'Hour' : 'Day'
  return (
    <figure className="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-panel p-4">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h2 className="text-sm font-semibold">
          {words[measure]} by {unit.toLowerCase()}
        </h2>
        <ul className="flex min-w-0 flex-wrap gap-x-3 text-xs text-muted">
          {bars.map(({ name, colour }) => (
            <li key={name} className="inline-flex min-w-0 items-center gap-1.5">
              <svg width="10" height="10" aria-hidden="true" className={`shrink-0 ${colour}`}>
                <rect width="10" height="10" rx="2" fill="currentColor" />
              </svg>
              <span className="max-w-48 truncate">{name}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <MinutePlot
        summary={`${words[measure]} by ${unit.toLowerCase()}: ${format(total)} in ${range.label}.`}
        unit={unit}
        times={times}
        bars={bars}
        columns={bars}
        format={format}
        formatAxis={measure === 'cost' ? formatCost : formatShortCount}
        stepMin={measure === 'cost' ? 0 : 1}
        formatTime={(time) => (range.unit === 'hour' ? hour : day).format(time)}
        isLabelled={(index, labelsMax) => index % Math.max(1, Math.ceil(times.length / labelsMax)) === 0}
      />
    </figure>
  )
}
