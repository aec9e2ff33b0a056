import type { ReactNode } from 'react'
import { formatCost, formatCount, formatMs, formatShare, formatShortCount, markEstimate } from '../ui/format.ts'
import type { HourFigures } from './minutes.ts'

/** The last hour in four figures. */
export function HourStats({ figures }: { readonly figures: HourFigures }): ReactNode {
  const {
    requests,
    errors,
    errorShare,
    firstTokenP95,
    promptTokens,
    completionTokens,
    cost,
    unpriced,
    isPartial,
    isEstimated,
  } = figures
  const part = isPartial ? 'of the requests below' : 'of streams'
  const tokens = (count: number): string => markEstimate(formatShortCount(count), isEstimated)
  const unpricedText =
    unpriced === 0 ? '' : `${cost === undefined ? ',' : ' and'} ${formatCount(unpriced)} without a price`
  const costText =
    cost === undefined
      ? unpricedText
      : `, ${markEstimate(formatCost(cost), isEstimated)}${unpricedText}${isPartial ? ' for the requests below' : ''}`
  return (
    <dl className="grid grid-cols-2 gap-3 @3xl:grid-cols-4">
      <Stat name="Requests" value={formatCount(requests)} more="in the last hour" />
      <Stat
        name="Errors"
        value={errorShare === undefined ? undefined : formatShare(errorShare)}
        more={errorShare === undefined ? 'no requests' : `${formatCount(errors)} of ${formatCount(requests)}`}
      />
      <Stat
        name="Time to first token, p95"
        value={firstTokenP95 === undefined ? undefined : formatMs(firstTokenP95)}
        more={firstTokenP95 === undefined ? 'no streams' : part}
      />
      <Stat
        name="Tokens"
        value={tokens(promptTokens + completionTokens)}
        more={`${tokens(promptTokens)} in, ${tokens(completionTokens)} out${costText}`}
      />
    </dl>
  )
}

function Stat({
  name,
  value,
  more,
}: {
  readonly name: string
  readonly value: string | undefined
  readonly more: string
}): ReactNode {
  return (
    <div className="flex min-w-0 flex-col rounded-xl border border-line bg-panel px-4 py-3">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{value ?? '–'}</dd>
      <dd className="text-xs text-muted tabular-nums">{more}</dd>
    </div>
  )
}
