import { memo, type ReactNode } from 'react'
import type { Message } from '../history/conversation.ts'
import { Button } from '../ui/button.tsx'
import { AnswerView } from './answer-view.tsx'
import type { MessageActions } from './message-actions.ts'
import type { Follow } from './use-follow.ts'
import { UserMessageView } from './user-message-view.tsx'

/** What {@link MessageList} shows. */
export interface MessageListProps {
  readonly messages: readonly Message[]
  /** The message that is being changed. */
  readonly editedId: string | undefined
  /** The last answer is on its way in another tab. */
  readonly isElsewhere: boolean
  readonly actions: MessageActions
  readonly follow: Follow
  /** Below the messages. */
  readonly children?: ReactNode
}

/** The messages. What grows is not read out by itself: announcements say when an answer begins and ends. */
export function MessageList({
  messages,
  editedId,
  isElsewhere,
  actions,
  follow: { list, content, isAtEnd, toEnd },
  children,
}: MessageListProps): ReactNode {
  const last = messages.length - 1
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={list}
        role="log"
        aria-live="off"
        aria-label="Messages"
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain [scrollbar-gutter:stable]"
      >
        <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-4 px-4 py-4">
          {messages.map((message, index) => (
            <MessageView
              key={message.id}
              message={message}
              isLast={index === last}
              isEdited={message.id === editedId}
              isElsewhere={isElsewhere && index === last}
              isOld={index < last - 3}
              actions={actions}
            />
          ))}
          {children}
        </div>
      </div>
      {isAtEnd ? null : (
        <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
          <Button icon="down" className="pointer-events-auto shadow-md" onClick={toEnd}>
            Jump to latest
          </Button>
        </div>
      )}
    </div>
  )
}

interface MessageViewProps {
  readonly message: Message
  readonly isLast: boolean
  readonly isEdited: boolean
  readonly isElsewhere: boolean
  /** Far from the end: neither laid out nor painted while it is not in view. */
  readonly isOld: boolean
  readonly actions: MessageActions
}

const MessageView = memo(function MessageView({
  message,
  isLast,
  isEdited,
  isElsewhere,
  isOld,
  actions,
}: MessageViewProps): ReactNode {
  // What is in it is cut off at its edges: there is room for the outline of what has the focus.
  const className = isOld ? '-m-2 p-2 [contain-intrinsic-size:auto_12rem] [content-visibility:auto]' : '-m-2 p-2'
  return (
    <article aria-label={message.role === 'user' ? 'Your message' : 'Answer'} className={className}>
      {message.role === 'user' ? (
        <UserMessageView message={message} isEdited={isEdited} actions={actions} />
      ) : (
        <AnswerView answer={message} isLast={isLast} isElsewhere={isElsewhere} actions={actions} />
      )}
    </article>
  )
})
