import type { ReactNode } from 'react'
import type { Provenance } from '../history/conversation.ts'
import { AttemptsTable } from '../ui/attempts-table.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCost, formatCount, formatMs, markEstimate } from '../ui/format.ts'

/** Props of {@link ProvenanceDetails}. */
export interface ProvenanceDetailsProps {
  readonly provenance: Provenance
}

/** The whole provenance of an answer: attempts, times, tokens, cost, request id. */
export function ProvenanceDetails({ provenance }: ProvenanceDetailsProps): ReactNode {
  const { requestId, trail } = provenance
  const figures = figuresOf(provenance)
  return (
    <div className="flex flex-col gap-1 text-xs text-muted">
      {trail.length === 0 ? null : (
        <div className="max-w-lg">
          <AttemptsTable trail={trail} />
        </div>
      )}
      {figures === '' ? null : <p className="tabular-nums">{figures}</p>}
      <p className="flex items-center gap-x-1">
        Request <code className="min-w-0 font-mono wrap-anywhere">{requestId}</code>
        <CopyButton text={requestId} label="Copy the request’s id" />
      </p>
    </div>
  )
}

function figuresOf({ firstTokenMs, totalMs, promptTokens, completionTokens, cost, isEstimated }: Provenance): string {
  const tokens = (count: number | undefined, direction: string): readonly string[] =>
    count === undefined ? [] : [`${markEstimate(formatCount(count), isEstimated)} tokens ${direction}`]
  return [
    ...(firstTokenMs === undefined ? [] : [`first token ${formatMs(firstTokenMs)}`]),
    ...(totalMs === undefined ? [] : [`total ${formatMs(totalMs)}`]),
    ...tokens(promptTokens, 'in'),
    ...tokens(completionTokens, 'out'),
    ...(cost === undefined ? [] : [markEstimate(formatCost(cost), isEstimated)]),
  ].join(' · ')
}
