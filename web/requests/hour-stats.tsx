import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Figure, Figures } from '../ui/figures.tsx'
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
    <Figures>
      <Figure name={say.views.requests} value={formatCount(requests)} more={say.requests.hourBefore} />
      <Figure
        name={say.requests.errors}
        value={errorShare === undefined ? undefined : formatShare(errorShare)}
        more={
          errorShare === undefined
            ? say.requests.noRequests
            : say.requests.errorsOf(formatCount(errors), formatCount(requests))
        }
      />
      <Figure
        name={say.requests.firstTokenP95}
        value={firstTokenP95 === undefined ? undefined : formatMs(firstTokenP95)}
        more={firstTokenP95 === undefined ? say.requests.noStreams : part}
      />
      <Figure
        name={say.common.tokens}
        value={tokens(promptTokens + completionTokens)}
        more={say.common.inAndOut(tokens(promptTokens), tokens(completionTokens)) + costText}
      />
    </Figures>
  )
}
