import type { Conversation, HistoryStore } from '../history/conversation.ts'
import { ConversationRemoved } from '../history/history-error.ts'

/** Changes that other tabs made to the head. With `updated`, the messages have changed, too. */
export type HeadChanges = Partial<Pick<Conversation, 'title' | 'isTitled' | 'isPinned' | 'folder' | 'updated'>>

interface ConversationStoreOptions {
  readonly id: string
  readonly history: HistoryStore
  /** Called after each write, with its failure if there was one. */
  readonly onPut: (failure: Error | undefined) => void
  /** Called when a write fails because the conversation was removed. */
  readonly onRemoved: () => void
}

/** Saves one conversation to the history. Writes are sequential; only the latest pending one is kept. */
export class ConversationStore {
  readonly #with: ConversationStoreOptions
  #saved: Conversation | undefined
  #next: { readonly conversation: Conversation; readonly restores: boolean } | undefined
  #isWriting = false
  /** The conversation existed once: if it is missing now, it was removed. */
  #hasExisted = false

  constructor(options: ConversationStoreOptions) {
    this.#with = options
  }

  /** The last state read or saved. */
  get saved(): Conversation | undefined {
    return this.#saved
  }

  /** Whether a write is running or pending. */
  get isBusy(): boolean {
    return this.#isWriting || this.#next !== undefined
  }

  async read(): Promise<Conversation | undefined> {
    const found = await this.#with.history.get(this.#with.id)
    this.#hasExisted ||= found !== undefined
    if (!this.isBusy) this.#saved = found
    return found
  }

  /** Saves a state. While a write runs, only the latest state stays pending. */
  put(conversation: Conversation): void {
    this.#next = { conversation, restores: this.#next?.restores ?? false }
    void this.#write()
  }

  /** Saves a state although the conversation was removed. */
  restore(conversation: Conversation): void {
    this.#next = { conversation, restores: true }
    void this.#write()
  }

  /** Returns changes of the head by other tabs; `undefined` if the conversation was removed. */
  async headChanges(): Promise<HeadChanges | undefined> {
    const before = this.#saved
    const head = await this.#with.history.head(this.#with.id)
    if (head === undefined) return this.#hasExisted ? undefined : {}
    if (before === undefined || before !== this.#saved || this.#isWriting) return {}
    return {
      ...(head.title === before.title ? {} : { title: head.title, isTitled: true }),
      ...(head.isPinned === before.isPinned ? {} : { isPinned: head.isPinned }),
      ...(head.folder === before.folder ? {} : { folder: head.folder }),
      ...(head.updated === before.updated ? {} : { updated: head.updated }),
    }
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    for (let current = this.#next; current !== undefined; current = this.#next) {
      this.#next = undefined
      await this.#writeOne(current.conversation, current.restores)
    }
    this.#isWriting = false
  }

  async #writeOne(conversation: Conversation, restores: boolean): Promise<void> {
    const { history, onPut, onRemoved } = this.#with
    const before = this.#saved
    try {
      // Set before the write: subscribers are called before its promise resolves.
      this.#saved = conversation
      await (restores ? history.restore(conversation) : history.put(conversation))
      this.#hasExisted = true
      onPut(undefined)
    } catch (error) {
      this.#saved = before
      if (error instanceof ConversationRemoved) onRemoved()
      else onPut(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
