import { memo, type ReactNode } from 'react'
import type { Message } from '../history/conversation.ts'
import type { VersionPlace } from '../history/tree.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { AnswerView } from './answer-view.tsx'
import type { MessageActions } from './message-actions.ts'
import type { Follow } from './use-follow.ts'
import { UserMessageView } from './user-message-view.tsx'

export interface MessageListProps {
  readonly messages: readonly Message[]
  /** Places of messages that have other versions, by id. */
  readonly places: ReadonlyMap<string, VersionPlace>
  /** The message in the editor. */
  readonly editedId: string | undefined
  /** Whether another tab is receiving the last answer, if that is interrupted. `undefined`: not known yet. */
  readonly isAnsweredElsewhere: boolean | undefined
  readonly actions: MessageActions
  readonly follow: Follow
  /** Content below the messages. */
  readonly children?: ReactNode
}

/** The messages. Growing text is not read by screen readers; see {@link useAnnouncements}. */
export function MessageList({
  messages,
  places,
  editedId,
  isAnsweredElsewhere,
  actions,
  follow: { list, content, isAtEnd, toEnd },
  children,
}: MessageListProps): ReactNode {
  const last = messages.length - 1
  return (
    <div className="relative min-h-0 flex-1 in-data-empty:flex-none">
      <div
        ref={list}
        role="log"
        aria-live="off"
        aria-label={say.chat.messages}
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain [scrollbar-gutter:stable]"
      >
        <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-4 px-4 py-4">
          {messages.map((message, index) => (
            // Versions follow the same message, so the buttons between them stay in place, with the focus.
            <MessageView
              key={messages[index - 1]?.id ?? ''}
              message={message}
              version={places.get(message.id)?.version}
              versionCount={places.get(message.id)?.count}
              isLast={index === last}
              isEdited={message.id === editedId}
              isAnsweredElsewhere={index === last ? isAnsweredElsewhere : false}
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
            {say.chat.jump}
          </Button>
        </div>
      )}
    </div>
  )
}

interface MessageViewProps {
  readonly message: Message
  /** Absent, as is the count: there is one version. */
  readonly version: number | undefined
  readonly versionCount: number | undefined
  readonly isLast: boolean
  readonly isEdited: boolean
  readonly isAnsweredElsewhere: boolean | undefined
  /** Far from the end: not laid out and painted while out of view. */
  readonly isOld: boolean
  readonly actions: MessageActions
}

const MessageView = memo(function MessageView({
  message,
  version,
  versionCount,
  isLast,
  isEdited,
  isAnsweredElsewhere,
  isOld,
  actions,
}: MessageViewProps): ReactNode {
  // `content-visibility` clips its content: the padding leaves space for focus outlines.
  const className = isOld ? '-m-2 p-2 [contain-intrinsic-size:auto_12rem] [content-visibility:auto]' : '-m-2 p-2'
  return (
    <article aria-label={message.role === 'user' ? say.chat.yourMessage : say.common.answer} className={className}>
      {message.role === 'user' ? (
        <UserMessageView message={message} isLast={isLast} isEdited={isEdited} actions={actions} />
      ) : (
        <AnswerView answer={message} isLast={isLast} isAnsweredElsewhere={isAnsweredElsewhere} actions={actions} />
      )}
      {version === undefined || versionCount === undefined ? null : (
        <div className={message.role === 'user' ? 'flex justify-end' : '-ml-2 flex'}>
          <Versions version={version} count={versionCount} onStep={(step) => actions.stepVersion(message.id, step)} />
        </div>
      )}
    </article>
  )
})

interface VersionsProps extends VersionPlace {
  /** Shows the next version, or with -1 the one before. Both begin again at the other end. */
  readonly onStep: (step: 1 | -1) => void
}

/** Below a message: which of its versions is shown, and buttons for the others. */
function Versions({ version, count, onStep }: VersionsProps): ReactNode {
  return (
    <div role="group" aria-label={say.chat.versions} className="flex items-center text-sm text-muted">
      <IconButton label={say.chat.previousVersion} icon="chevron" className="rotate-90" onClick={() => onStep(-1)} />
      <span className="tabular-nums" aria-hidden="true">
        {version}/{count}
      </span>
      <span className="sr-only">{say.chat.versionOf(formatCount(version), formatCount(count))}</span>
      <IconButton label={say.chat.nextVersion} icon="chevron" className="-rotate-90" onClick={() => onStep(1)} />
    </div>
  )
}
