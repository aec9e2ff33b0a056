import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import type { ChatController } from '../chat/chat-controller.ts'
import { lastAnswer } from '../chat/conversation-changes.ts'
import type { AssistantMessage, ChatSettings } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { formatCount } from '../ui/format.ts'
import { conversationOf } from './comparison.ts'

/** A column in short. */
export interface ColumnOverview {
  readonly id: string
  readonly settings: ChatSettings
  /** Of its last answer; `asked`: its last message is a question; `empty`: there are no messages. */
  readonly status: AssistantMessage['status'] | 'asked' | 'empty'
}

/** Returns the columns in short: the same object until something in it changes, so not while answers grow. */
export function useOverview(columns: readonly ChatController[]): readonly ColumnOverview[] {
  const subscribe = useCallback(
    (listener: () => void) => {
      const unsubscribes = columns.map(({ state }) => state.subscribe(listener))
      return () => {
        for (const unsubscribe of unsubscribes) unsubscribe()
      }
    },
    [columns],
  )
  const latest = useRef<readonly ColumnOverview[]>([])
  return useSyncExternalStore(subscribe, () => {
    const now = columns.map(overviewOf)
    if (now.length !== latest.current.length || !now.every((each, at) => isSame(each, latest.current[at])))
      latest.current = now
    return latest.current
  })
}

function overviewOf(column: ChatController): ColumnOverview {
  const conversation = conversationOf(column)
  return {
    id: column.id,
    settings: conversation.settings,
    status: lastAnswer(conversation)?.status ?? (conversation.messages.length > 0 ? 'asked' : 'empty'),
  }
}

function isSame(one: ColumnOverview, other: ColumnOverview | undefined): boolean {
  return one.id === other?.id && one.settings === other.settings && one.status === other.status
}

/** Announces the start and the end of answers to screen readers, but not their texts. */
export function useComparisonAnnouncements(columns: readonly ColumnOverview[]): void {
  const before = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const running = columns.filter(({ status }) => status === 'streaming')
    const ended = columns.filter(({ id, status }) => status !== 'streaming' && before.current.has(id))
    const isStart = running.some(({ id }) => !before.current.has(id))
    before.current = new Set(running.map(({ id }) => id))
    if (isStart)
      announce(running.length === 1 ? say.common.answering : say.compare.areAnswering(formatCount(running.length)))
    else if (ended.length > 0)
      announce(
        running.length === 0
          ? say.compare.allEnded
          : say.compare.ended(ended.map(({ settings }) => settings.model).join(', '), formatCount(running.length)),
      )
  }, [columns])
}
