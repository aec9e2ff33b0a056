import { useMemo, type ReactNode } from 'react'
import type { FailureEntry, TimesEntry, UsageAnswer } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatCount, formatMs, formatShortCount, inWords } from '../ui/format.ts'
import { nameColours, othersColour } from './name-colours.ts'
import { summaryOf } from './range-words.ts'
import { UsageFigure } from './usage-figure.tsx'
import { failureData, startOf, timesOf, type UsageRange } from './usage-sums.ts'

interface OutcomeProps {
  readonly range: UsageRange
  /** Unix milliseconds. */
  readonly now: number
}

/** Speed and failures of all answers, for owners. */
export function OutcomeCharts({ answer, ...props }: OutcomeProps & { readonly answer: UsageAnswer }): ReactNode {
  const { times = [], failures = [] } = answer
  if (times.length + failures.length === 0) return null
  return (
    <section aria-label={say.usage.speed} className="grid grid-cols-1 gap-4 @4xl:grid-cols-2">
      <TimesChart {...props} title={say.usage.times.firstToken} times={times} p50="firstTokenP50" p95="firstTokenP95" />
      <TimesChart {...props} title={say.usage.times.total} times={times} p50="totalP50" p95="totalP95" />
      <FailuresChart {...props} title={say.usage.failures.requests} failures={failures} of="requests" />
      <FailuresChart {...props} title={say.usage.failures.attempts} failures={failures} of="attempts" />
    </section>
  )
}

type Percentile = Exclude<keyof TimesEntry, 'answers' | 'streams'>

function TimesChart({
  title,
  times: entries,
  range,
  now,
  p50,
  p95,
}: OutcomeProps & {
  readonly title: string
  readonly times: NonNullable<UsageAnswer['times']>
  readonly p50: Percentile
  readonly p95: Percentile
}): ReactNode {
  const times = useMemo(() => timesOf(range, entries, now), [range, entries, now])
  const byTime = new Map(entries.map((entry) => [startOf(entry.time, range.unit), entry]))
  const values = (name: Percentile): readonly (number | undefined)[] => times.map((time) => byTime.get(time)?.[name])
  const most = Math.max(0, ...values(p95).map((value) => value ?? 0))
  return (
    <UsageFigure
      title={say.usage.percentiles(title)}
      range={range}
      times={times}
      summary={summaryOf(
        say.usage.byUnit(title, say.requests.units[range.unit]),
        range,
        most === 0 ? say.usage.nothingMeasured : say.usage.within(formatMs(most)),
      )}
      lines={[
        { name: 'p50', values: values(p50), colour: 'text-ink' },
        { name: 'p95', values: values(p95), colour: 'text-muted', isDashed: true },
      ]}
      format={formatMs}
      formatAxis={(ms) => (ms >= 10_000 ? `${formatCount(ms / 1_000)} s` : formatMs(ms))}
    />
  )
}

/** Classes with bars of their own. */
const classesMax = 4

function FailuresChart({
  title,
  failures,
  range,
  now,
  of,
}: OutcomeProps & {
  readonly title: string
  readonly failures: readonly FailureEntry[]
  readonly of: 'requests' | 'attempts'
}): ReactNode {
  const { times, series } = useMemo(
    () => failureData(failures, range, { of, now, classesMax }),
    [failures, range, of, now],
  )
  const colourOf = nameColours(
    [],
    series.flatMap(({ name }) => name ?? []),
  )
  const total = failures.reduce((sum, failure) => sum + failure[of], 0)
  return (
    <UsageFigure
      title={title}
      range={range}
      times={times}
      summary={summaryOf(title, range, formatCount(total))}
      bars={series.map(({ name, values }) => ({
        name: name === undefined ? say.usage.allOthers : inWords(name),
        values,
        colour: name === undefined ? othersColour : colourOf(name),
      }))}
      format={formatCount}
      formatAxis={formatShortCount}
    />
  )
}
