import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
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
  const part = isPartial ? say.requests.ofRequestsBelow : say.requests.ofStreams
  const tokens = (count: number): string => markEstimate(formatShortCount(count), isEstimated)
  const unpricedText =
    unpriced === 0
      ? ''
      : cost === undefined
        ? say.requests.unpriced(formatCount(unpriced))
        : say.requests.unpricedToo(formatCount(unpriced))
  const costText =
    cost === undefined
      ? unpricedText
      : `, ${markEstimate(formatCost(cost), isEstimated)}${unpricedText}${isPartial ? say.requests.forThese : ''}`
  return (
    <dl className="grid grid-cols-2 gap-3 @3xl:grid-cols-4">
      <Stat name={say.views.requests} value={formatCount(requests)} more={say.requests.hourBefore} />
      <Stat
        name={say.requests.errors}
        value={errorShare === undefined ? undefined : formatShare(errorShare)}
        more={
          errorShare === undefined
            ? say.requests.noRequests
            : say.requests.errorsOf(formatCount(errors), formatCount(requests))
        }
      />
      <Stat
        name={say.requests.firstTokenP95}
        value={firstTokenP95 === undefined ? undefined : formatMs(firstTokenP95)}
        more={firstTokenP95 === undefined ? say.requests.noStreams : part}
      />
      <Stat
        name={say.common.tokens}
        value={tokens(promptTokens + completionTokens)}
        more={say.common.inAndOut(tokens(promptTokens), tokens(completionTokens)) + costText}
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
