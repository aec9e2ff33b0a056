import type { ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { useStore } from '../store.ts'
import { announce } from '../ui/announce.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton, copyText } from '../ui/copy-button.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { canReadAloud, reading } from '../voice/reading.ts'
import type { MessageActions } from './message-actions.ts'

/** Props of {@link AnswerTools}. */
export interface AnswerToolsProps {
  readonly answer: AssistantMessage
  readonly isLast: boolean
  readonly actions: MessageActions
}

/** The buttons of an answer. */
export function AnswerTools({ answer, isLast, actions }: AnswerToolsProps): ReactNode {
  const isReading = useStore(reading) === answer.id
  const more: readonly MenuEntry[] = [
    isLast
      ? { label: 'Retry with another model…', icon: 'retry', run: actions.retryWith }
      : { label: 'Retry', icon: 'retry', run: () => actions.retryEarlier(answer.id) },
    { label: 'Edit the question', icon: 'edit', run: () => actions.editQuestion(answer.id) },
    { label: 'Fork from here', icon: 'fork', run: () => actions.fork(answer.id) },
    { label: 'Copy as curl', icon: 'copy', run: () => void copyAsCurl(actions.curl(answer.id)) },
    ...(canReadAloud() && answer.text !== ''
      ? [{ label: 'Read aloud', icon: 'play', run: () => void startReading(answer) } as const]
      : []),
    { label: 'Delete answer', icon: 'trash', isDanger: true, run: () => actions.remove(answer.id) },
  ]
  return (
    <div
      className={
        'flex shrink-0 transition-opacity max-sm:-ml-2 sm:-mr-2 group-hover/answer:opacity-100 ' +
        `focus-within:opacity-100 ${isLast || isReading ? '' : 'pointer-fine:opacity-0'}`
      }
    >
      {answer.text === '' ? null : <CopyButton text={answer.text} label="Copy answer" />}
      {isLast ? <IconButton label="Retry" icon="retry" onClick={actions.retry} /> : null}
      {isReading ? <IconButton label="Stop reading" icon="stop" onClick={() => reading.set('')} /> : null}
      <Menu label="More about this answer" items={more} />
    </div>
  )
}

async function startReading({ id, text }: AssistantMessage): Promise<void> {
  try {
    const { readAloud } = await import('../voice/read-aloud.ts')
    readAloud(id, text)
  } catch {
    announce('Reading aloud did not load: try again')
  }
}

async function copyAsCurl(command: string): Promise<void> {
  announce((await copyText(command)) ? 'Copied' : 'Copying is not possible here')
}
