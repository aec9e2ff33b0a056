import type { ReactNode } from 'react'
import type { Provenance } from '../history/conversation.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
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
        {rich(say.chat.request, { id: <code className="min-w-0 font-mono wrap-anywhere">{requestId}</code> })}
        <CopyButton text={requestId} label={say.chat.copyRequestId} />
      </p>
    </div>
  )
}

function figuresOf({ firstTokenMs, totalMs, promptTokens, completionTokens, cost, isEstimated }: Provenance): string {
  const tokens = (count: number | undefined, words: (count: string) => string): readonly string[] =>
    count === undefined ? [] : [words(markEstimate(formatCount(count), isEstimated))]
  return [
    ...(firstTokenMs === undefined ? [] : [say.chat.firstTokenAfter(formatMs(firstTokenMs))]),
    ...(totalMs === undefined ? [] : [say.chat.total(formatMs(totalMs))]),
    ...tokens(promptTokens, say.chat.tokensIn),
    ...tokens(completionTokens, say.chat.tokensOut),
    ...(cost === undefined ? [] : [markEstimate(formatCost(cost), isEstimated)]),
  ].join(' · ')
}
