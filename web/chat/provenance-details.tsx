import type { ReactNode } from 'react'
import type { Provenance } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCost, formatCount, formatMs, markEstimate } from '../ui/format.ts'
import { TrailList } from '../ui/trail-list.tsx'

const line = 'border-t border-line pt-3'

/** The whole provenance of an answer: attempts, then first token, tokens, cost and request id. */
export function ProvenanceDetails({ provenance }: { readonly provenance: Provenance }): ReactNode {
  const { requestId, trail, firstTokenMs, promptTokens, completionTokens, cost, isEstimated } = provenance
  const count = (tokens = 0): string => markEstimate(formatCount(tokens), isEstimated)
  return (
    <div className="flex flex-col gap-2 text-sm">
      {trail.length === 0 ? null : <TrailList trail={trail} label={say.ui.attempts(trail.length)} />}
      <dl className={`flex flex-wrap gap-x-8 gap-y-2 tabular-nums ${trail.length === 0 ? '' : line}`}>
        {firstTokenMs === undefined ? null : <Figure name={say.common.firstToken}>{formatMs(firstTokenMs)}</Figure>}
        {promptTokens === undefined && completionTokens === undefined ? null : (
          <Figure name={say.common.tokens}>{say.common.inAndOut(count(promptTokens), count(completionTokens))}</Figure>
        )}
        {cost === undefined ? null : (
          <Figure name={say.common.cost}>{markEstimate(formatCost(cost), isEstimated)}</Figure>
        )}
        <Figure name={say.chat.request}>
          <code className="font-mono">{requestId}</code>
          <CopyButton text={requestId} label={say.chat.copyRequestId} />
        </Figure>
      </dl>
    </div>
  )
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="flex min-h-9 items-center gap-1 text-ink wrap-anywhere">{children}</dd>
    </div>
  )
}
