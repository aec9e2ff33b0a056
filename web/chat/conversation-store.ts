import type { Conversation, HistoryStore } from '../history/conversation.ts'
import { ConversationRemoved } from '../history/history-error.ts'

/** Keeps one conversation in the history, one write after the other, always the latest. */
export interface ConversationStore {
  /** What was read or kept last; absent: nothing was. */
  readonly kept: Conversation | undefined
  /** Whether something is yet to be written. */
  readonly isBusy: boolean
  read(): Promise<Conversation | undefined>
  /** Keeps it. What is put while another write is under way waits for it, and gives way to what is put after it. */
  put(conversation: Conversation): void
  /** Keeps it although it was removed. */
  restore(conversation: Conversation): void
  /** Whether somebody else gave it another title or pinned it meanwhile; absent: it was removed. */
  look(): Promise<Changed | undefined>
}

/** What somebody else changed of a conversation's head. */
export type Changed = Partial<Pick<Conversation, 'title' | 'isTitled' | 'isPinned'>>

/** What {@link conversationStore} needs. */
export interface ConversationStoreOptions {
  readonly id: string
  readonly history: HistoryStore
  /** Told when a write failed, and when one did not. */
  readonly onPut: (failure: Error | undefined) => void
  /** Told when what was put is not kept, because it was removed. */
  readonly onRemoved: () => void
}

/** Nothing is read or kept yet. */
export function conversationStore({ id, history, onPut, onRemoved }: ConversationStoreOptions): ConversationStore {
  let kept: Conversation | undefined
  let next: { readonly conversation: Conversation; readonly restores: boolean } | undefined
  let isWriting = false
  /** It was there at least once: when it is not any more, it was removed. */
  let wasThere = false

  async function write(): Promise<void> {
    if (isWriting) return
    isWriting = true
    for (let now = next; now !== undefined; now = next) {
      next = undefined
      await writeOne(now.conversation, now.restores)
    }
    isWriting = false
  }

  async function writeOne(conversation: Conversation, restores: boolean): Promise<void> {
    const before = kept
    try {
      // It counts as kept from now on: the change is told before the promise resolves.
      kept = conversation
      await (restores ? history.restore(conversation) : history.put(conversation))
      wasThere = true
      onPut(undefined)
    } catch (error) {
      kept = before
      if (error instanceof ConversationRemoved) onRemoved()
      else onPut(error instanceof Error ? error : new Error(String(error)))
    }
  }

  return {
    get kept() {
      return kept
    },
    get isBusy() {
      return isWriting || next !== undefined
    },
    async read() {
      const found = await history.get(id)
      wasThere ||= found !== undefined
      if (next === undefined && !isWriting) kept = found
      return found
    },
    put(conversation) {
      next = { conversation, restores: next?.restores ?? false }
      void write()
    },
    restore(conversation) {
      next = { conversation, restores: true }
      void write()
    },
    async look() {
      const before = kept
      const head = await history.head(id)
      if (head === undefined) return wasThere ? undefined : {}
      if (before === undefined || before !== kept || isWriting) return {}
      return {
        ...(head.title === before.title ? {} : { title: head.title, isTitled: true }),
        ...(head.isPinned === before.isPinned ? {} : { isPinned: head.isPinned }),
      }
    },
  }
}
