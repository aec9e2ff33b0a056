import { useId, useMemo, useState, type ReactNode } from 'react'
import type { UsageAnswer } from '../../src/http/page/page-api.ts'
import { hrefOf } from '../app/route.ts'
import { useServices } from '../services.ts'
import { announce } from '../ui/announce.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { formatAgo, formatCost, formatCount, formatShare, formatShortCount } from '../ui/format.ts'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useAnswer } from '../ui/use-answer.ts'
import { useNow } from '../ui/use-now.ts'
import { UsageChart } from './usage-chart.tsx'
import { groupSums, tokensOf, usageQuery, usageRanges, type Measure, type UsageSum } from './usage-sums.ts'
import { pricedOf, totalOf, UsageTable } from './usage-table.tsx'

const groups = { model: 'Model', provider: 'Provider', person: 'Person', key: 'Key' } as const
const nameless = {
  model: 'no model',
  provider: 'no provider answered',
  person: 'programs and nobody',
  key: 'without a key',
} as const
const refreshMs = 60_000
const measures: Readonly<Record<Measure, string>> = { cost: 'Cost', requests: 'Requests', tokens: 'Tokens' }

type Group = keyof typeof groups

/** The group that the address names, as in `#/usage?by=person`. */
function groupOf(hash: string): Group {
  const named = new URLSearchParams(hash.split('?')[1]).get('by')
  return named !== null && Object.hasOwn(groups, named) ? (named as Group) : 'model'
}

