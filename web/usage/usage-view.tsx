import { useEffect, useMemo, useState, type ReactNode } from 'react'
import type { ModelEntry, UsageAnswer } from '../../src/http/page/page-api.ts'
import { currentRoute, hrefOf } from '../app/route.ts'
import { View } from '../app/view.tsx'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Figure, Figures } from '../ui/figures.tsx'
import { formatAgo, formatCost, formatCount, formatShare, formatShortCount } from '../ui/format.ts'
import { Choice, Labelled, smallLook, type FieldLook } from '../ui/labelled.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useAnswer } from '../ui/use-answer.ts'
import { useNow } from '../ui/use-now.ts'
import { nameColours, othersColour } from './name-colours.ts'
import { OutcomeCharts } from './outcome-charts.tsx'
import { spanOf } from './range-words.ts'
import { SaveButton } from './save-button.tsx'
import {
  isKey,
  readUsageChoice,
  shortName,
  usageGroups,
  usageMeasures,
  visibleChoice,
  writeUsageChoice,
  type UsageChoice,
  type UsageGroupName,
} from './usage-address.ts'
import { barsMax, UsageChart } from './usage-chart.tsx'
import {
  groupSums,
  largestOf,
  ownRange,
  tokensOf,
  usageQuery,
  usageRanges,
  writeDate,
  type Measure,
  type UsageRange,
  type UsageSum,
} from './usage-sums.ts'
import { costOf, pricedOf, totalOf, UsageTable } from './usage-table.tsx'

const nameless = say.usage.nameless
const refreshMs = 60_000
/** The choice of time that shows two dates. */
const own = 'own'
const dayMs = 86_400_000

/** Use and cost: of all people for owners, else of the person; of a team for its leads. */
export function UsageView(): ReactNode {
  const {
    boot: { isOwner, teams = [] },
  } = useServices()
  const [choice, choose] = useUsageChoice()
  const { range, by, measure, team } = visibleChoice(choice, isOwner, teams)
  const path = (): string => pathOf(range, by, team)
  const { answer, error, reload } = useAnswer<UsageAnswer>(
    path,
    `${shortName(range)} ${range.last ?? ''} ${by} ${team ?? ''}`,
    refreshMs,
  )
  const now = useNow(10_000)
  return (
    <View
      title={say.views.usage}
      actions={<SaveButton path={() => `${path()}&format=csv`} name={`usage-by-${by}.csv`} />}
      about={
        <>
          {purposeOf(isOwner, team)} <Age answer={answer} now={now} />
        </>
      }
    >
      <div className="flex flex-wrap gap-3">
        {teams.length === 0 ? null : (
          <Choice
            label={say.keys.whose}
            look={choiceLook}
            value={team ?? ''}
            options={[
              ['', isOwner ? say.usage.ofAll : say.keys.mine],
              ...teams.map((name) => [name, say.keys.ofTeam(name)] as const),
            ]}
            onChange={(name) => choose({ team: name })}
          />
        )}
        <Choice
          label={say.usage.time}
          look={choiceLook}
          value={range.last === undefined ? shortName(range) : own}
          options={[
            ...usageRanges.map((each) => [shortName(each), lastWords(each)] as const),
            [own, say.usage.ownDates],
          ]}
          onChange={(name) =>
            choose({ range: usageRanges.find((each) => shortName(each) === name) ?? datesOf(range, Date.now()) })
          }
        />
        {range.last === undefined ? null : <Dates range={range} onChange={(next) => choose({ range: next })} />}
        <Choice
          label={say.usage.by}
          look={choiceLook}
          value={by}
          options={Object.entries(usageGroups).filter(([group]) => group !== 'team' || (isOwner && team === undefined))}
          onChange={(next) => choose(isKey(usageGroups, next) ? { by: next } : {})}
        />
        <Choice
          label={say.usage.chart}
          look={choiceLook}
          value={measure}
          options={Object.entries(usageMeasures)}
          onChange={(next) => choose(isKey(usageMeasures, next) ? { measure: next } : {})}
        />
      </div>
      {error === undefined ? null : (
        <Notice
          kind={answer === undefined ? 'error' : 'warn'}
          title={say.usage.cannotBeShown}
          actions={<Button onClick={reload}>{say.common.tryAgain}</Button>}
        >
          {error}
        </Notice>
      )}
      {answer === undefined ? (
        error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <Usage answer={answer} by={by} measure={measure} range={range} now={now} />
      )}
    </View>
  )
}

/** The path of a question that is asked now. */
function pathOf(range: UsageRange, by: UsageGroupName, team: string | undefined): string {
  const ofTeam = team === undefined ? '' : `&team=${encodeURIComponent(team)}`
  return `/api/usage?${usageQuery(range, by, Date.now())}${ofTeam}`
}

function purposeOf(isOwner: boolean, team: string | undefined): string {
  if (team !== undefined) return say.usage.ofTeam(team)
  return isOwner ? say.usage.all : say.usage.mine
}

