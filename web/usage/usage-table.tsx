import type { ReactNode } from 'react'
import type { TimesEntry, UsageAnswer } from '../../src/http/page/page-api.ts'
import { Square } from '../requests/chart-parts.tsx'
import type { Texts } from '../texts/en.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount, formatMs, formatShortCount, markEstimate } from '../ui/format.ts'
import { usageGroups, type UsageGroupName } from './usage-address.ts'
import { sumOf, type UsageSum } from './usage-sums.ts'

export interface UsageTableProps {
  /** What the sums are of. */
  readonly by: UsageGroupName
  readonly sums: readonly UsageSum[]
  readonly total: UsageSum
  /** Speed by the same names. */
  readonly groups?: UsageAnswer['groups'] | undefined
  readonly nameOf: (name: string) => string
  /** The colour of a name in the chart. Absent: the chart has none of them. */
  readonly colourOf?: (name: string) => string
}

interface Column {
  readonly name: keyof Texts['usage']['columns']
  readonly of: (sum: UsageSum & { readonly isTotal?: true }) => string
}

const columns: readonly Column[] = [
  { name: 'requests', of: ({ requests }) => formatCount(requests) },
  { name: 'errors', of: ({ errors }) => formatCount(errors) },
  { name: 'left', of: ({ left }) => formatCount(left) },
  { name: 'input', of: ({ inputTokens }) => formatShortCount(inputTokens) },
  { name: 'cached', of: ({ cachedTokens }) => formatShortCount(cachedTokens) },
  { name: 'cacheWrites', of: ({ cacheWriteTokens }) => formatShortCount(cacheWriteTokens) },
  { name: 'output', of: ({ outputTokens }) => formatShortCount(outputTokens) },
  { name: 'reasoning', of: ({ reasoningTokens }) => formatShortCount(reasoningTokens) },
  { name: 'priced', of: (sum) => formatCost(pricedOf(sum)) },
  { name: 'reported', of: ({ reportedCost }) => formatCost(reportedCost) },
  { name: 'estimated', of: ({ estimatedCost }) => markEstimate(formatCost(estimatedCost), estimatedCost > 0) },
  { name: 'saved', of: ({ saved }) => formatCost(saved) },
  { name: 'unpriced', of: ({ unpriced }) => formatCount(unpriced) },
  { name: 'cost', of: costOf },
]

/** Columns of speed, which has no sum. */
function timesColumns(groups: NonNullable<UsageAnswer['groups']>): readonly Column[] {
  const byName = new Map(groups.map((group) => [group.name, group]))
  const column = (member: Exclude<keyof TimesEntry, 'answers' | 'streams'>): Column => ({
    name: member,
    of({ name, isTotal }) {
      const ms = isTotal === true ? undefined : byName.get(name)?.[member]
      return ms === undefined ? '–' : formatMs(ms)
    },
  })
  const all = [column('firstTokenP50'), column('firstTokenP95'), column('totalP50'), column('totalP95')]
  return groups.length === 0 ? [] : groups.some(({ streams }) => streams > 0) ? all : all.slice(2)
}

/** The cost; of answers of which none has a price `unknown`, since it is not 0. */
export function costOf({ cost, unpriced }: Pick<UsageSum, 'cost' | 'unpriced'>): string {
  return cost === 0 && unpriced > 0 ? say.requests.unknown : formatCost(cost)
}

/** The part of a cost that svc computed from counted tokens. Parts of binary fractions may be a little below 0. */
export function pricedOf({ cost, reportedCost, estimatedCost }: UsageSum): number {
  return Math.max(0, Math.round((cost - reportedCost - estimatedCost) * 1e9) / 1e9)
}

const zeros: readonly string[] = [formatCount(0), formatCost(0)]

/** The columns to show: requests, cost, and those with a value that is neither 0 nor the whole cost. */
export function filledColumns(sums: readonly UsageSum[]): readonly Column[] {
  const isFilled = ({ of }: Column) => sums.some((sum) => !zeros.includes(of(sum)))
  const isAllPriced = sums.every((sum) => pricedOf(sum) === sum.cost)
  return columns.filter(
    (column) =>
      column.name === 'requests' ||
      column.name === 'cost' ||
      (isFilled(column) && !(column.name === 'priced' && isAllPriced)),
  )
}

/** Sums by name, with a last row of all. Scrolls sideways where it does not fit. */
export function UsageTable({ by, sums, groups = [], total, nameOf, colourOf }: UsageTableProps): ReactNode {
  const shown = [...filledColumns([...sums, total]), ...timesColumns(groups)]
  return (
    <div
      className="overflow-x-auto rounded-xl border border-line bg-panel"
      tabIndex={0}
      role="region"
      aria-label={say.usage.table(say.usage.groupsIn[by])}
    >
      <table className="w-full text-right text-sm whitespace-nowrap tabular-nums">
        <caption className="sr-only">{say.usage.tableBy(say.usage.groupsIn[by])}</caption>
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="sticky left-0 bg-panel px-3 py-2 text-start font-medium">
              {usageGroups[by]}
            </th>
            {shown.map((column) => (
              <th key={column.name} scope="col" className="px-3 py-2 font-medium">
                {say.usage.columns[column.name]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <UsageTableRow
              key={sum.name}
              columns={shown}
              sum={sum}
              name={nameOf(sum.name)}
              colour={colourOf?.(sum.name)}
            />
          ))}
        </tbody>
        <tfoot className="font-medium">
          <UsageTableRow columns={shown} sum={{ ...total, isTotal: true }} name={say.usage.total} />
        </tfoot>
      </table>
    </div>
  )
}

function UsageTableRow({
  columns: shown,
  sum,
  name,
  colour,
}: {
  readonly columns: readonly Column[]
  readonly sum: UsageSum & { readonly isTotal?: true }
  readonly name: string
  readonly colour?: string | undefined
}): ReactNode {
  return (
    <tr className="border-t border-line">
      <th
        scope="row"
        className="sticky left-0 max-w-48 truncate bg-panel px-3 py-2 text-start font-normal"
        title={name}
      >
        {colour === undefined ? null : <Square className={`me-2 inline ${colour}`} />}
        {name}
      </th>
      {shown.map(({ name: column, of }) => (
        <td key={column} className="px-3 py-2">
          {of(sum)}
        </td>
      ))}
    </tr>
  )
}

/** The sum of all. */
export function totalOf(sums: readonly UsageSum[]): UsageSum {
  return sumOf(
    '',
    sums.map((sum) => ({ ...sum, time: '' })),
  )
}
