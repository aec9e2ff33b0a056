import { useState, type ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { Icon } from '../ui/icon.tsx'
import { lazily } from '../ui/lazily.tsx'
import { summarize } from './provenance.ts'

/** Attempts, times, tokens, cost and request id of an answer. */
export const ProvenanceDetails = lazily(async () => (await import('./chat-tools.ts')).ProvenanceDetails, {
  placeholder: <p>{say.common.loading}</p>,
})

/** Provenance of an answer in one line: model, provider, cost. Opens to everything else. */
export function ProvenanceLine({
  answer: { provenance, error },
  isLast,
}: {
  readonly answer: AssistantMessage
  readonly isLast: boolean
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  // The error of the last answer shows it among its details.
  if (provenance === undefined || (isLast && error !== undefined)) return <span />
  return (
    <details
      className="group/origin min-w-0 flex-1 text-xs text-muted"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary
        className={
          'inline-flex min-h-9 w-fit max-w-full list-none items-center gap-1 rounded-md pointer-coarse:min-h-11 ' +
          '[&::-webkit-details-marker]:hidden'
        }
      >
        <span className="min-w-0 wrap-anywhere">{summarize(provenance)}</span>
        <Icon name="chevron" className="size-3.5 transition-transform group-open/origin:rotate-180" />
      </summary>
      {isOpen ? (
        <div className="mt-1 rounded-lg border border-line bg-panel p-2">
          <ProvenanceDetails provenance={provenance} />
        </div>
      ) : null}
    </details>
  )
}
