import type { ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton, copyText } from '../ui/copy-button.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { canReadAloud, reading } from '../voice/reading.ts'
import type { MessageActions } from './message-actions.ts'

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
      ? { label: say.chat.retryWith, icon: 'retry', run: actions.retryWith }
      : { label: say.common.retry, icon: 'retry', run: () => actions.retryEarlier(answer.id) },
    { label: say.chat.editQuestion, icon: 'edit', run: () => actions.editQuestion(answer.id) },
    { label: say.chat.fork, icon: 'fork', run: () => actions.fork(answer.id) },
    { label: say.chat.copyAsCurl, icon: 'copy', run: () => void copyAsCurl(actions.curl(answer.id)) },
    ...(canReadAloud() && answer.text !== ''
      ? [{ label: say.chat.readAloud, icon: 'play', run: () => void startReading(answer) } as const]
      : []),
    { label: say.chat.deleteAnswer, icon: 'trash', isDanger: true, run: () => actions.remove(answer.id) },
  ]
  return (
    <div
      className={
        'flex transition-opacity max-@lg:-ml-2 @lg:absolute @lg:top-0 @lg:-right-2 group-hover/answer:opacity-100 ' +
        `focus-within:opacity-100 ${isLast || isReading ? '' : 'pointer-fine:opacity-0'}`
      }
    >
      {answer.text === '' ? null : <CopyButton text={answer.text} label={say.chat.copyAnswer} />}
      {isLast ? <IconButton label={say.common.retry} icon="retry" onClick={actions.retry} /> : null}
      {isReading ? <IconButton label={say.chat.stopReading} icon="stop" onClick={() => reading.set('')} /> : null}
      <Menu label={say.chat.moreAbout} items={more} />
    </div>
  )
}

async function startReading({ id, text }: AssistantMessage): Promise<void> {
  try {
    const { readAloud } = await import('../voice/read-aloud.ts')
    readAloud(id, text)
  } catch {
    announce(say.chat.readAloudFailed)
  }
}

async function copyAsCurl(command: Promise<string>): Promise<void> {
  const isCopied = await command.then(copyText, () => false)
  announce(isCopied ? say.common.copied : say.common.copyingImpossible)
}
