import type { ReactNode } from 'react'
import { FileStrip } from '../files/lazy-file-strip.tsx'
import type { UserMessage } from '../history/conversation.ts'
import { ImageStrip } from '../images/lazy-image-strip.tsx'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { lazily } from '../ui/lazily.tsx'
import type { MessageActions } from './message-actions.ts'

const EditMessage = lazily(async () => (await import('./chat-tools.ts')).EditMessage)

export interface UserMessageProps {
  readonly message: UserMessage
  /** Whether it has no answer. */
  readonly isLast: boolean
  readonly isEdited: boolean
  readonly actions: MessageActions
}

const bubble = 'min-w-0 rounded-2xl border border-transparent bg-hover px-4 py-2 whitespace-pre-wrap wrap-anywhere'

/** A person's message, or its editor. */
export function UserMessageView({ message, isLast, isEdited, actions }: UserMessageProps): ReactNode {
  if (isEdited)
    return (
      <EditMessage
        message={message}
        onSend={(draft) => actions.sendEdited(message.id, draft)}
        onCancel={() => actions.edit()}
      />
    )
  return (
    <div className="group flex flex-col items-end gap-1">
      <h2 className="sr-only">{say.common.youSaid}</h2>
      <ImageStrip images={message.images} />
      <FileStrip files={message.files} />
      <div
        className={
          'flex max-w-full flex-col items-end max-sm:max-w-[85%] pointer-fine:flex-row-reverse ' +
          'pointer-fine:items-center'
        }
      >
        {message.text === '' ? null : (
          <p dir="auto" className={bubble}>
            {message.text}
          </p>
        )}
        <div
          className={
            'flex shrink-0 transition-opacity group-hover:opacity-100 focus-within:opacity-100 ' +
            'pointer-fine:opacity-0'
          }
        >
          {message.text === '' ? null : <CopyButton text={message.text} label={say.chat.copyMessage} />}
          {isLast ? <IconButton label={say.common.retry} icon="retry" onClick={actions.retry} /> : null}
          <IconButton label={say.chat.editMessage} icon="edit" onClick={() => actions.edit(message.id)} />
          <IconButton label={say.chat.fork} icon="fork" onClick={() => actions.fork(message.id)} />
          <IconButton label={say.chat.deleteMessage} icon="trash" onClick={() => actions.remove(message.id)} />
        </div>
      </div>
    </div>
  )
}
