import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { lazily } from '../ui/lazily.tsx'
import { useElapsed } from '../ui/use-elapsed.ts'
import type { ChatState } from './chat-state.ts'

const PhaseNotice = lazily(async () => (await import('./chat-tools.ts')).PhaseNotice)

/** Shown while a conversation is loading, missing or unreadable. */
export function ConversationPhase({
  state: { phase, conversation, failure },
  onRestore,
}: {
  readonly state: ChatState
  readonly onRestore: () => void
}): ReactNode {
  switch (phase) {
    case 'ready':
      return null
    case 'loading':
      return <Skeleton />
    default:
      return <PhaseNotice phase={phase} isEmpty={conversation.messages.length === 0} {...{ failure, onRestore }} />
  }
}

const shownAfterMs = 200

/** Placeholder while messages load slowly. */
function Skeleton(): ReactNode {
  if (!useElapsed(shownAfterMs)) return null
  return (
    <div role="status" className="flex flex-col gap-4">
      <span className="sr-only">{say.common.loading}</span>
      <div className="h-10 w-1/2 animate-pulse self-end rounded-2xl bg-hover" />
      {['w-full', 'w-11/12', 'w-2/3'].map((width) => (
        <div key={width} className={`h-4 animate-pulse rounded bg-hover ${width}`} />
      ))}
    </div>
  )
}
