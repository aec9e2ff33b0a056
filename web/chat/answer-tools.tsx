import type { ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { announce } from '../ui/announce.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton, copyText } from '../ui/copy-button.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import type { MessageActions } from './message-actions.ts'

/** Props of {@link AnswerTools}. */
export interface AnswerToolsProps {
  readonly answer: AssistantMessage
  readonly isLast: boolean
  readonly actions: MessageActions
}

/** The buttons of an answer. */
export function AnswerTools({ answer, isLast, actions }: AnswerToolsProps): ReactNode {
  const more: readonly MenuEntry[] = [
    isLast
      ? { label: 'Retry with another model…', icon: 'retry', run: actions.retryWith }
      : { label: 'Retry', icon: 'retry', run: () => actions.retryEarlier(answer.id) },
    { label: 'Edit the question', icon: 'edit', run: () => actions.editQuestion(answer.id) },
    { label: 'Fork from here', icon: 'fork', run: () => actions.fork(answer.id) },
    { label: 'Copy as curl', icon: 'copy', run: () => void copyAsCurl(actions.curl(answer.id)) },
    { label: 'Delete answer', icon: 'trash', isDanger: true, run: () => actions.remove(answer.id) },
  ]
  return (
    <div
      className={
        'flex shrink-0 transition-opacity max-sm:-ml-2 sm:-mr-2 group-hover/answer:opacity-100 ' +
        `focus-within:opacity-100 ${isLast ? '' : 'pointer-fine:opacity-0'}`
      }
    >
      {answer.text === '' ? null : <CopyButton text={answer.text} label="Copy answer" />}
      {isLast ? <IconButton label="Retry" icon="retry" onClick={actions.retry} /> : null}
      <Menu label="More about this answer" items={more} />
    </div>
  )
}

async function copyAsCurl(command: string): Promise<void> {
  announce((await copyText(command)) ? 'Copied' : 'Copying is not possible here')
}
