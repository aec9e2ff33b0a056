import { useMemo, type ReactNode } from 'react'
import type { UsageEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount, formatShortCount } from '../ui/format.ts'
import { nameColours, othersColour } from './name-colours.ts'
import { summaryOf } from './range-words.ts'
import { usageMeasures } from './usage-address.ts'
import { UsageFigure } from './usage-figure.tsx'
import { chartData, kindsData, tokenKinds, type Measure, type UsageRange, type UsageSeries } from './usage-sums.ts'

export interface UsageChartProps {
  readonly rows: readonly UsageEntry[]
  readonly range: UsageRange
  readonly measure: Measure
  /** Unix milliseconds. */
  readonly now: number
  readonly nameOf: (name: string) => string
  readonly colourOf: (name: string) => string
}

/** Groups with bars of their own. */
export const barsMax = 6
const kindColourOf = nameColours(tokenKinds)
const kinds: Readonly<Record<string, string>> = say.usage.kinds
/** Groups with a column of their own in the table below the chart. */
const columnsMax = 12

/** The largest groups over time, or tokens by kind, as stacked bars. */
export function UsageChart({ rows, range, measure, now, nameOf, colourOf }: UsageChartProps): ReactNode {
  const { times, series, columns } = useMemo(() => {
    if (measure === 'kinds') return { ...kindsData(rows, range, now), columns: undefined }
    const options = { measure, now }
    const table = chartData(rows, range, { ...options, groupsMax: columnsMax })
    return { ...chartData(rows, range, { ...options, groupsMax: barsMax }), columns: table.series }
  }, [rows, range, measure, now])
  const format = measure === 'cost' ? formatCost : formatCount
  const named = ({ name, values }: UsageSeries) => ({
    name: name === undefined ? say.usage.allOthers : measure === 'kinds' ? (kinds[name] ?? name) : nameOf(name),
    values,
  })
  const bars = series.map((each) => ({
    ...named(each),
    colour: each.name === undefined ? othersColour : (measure === 'kinds' ? kindColourOf : colourOf)(each.name),
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