function Usage({
  answer,
  by,
  measure,
  range,
  now,
}: {
  readonly answer: UsageAnswer
  readonly by: UsageGroupName
  readonly measure: Measure
  readonly range: UsageRange
  readonly now: number
}): ReactNode {
  const { rows, isCut } = answer
  const sums = useMemo(() => groupSums(rows), [rows])
  const total = useMemo(() => totalOf(sums), [sums])
  const drawn = useMemo(() => largestOf(sums, measure, barsMax), [sums, measure])
  const colourOf = useNameColours(by, drawn)
  const nameOf = (name: string): string => (name === '' ? nameless[by] : name)
  if (rows.length === 0)
    return <p className="rounded-xl border border-line bg-panel p-8 text-center">{say.usage.nothing(spanOf(range))}</p>
  return (
    <>
      {isCut === true ? (
        <Notice kind="warn" title={say.usage.cut}>
          {say.usage.cutAdvice}
        </Notice>
      ) : null}
      <Totals total={total} />
      <UsageChart rows={rows} range={range} measure={measure} now={now} nameOf={nameOf} colourOf={colourOf} />
      <UsageTable
        {...{ by, sums, total, nameOf }}
        groups={answer.groups}
        {...(measure === 'kinds' ? {} : { colourOf: (name) => (drawn.includes(name) ? colourOf(name) : othersColour) })}
      />
      <OutcomeCharts answer={answer} range={range} now={now} />
    </>
  )
}

/** Colours by name. Those of models and providers that exist depend on all of them, not on those that were used. */
function useNameColours(by: UsageGroupName, drawn: readonly (string | undefined)[]): (name: string) => string {
  const state = useStore(useServices().models.state)
  const models = state.kind === 'ready' ? state.answer.models : none
  return useMemo(() => {
    const shown = drawn.filter((name) => name !== undefined)
    if (by === 'provider')
      return nameColours(
        models.flatMap(({ offers }) => offers.map(({ provider }) => provider)),
        shown,
      )
    return nameColours(by === 'model' ? models.map(({ name }) => name) : [], shown)
  }, [by, models, drawn])
}

const none: readonly ModelEntry[] = []

/** Sums of the range. Costs are apart by how sure they are. */
function Totals({ total }: { readonly total: UsageSum }): ReactNode {
  const { requests, errors, left, reportedCost, estimatedCost, unpriced, estimated } = total
  const failed = formatShare(requests === 0 ? 0 : errors / requests)
  const prompt = total.inputTokens + total.cachedTokens + total.cacheWriteTokens
  const parts = say.usage.costParts(formatCost(pricedOf(total)), formatCost(reportedCost), formatCost(estimatedCost))
  return (
    <Figures>
      <Figure name={say.common.cost} value={costOf(total)} more={parts} />
      <Figure
        name={say.usage.columns.unpriced}
        value={formatCount(unpriced)}
        more={say.usage.unpricedMore(formatCount(estimated))}
      />
      <Figure
        name={say.views.requests}
        value={formatCount(requests)}
        more={say.usage.failed(formatCount(errors), failed, formatCount(left))}
      />
      <Figure
        name={say.common.tokens}
        value={formatShortCount(tokensOf(total))}
        more={say.common.inAndOut(formatShortCount(prompt), formatShortCount(tokensOf(total) - prompt))}
      />
    </Figures>
  )
}

/** When the sums were written, and in which time zone days begin. */
function Age({ answer, now }: { readonly answer: UsageAnswer | undefined; readonly now: number }): ReactNode {
  if (answer === undefined) return null
  const { writtenAt, timeZone } = answer
  const age = writtenAt === undefined ? say.usage.nothingWritten : say.usage.written(formatAgo(writtenAt, now))
  return `${age}; ${say.usage.days(timeZone)}`
}

/** The choice of the address, which follows it. */
function useUsageChoice(): readonly [UsageChoice, (change: Partial<UsageChoice>) => void] {
  const [choice, setChoice] = useState(() => readUsageChoice(location.hash))
  useEffect(() => {
    const read = (): void => {
      if (currentRoute().view === 'usage') setChoice(readUsageChoice(location.hash))
    }
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return [
    choice,
    (change) => {
      const next = { ...choice, ...change }
      setChoice(next)
      const query = writeUsageChoice(next)
      const address = hrefOf({ view: 'usage' })
      history.replaceState(history.state, '', query === '' ? address : `${address}?${query}`)
    },
  ]
}

/** A range as an option, such as `Last 7 days`. */
function lastWords({ unit, count }: UsageRange): string {
  return unit === 'hour' ? say.usage.last.hours(count) : say.usage.last.days(count)
}

/** The days of a range as dates that can be changed. */
function datesOf({ unit, count }: UsageRange, now: number): UsageRange {
  const last = writeDate(now)
  const first = writeDate(now - (unit === 'hour' ? 0 : count - 1) * dayMs)
  return ownRange(first, last) ?? usageRanges[1]
}

/** Two dates. What is no range yet stays as it was typed, and changes nothing. */
function Dates({
  range,
  onChange,
}: {
  readonly range: UsageRange
  readonly onChange: (range: UsageRange) => void
}): ReactNode {
  const { last = 0, count } = range
  const [typed, setTyped] = useState({ from: writeDate(last - (count - 1) * dayMs), to: writeDate(last) })
  return (['from', 'to'] as const).map((name) => (
    <Labelled key={name} label={say.usage[name]} look={look}>
      {(field) => (
        <input
          {...field}
          type="date"
          value={typed[name]}
          onChange={({ target }) => {
            const next = { ...typed, [name]: target.value }
            setTyped(next)
            const found = ownRange(next.from, next.to)
            if (found !== undefined) onChange(found)
          }}
        />
      )}
    </Labelled>
  ))
}

const look: FieldLook = { ...smallLook, field: `${smallLook.field} @2xl:text-sm pointer-coarse:text-base` }
const choiceLook: FieldLook = { ...look, box: 'flex min-w-32 flex-col gap-1' }
