import type { ReactNode } from 'react'
import type { TimesEntry, UsageAnswer } from '../../src/http/page/page-api.ts'
import { formatCost, formatCount, formatMs, formatShortCount } from '../ui/format.ts'
import { sumOf, type UsageSum } from './usage-sums.ts'

/** Props of {@link UsageTable}. */
export interface UsageTableProps {
  /** Title of the first column. */
  readonly title: string
  readonly sums: readonly UsageSum[]
  readonly total: UsageSum
  /** Speed by the same names. */
  readonly groups?: UsageAnswer['groups'] | undefined
  readonly nameOf: (name: string) => string
}

interface Column {
  readonly title: string
  readonly of: (sum: UsageSum & { readonly isTotal?: true }) => string
}

const columns: readonly Column[] = [
  { title: 'Requests', of: ({ requests }) => formatCount(requests) },
  { title: 'Errors', of: ({ errors }) => formatCount(errors) },
  { title: 'Left', of: ({ left }) => formatCount(left) },
  { title: 'Input', of: ({ inputTokens }) => formatShortCount(inputTokens) },
  { title: 'Cached', of: ({ cachedTokens }) => formatShortCount(cachedTokens) },
  { title: 'Cache writes', of: ({ cacheWriteTokens }) => formatShortCount(cacheWriteTokens) },
  { title: 'Output', of: ({ outputTokens }) => formatShortCount(outputTokens) },
  { title: 'Reasoning', of: ({ reasoningTokens }) => formatShortCount(reasoningTokens) },
  { title: 'Priced', of: (sum) => formatCost(pricedOf(sum)) },
  { title: 'Reported', of: ({ reportedCost }) => formatCost(reportedCost) },
  { title: 'Estimated', of: ({ estimatedCost }) => (estimatedCost === 0 ? '$0' : `≈${formatCost(estimatedCost)}`) },
  { title: 'No price', of: ({ unpriced }) => formatCount(unpriced) },
  { title: 'Cost', of: ({ cost }) => formatCost(cost) },
]

/** Columns of speed, which has no sum. */
function timesColumns(groups: NonNullable<UsageAnswer['groups']>): readonly Column[] {
  const byName = new Map(groups.map((group) => [group.name, group]))
  const column = (title: string, member: Exclude<keyof TimesEntry, 'answers' | 'streams'>): Column => ({
    title,
    of({ name, isTotal }) {
      const ms = isTotal === true ? undefined : byName.get(name)?.[member]
      return ms === undefined ? '–' : formatMs(ms)
    },
  })
  const all = [
    column('First token p50', 'firstTokenP50'),
    column('First token p95', 'firstTokenP95'),
    column('Total p50', 'totalP50'),
    column('Total p95', 'totalP95'),
  ]
  return groups.length === 0 ? [] : groups.some(({ streams }) => streams > 0) ? all : all.slice(2)
}

/** The part of a cost that svc computed from counted tokens. Parts of binary fractions may be a little below 0. */
export function pricedOf({ cost, reportedCost, estimatedCost }: UsageSum): number {
  return Math.max(0, Math.round((cost - reportedCost - estimatedCost) * 1e9) / 1e9)
}

/** The columns to show: requests, cost, and those with a value that is neither 0 nor the whole cost. */
export function filledColumns(sums: readonly UsageSum[]): readonly Column[] {
  const isFilled = ({ of }: Column) => sums.some((sum) => !['0', '$0'].includes(of(sum)))
  const isAllPriced = sums.every((sum) => pricedOf(sum) === sum.cost)
  return columns.filter(
    (column) =>
      column.title === 'Requests' ||
      column.title === 'Cost' ||
      (isFilled(column) && !(column.title === 'Priced' && isAllPriced)),
  )
}

/** Sums by name, with a last row of all. Scrolls sideways where it does not fit. */
export function UsageTable({ title, sums, groups = [], total, nameOf }: UsageTableProps): ReactNode {
  const shown = [...filledColumns([...sums, total]), ...timesColumns(groups)]
  return (
    <div
      className="overflow-x-auto rounded-xl border border-line bg-panel"
      tabIndex={0}
      role="region"
      aria-label={`Use by ${title.toLowerCase()}, as a table`}
    >
      <table className="w-full text-right text-sm whitespace-nowrap tabular-nums">
        <caption className="sr-only">Use by {title.toLowerCase()}, the dearest first</caption>
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="sticky start-0 bg-panel px-3 py-2 text-start font-medium">
              {title}
            </th>
            {shown.map((column) => (
              <th key={column.title} scope="col" className="px-3 py-2 font-medium">
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <UsageTableRow key={sum.name} columns={shown} sum={sum} name={nameOf(sum.name)} />
          ))}
        </tbody>
        <tfoot className="font-medium">
          <UsageTableRow columns={shown} sum={{ ...total, isTotal: true }} name="Total" />
        </tfoot>
      </table>
    </div>
  )
}

function UsageTableRow({
  columns: shown,
  sum,
  name,
}: {
  readonly columns: readonly Column[]
  readonly sum: UsageSum & { readonly isTotal?: true }
  readonly name: string
}): ReactNode {
  return (
    <tr className="border-t border-line">
      <th
        scope="row"
        className="sticky start-0 max-w-48 truncate bg-panel px-3 py-2 text-start font-normal"
        title={name}
      >
        {name}
      </th>
      {shown.map(({ title, of }) => (
        <td key={title} className="px-3 py-2">
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
