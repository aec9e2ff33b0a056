import { useMemo, type ReactNode } from 'react'
import type { UsageEntry } from '../../src/http/page/page-api.ts'
import { formatCost, formatCount, formatShortCount } from '../ui/format.ts'
import { UsageFigure } from './usage-figure.tsx'
import { chartData, kindsData, type Measure, type UsageRange, type UsageSeries } from './usage-sums.ts'

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
const kindColours = [
  'text-muted',
  'text-muted opacity-50',
  'text-warn',
  'text-accent',
  'text-accent opacity-50',
] as const
const otherColour = 'text-muted'
const words: Readonly<Record<Measure, string>> = {
  cost: 'Cost',
  requests: 'Requests',
  tokens: 'Tokens',
  kinds: 'Tokens by kind',
}
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
    name: name === undefined ? 'all others' : measure === 'kinds' ? name : nameOf(name),
    values,
  })
  const palette: readonly string[] = measure === 'kinds' ? kindColours : colours
  const bars = series.map((each, index) => ({
    ...named(each),
    colour: each.name === undefined ? otherColour : (palette[index] ?? otherColour),
  }))
  const total = series.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0)
  const title = `${words[measure]} by ${range.unit}`
  return (
    <UsageFigure
      title={measure === 'kinds' ? `Tokens by kind and ${range.unit}` : title}
      range={range}
      times={times}
      summary={`${title}: ${format(total)} in ${range.label}.`}
      bars={bars}
      {...(columns === undefined ? {} : { tableColumns: columns.map(named) })}
      format={format}
      formatAxis={measure === 'cost' ? formatCost : formatShortCount}
      stepMin={measure === 'cost' ? 0 : 1}
    />
  )
}
