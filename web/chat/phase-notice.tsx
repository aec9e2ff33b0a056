import type { ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

export interface PhaseNoticeProps {
  readonly phase: 'missing' | 'unreadable'
  /** Whether nothing of the conversation is shown. */
  readonly isEmpty: boolean
  /** Why it cannot be read. */
  readonly failure: Error | undefined
  readonly onRestore: () => void
}

/** Shown in place of a conversation that is missing or cannot be read. */
export function PhaseNotice({ phase, isEmpty, failure, onRestore }: PhaseNoticeProps): ReactNode {
  switch (phase) {
    case 'missing':
      return (
        <Notice
          kind="warn"
          title={isEmpty ? say.chat.noSuch : say.chat.wasDeleted}
          actions={
            <>
              {isEmpty ? null : (
                <Button icon="retry" onClick={onRestore}>
                  {say.common.keepIt}
                </Button>
              )}
              <ButtonLink href={hrefOf({ view: 'chat' })}>{say.common.newConversation}</ButtonLink>
            </>
          }
        >
          {isEmpty ? say.chat.noSuchAdvice : say.chat.isShownUntil}
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
