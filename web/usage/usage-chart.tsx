import { useMemo, type ReactNode } from 'react'
import type { UsageEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount, formatShortCount } from '../ui/format.ts'
import { summaryOf } from './range-words.ts'
import { usageMeasures } from './usage-address.ts'
import { UsageFigure } from './usage-figure.tsx'
import { chartData, kindsData, type Measure, type UsageRange, type UsageSeries } from './usage-sums.ts'

export interface UsageChartProps {
  readonly rows: readonly UsageEntry[]
  readonly range: UsageRange
  readonly measure: Measure
  /** Unix milliseconds. */
  readonly now: number
  readonly nameOf: (name: string) => string
}

const colours = ['text-accent', 'text-warn', 'text-accent opacity-50'] as const
const kindColours = [
  'text-muted',
  'text-muted opacity-50',
  'text-warn',
  'text-accent',
  'text-accent opacity-50',
] as const
const otherColour = 'text-muted'
const kinds: Readonly<Record<string, string>> = say.usage.kinds
/** Groups with a column of their own in the table below the chart. */
const columnsMax = 12

/** The largest groups over time, or tokens by kind, as stacked bars. */
export function UsageChart({ rows, range, measure, now, nameOf }: UsageChartProps): ReactNode {
  const { times, series, columns } = useMemo(() => {
    if (measure === 'kinds') return { ...kindsData(rows, range, now), columns: undefined }
    const options = { measure, now }
    const table = chartData(rows, range, { ...options, groupsMax: columnsMax })
    return { ...chartData(rows, range, { ...options, groupsMax: colours.length }), columns: table.series }
  }, [rows, range, measure, now])
  const format = measure === 'cost' ? formatCost : formatCount
  const named = ({ name, values }: UsageSeries) => ({
    name: name === undefined ? say.usage.allOthers : measure === 'kinds' ? (kinds[name] ?? name) : nameOf(name),
    values,
  })
  const palette: readonly string[] = measure === 'kinds' ? kindColours : colours
  const bars = series.map((each, index) => ({
    ...named(each),
    colour: each.name === undefined ? otherColour : (palette[index] ?? otherColour),
  }))
  const total = series.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0)
  const unit = say.requests.units[range.unit]
  const title = measure === 'kinds' ? say.usage.kindsByUnit(unit) : say.usage.byUnit(usageMeasures[measure], unit)
  return (
    <UsageFigure
      title={title}
      range={range}
      times={times}
      summary={summaryOf(title, range, format(total))}
      bars={bars}
      {...(columns === undefined ? {} : { tableColumns: columns.map(named) })}
      format={format}
      formatAxis={measure === 'cost' ? formatCost : formatShortCount}
      stepMin={measure === 'cost' ? 0 : 1}
    />
  )
}
