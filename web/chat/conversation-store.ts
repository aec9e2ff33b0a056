import type { Conversation, HistoryStore } from '../history/conversation.ts'
import { ConversationRemoved } from '../history/history-error.ts'

/** Saves one conversation to the history. Writes are sequential; only the latest pending one is kept. */
export interface ConversationStore {
  /** The last state read or saved. */
  readonly saved: Conversation | undefined
  /** Whether a write is running or pending. */
  readonly isBusy: boolean
  read(): Promise<Conversation | undefined>
  /** Saves a state. While a write runs, only the latest state stays pending. */
  put(conversation: Conversation): void
  /** Saves a state although the conversation was removed. */
  restore(conversation: Conversation): void
  /** Returns changes of the head by other tabs; `undefined` if the conversation was removed. */
  headChanges(): Promise<HeadChanges | undefined>
}

/** Changes that other tabs made to the head. With `updated`, the messages have changed, too. */
export type HeadChanges = Partial<Pick<Conversation, 'title' | 'isTitled' | 'isPinned' | 'folder' | 'updated'>>

export interface ConversationStoreOptions {
  readonly id: string
  readonly history: HistoryStore
  /** Called after each write, with its failure if there was one. */
  readonly onPut: (failure: Error | undefined) => void
  /** Called when a write fails because the conversation was removed. */
  readonly onRemoved: () => void
}

/** Creates a store. It reads nothing by itself. */
export function conversationStore({ id, history, onPut, onRemoved }: ConversationStoreOptions): ConversationStore {
  let saved: Conversation | undefined
  let next: { readonly conversation: Conversation; readonly restores: boolean } | undefined
  let isWriting = false
  /** The conversation existed once: if it is missing now, it was removed. */
  let hasExisted = false

  async function write(): Promise<void> {
    if (isWriting) return
    isWriting = true
    for (let current = next; current !== undefined; current = next) {
      next = undefined
      await writeOne(current.conversation, current.restores)
    }
    isWriting = false
  }

  async function writeOne(conversation: Conversation, restores: boolean): Promise<void> {
    const before = saved
    try {
      // Set before the write: subscribers are called before its promise resolves.
      saved = conversation
      await (restores ? history.restore(conversation) : history.put(conversation))
      hasExisted = true
      onPut(undefined)
    } catch (error) {
      saved = before
      if (error instanceof ConversationRemoved) onRemoved()
      else onPut(error instanceof Error ? error : new Error(String(error)))
    }
  }

  return {
    get saved() {
      return saved
    },
    get isBusy() {
      return isWriting || next !== undefined
    },
    async read() {
      const found = await history.get(id)
      hasExisted ||= found !== undefined
      if (next === undefined && !isWriting) saved = found
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
    async headChanges() {
      const before = saved
      const head = await history.head(id)
      if (head === undefined) return hasExisted ? undefined : {}
      if (before === undefined || before !== saved || isWriting) return {}
      return {
        ...(head.title === before.title ? {} : { title: head.title, isTitled: true }),
        ...(head.isPinned === before.isPinned ? {} : { isPinned: head.isPinned }),
        ...(head.folder === before.folder ? {} : { folder: head.folder }),
        ...(head.updated === before.updated ? {} : { updated: head.updated }),
      }
    },
  }
}
