import type { ReactNode } from 'react'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import type { Provenance } from '../history/conversation.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCost, formatCount, formatMs, inWords, markEstimate } from '../ui/format.ts'

/** The whole provenance of an answer: attempts, times, tokens, cost, request id. */
export function ProvenanceDetails({ provenance }: { readonly provenance: Provenance }): ReactNode {
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

/** Table of the attempts of a request: provider, outcome, status, time. Inherits the font size. */
function AttemptsTable({
  trail,
  hasCaption = false,
}: {
  readonly trail: readonly TrailEntry[]
  readonly hasCaption?: boolean
}): ReactNode {
  return (
    <table className="w-full text-left tabular-nums">
      <caption className={hasCaption ? 'pb-1 text-left font-medium' : 'sr-only'}>
        {say.ui.attempts(trail.length)}
      </caption>
      <thead className="text-xs text-muted">
        <tr>
          {[say.common.provider, say.ui.outcome, say.common.status, say.common.time].map((name) => (
            <th key={name} scope="col" className="py-0.5 pr-3 font-medium last:pr-0 last:text-right">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="text-ink">
        {trail.map(({ provider, failure, status, ms }, index) => (
          <tr key={index} className="border-t border-line">
            <th scope="row" className="min-w-20 py-1 pr-3 font-medium wrap-anywhere">
              {provider}
            </th>
            <td className={`pr-3 ${failure === undefined ? 'text-ok' : 'text-bad'}`}>
              <span aria-hidden="true">{failure === undefined ? '✓' : '✗'} </span>
              {failure === undefined ? say.ui.answered : inWords(failure)}
            </td>
            <td className="pr-3">{status ?? <span className="text-muted">{say.common.noneOfThese}</span>}</td>
            <td className="text-right">{formatMs(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