/** Use and cost: of all people for owners, else of the person. */
export function UsageView(): ReactNode {
  const {
    boot: { isOwner },
  } = useServices()
  const [rangeLabel, setRange] = useState<string>(usageRanges[1].label)
  const [by, setBy] = useState<Group>(() => groupOf(location.hash))
  const [measure, setMeasure] = useState<Measure>('cost')
  const range = usageRanges.find(({ label }) => label === rangeLabel) ?? usageRanges[1]
  const { answer, error, reload } = useAnswer<UsageAnswer>(
    () => `/api/usage?${usageQuery(range, by, Date.now())}`,
    `${range.label} ${by}`,
    refreshMs,
  )
  const now = useNow(10_000)
  return (
    <div className="@container">
      <div className="flex flex-col gap-4 p-4 @2xl:p-6">
        <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
          <div>
            <h1 className="text-xl font-semibold">Usage</h1>
            <p className="text-sm text-muted">
              {isOwner ? 'Of all people and programs.' : 'Yours.'} <Age answer={answer} now={now} />
            </p>
          </div>
          <div className="flex flex-wrap gap-2">
            {isOwner ? <ButtonLink href={hrefOf({ view: 'limits' })}>Limits</ButtonLink> : null}
            <Button icon="retry" onClick={reload}>
              Reload
            </Button>
            <SaveButton query={() => usageQuery(range, by, Date.now())} name={`usage-by-${by}.csv`} />
          </div>
        </header>
        <div className="flex flex-wrap gap-3">
          <Choice
            label="Time"
            value={range.label}
            options={usageRanges.map(({ label }) => [label, `Last ${label}`])}
            onChange={setRange}
          />
          <Choice label="By" value={by} options={Object.entries(groups)} onChange={setBy} />
          <Choice label="Chart" value={measure} options={Object.entries(measures)} onChange={setMeasure} />
        </div>
        {error === undefined ? null : (
          <Notice
            kind={answer === undefined ? 'error' : 'warn'}
            title="The use cannot be shown now"
            actions={<Button onClick={reload}>Try again</Button>}
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
      </div>
    </div>
  )
}

function Usage({
  answer,
  by,
  measure,
  range,
  now,
}: {
  readonly answer: UsageAnswer
  readonly by: Group
  readonly measure: Measure
  readonly range: (typeof usageRanges)[number]
  readonly now: number
}): ReactNode {
  const { rows, isCut } = answer
  const sums = useMemo(() => groupSums(rows), [rows])
  const total = useMemo(() => totalOf(sums), [sums])
  const nameOf = (name: string): string => (name === '' ? nameless[by] : name)
  if (rows.length === 0)
    return (
      <p className="rounded-xl border border-line bg-panel p-8 text-center">
        Nothing was used in the last {range.label}.
      </p>
    )
  return (
    <>
      {isCut === true ? (
        <Notice kind="warn" title="There is more than is shown">
          Only the first 20,000 rows are here. Choose a shorter time, or save the CSV file, which has all.
        </Notice>
      ) : null}
      <Figures total={total} />
      <UsageChart rows={rows} range={range} measure={measure} now={now} nameOf={nameOf} />
      <UsageTable title={groups[by]} sums={sums} total={total} nameOf={nameOf} />
    </>
  )
}

/** Sums of the range. Costs are apart by how sure they are. */
function Figures({ total }: { readonly total: UsageSum }): ReactNode {
  const { requests, errors, left, cost, reportedCost, estimatedCost, unpriced, estimated } = total
  const failed = formatShare(requests === 0 ? 0 : errors / requests)
  const prompt = total.inputTokens + total.cachedTokens + total.cacheWriteTokens
  const parts = [
    `${formatCost(pricedOf(total))} priced`,
    `${formatCost(reportedCost)} reported`,
    `≈${formatCost(estimatedCost)} estimated`,
  ]
  return (
    <dl className="grid grid-cols-1 gap-3 @xs:grid-cols-2 @4xl:grid-cols-4">
      <Figure name="Cost" value={formatCost(cost)} more={parts.join(', ')} />
      <Figure
        name="No price"
        value={formatCount(unpriced)}
        more={`answers whose cost is not known; ${formatCount(estimated)} with estimated tokens`}
      />
      <Figure
        name="Requests"
        value={formatCount(requests)}
        more={`${formatCount(errors)} failed (${failed}), ${formatCount(left)} left by their client`}
      />
      <Figure
        name="Tokens"
        value={formatShortCount(tokensOf(total))}
        more={`${formatShortCount(prompt)} in, ${formatShortCount(tokensOf(total) - prompt)} out`}
      />
    </dl>
  )
}

function Figure({
  name,
  value,
  more,
}: {
  readonly name: string
  readonly value: string
  readonly more: string
}): ReactNode {
  return (
    <div className="flex min-w-0 flex-col rounded-xl border border-line bg-panel px-4 py-3">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{value}</dd>
      <dd className="text-xs text-muted tabular-nums">{more}</dd>
    </div>
  )
}

/** When the sums were written, and in which time zone days begin. */
function Age({ answer, now }: { readonly answer: UsageAnswer | undefined; readonly now: number }): ReactNode {
  if (answer === undefined) return null
  const { writtenAt, timeZone } = answer
  const age = writtenAt === undefined ? 'Nothing was written yet' : `Last written ${formatAgo(writtenAt, now)}`
  return `${age}; days are those of ${timeZone}.`
}

function SaveButton({ query, name }: { readonly query: () => string; readonly name: string }): ReactNode {
  const { client } = useServices()

  async function save(): Promise<void> {
    try {
      const response = await client.fetch(`/api/usage?${query()}&format=csv`)
      const link = document.createElement('a')
      link.href = URL.createObjectURL(await response.blob())
      link.download = name
      link.click()
      // The browser may still be reading it.
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    } catch (error) {
      announce(`The file was not saved: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  return (
    <Button icon="download" onClick={() => void save()}>
      CSV
    </Button>
  )
}

function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: Value) => void
}): ReactNode {
  const id = useId()
  return (
    <div className="flex min-w-32 flex-col gap-1">
      <label htmlFor={id} className="text-xs text-muted">
        {label}
      </label>
      <select
        id={id}
        value={value}
        className={
          'min-h-9 rounded-lg border border-muted bg-page px-2 text-base @2xl:text-sm pointer-coarse:min-h-11 ' +
          'pointer-coarse:text-base'
        }
        onChange={({ target }) => {
          const found = options.find(([each]) => each === target.value)
          // The options are values of this choice.
          if (found !== undefined) onChange(found[0] as Value)
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
