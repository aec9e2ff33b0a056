import type { ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { useElapsed } from '../ui/use-elapsed.ts'
import type { ChatState } from './chat-controller.ts'

/** Props of {@link ConversationPhase}. */
export interface ConversationPhaseProps {
  readonly state: ChatState
  readonly onRestore: () => void
}

/** Shown while a conversation is loading, missing or unreadable. */
export function ConversationPhase({
  state: { phase, conversation, failure },
  onRestore,
}: ConversationPhaseProps): ReactNode {
  switch (phase) {
    case 'ready':
      return null
    case 'loading':
      return <Skeleton />
    case 'missing':
      return (
        <Notice
          kind="warn"
          title={conversation.messages.length === 0 ? say.chat.noSuch : say.chat.wasDeleted}
          actions={
            <>
              {conversation.messages.length === 0 ? null : (
                <Button icon="retry" onClick={onRestore}>
                  {say.common.keepIt}
                </Button>
              )}
              <ButtonLink href={hrefOf({ view: 'chat' })}>{say.common.newConversation}</ButtonLink>
            </>
          }
        >
          {conversation.messages.length === 0 ? say.chat.noSuchAdvice : say.chat.isShownUntil}
        </Notice>
      )
    case 'unreadable':
      return (
        <Notice
          kind="error"
          title={say.chat.cannotBeRead}
          actions={<Button onClick={() => location.reload()}>{say.common.reloadPage}</Button>}
        >
          {failure?.message}
        </Notice>
      )
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
