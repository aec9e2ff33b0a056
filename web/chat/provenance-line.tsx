import { Fragment, type ReactNode } from 'react'
import type { Provenance } from '../history/conversation.ts'
import { AttemptsTable } from '../ui/attempts-table.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCost, formatCount, formatMs, markEstimate } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { TrailLine } from '../ui/trail.tsx'

/**
 * Provenance of an answer: provider, failed attempts, times, tokens, cost. Opens to all attempts and the request id.
 */
export function ProvenanceLine({
  provenance,
  isFailed,
}: {
  readonly provenance: Provenance
  /** Whether the error card shows the attempts. */
  readonly isFailed: boolean
}): ReactNode {
  const { requestId, trail } = provenance
  return (
    <details className="group/origin min-w-0 flex-1 text-xs text-muted">
      <summary
        className={
          'inline-flex min-h-9 w-fit max-w-full list-none items-center gap-1 rounded-md pointer-coarse:min-h-11 ' +
          '[&::-webkit-details-marker]:hidden'
        }
      >
        <span className="min-w-0 wrap-anywhere">
          {partsOf(provenance, isFailed).map((part, index) => (
            <Fragment key={index}>
              {index === 0 ? null : ' · '}
              {part}
            </Fragment>
          ))}
        </span>
        <Icon name="chevron" className="size-3.5 transition-transform group-open/origin:rotate-180" />
      </summary>
      <div className="mt-1 flex flex-col gap-1 rounded-lg border border-line bg-panel p-2">
        {trail.length === 0 ? null : (
          <div className="max-w-lg">
            <AttemptsTable trail={trail} />
          </div>
        )}
        <p className="flex flex-wrap items-center gap-x-1">
          Request <code className="font-mono wrap-anywhere">{requestId}</code>
          <CopyButton text={requestId} label="Copy the request’s id" />
        </p>
      </div>
    </details>
  )
}

function partsOf(
  { provider, model, trail, firstTokenMs, totalMs, promptTokens, completionTokens, cost, isEstimated }: Provenance,
  isFailed: boolean,
): readonly ReactNode[] {
  const hasFailures = !isFailed && (trail.length > 1 || trail.some(({ failure }) => failure !== undefined))
  const tokens = [
    ...(promptTokens === undefined ? [] : [`${markEstimate(formatCount(promptTokens), isEstimated)} in`]),
    ...(completionTokens === undefined ? [] : [`${markEstimate(formatCount(completionTokens), isEstimated)} out`]),
  ].join(', ')
  const parts: readonly ReactNode[] = [
    provider,
    model,
    hasFailures ? <TrailLine trail={trail} /> : undefined,
    firstTokenMs === undefined ? undefined : `first token ${formatMs(firstTokenMs)}`,
    totalMs === undefined ? undefined : formatMs(totalMs),
    tokens === '' ? undefined : tokens,
    cost === undefined ? undefined : markEstimate(formatCost(cost), isEstimated),
  ].filter((part) => part !== undefined)
  return provider === undefined ? ['Details', ...parts] : parts
}
