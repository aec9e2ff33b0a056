import type { Conversation, HistoryStore } from '../history/conversation.ts'
import type { Store } from '../store.ts'
import type { AnswerBackup } from './answer-backup.ts'
import type { AnswerRunner } from './answer-runner.ts'
import { steps, type ChatState } from './chat-state.ts'
import { adopt, lastAnswer } from './conversation-changes.ts'
import { ConversationStore, type HeadChanges } from './conversation-store.ts'

interface ChatHistoryOptions {
  readonly id: string
  readonly state: Store<ChatState>
  readonly history: HistoryStore
  readonly backup: AnswerBackup
  readonly answers: Pick<AnswerRunner, 'isRunning' | 'current' | 'abandon'>
  /** Called when another state was read, with another last answer. */
  readonly onFound: () => void
  readonly now: () => number
}

/** Interval at which a running answer is saved. */
const saveEveryMs = 1_000

/** Keeps the state of one conversation and the history alike: the last change counts, by this or another tab. */
export class ChatHistory {
  readonly #with: ChatHistoryOptions
  readonly #store: ConversationStore
  readonly #unsubscribe: () => void
  #savedAt = 0

  constructor(options: ChatHistoryOptions) {
    const { id, history, state } = options
    this.#with = options
    this.#store = new ConversationStore({
      id,
      history,
      onPut: (failure) => state.update(steps.saved(failure)),
      onRemoved: () => this.#onRemoved(),
    })
    this.#unsubscribe = history.subscribe((changedId) => void this.#onHistoryChange(changedId))
  }

  get #conversation(): Conversation {
    return this.#with.state.get().conversation
  }

  #update(step: (state: ChatState) => ChatState): void {
    this.#with.state.update(step)
  }

  /** Whether the history has the current state. */
  get isIdle(): boolean {
    const { phase, failure } = this.#with.state.get()
    return !this.#store.isBusy && phase !== 'loading' && !(phase === 'ready' && failure !== undefined)
  }

  save(): void {
    if (this.#with.state.get().phase !== 'ready' || this.#conversation.messages.length === 0) return
    this.#savedAt = this.#with.now()
    this.#store.put(this.#conversation)
  }

  /** Saves a change that is no part of an answer. The end of a running answer saves it, too. */
  saveUnlessRunning(): void {
    if (!this.#with.answers.isRunning) this.save()
  }

  /** Saves the first update of an answer at once, and the next ones at intervals. */
  saveUpdate(): void {
    if (this.#with.now() - this.#savedAt >= saveEveryMs) this.save()
  }

  /** Saves a question, and lets the first update of its answer follow at once. */
  saveQuestion(): void {
    this.save()
    this.#savedAt = 0
  }

  /** Saves a conversation that may have no message any more. */
  saveRest(): void {
    this.#store.put(this.#conversation)
  }

  /** Saves the conversation although it was removed. */
  restore(): void {
    this.#store.restore(this.#conversation)
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Reads a stored conversation, and completes it from the backup of its answer. */
  async read(): Promise<void> {
    try {
      const found = await this.#store.read()
      if (found === undefined) return this.#update(steps.missing)
      const restored = this.#with.backup.take(found)
      this.#update(steps.found(restored))
      this.#with.onFound()
      // The backup is gone, so the history must have it now.
      if (restored !== found) this.save()
    } catch (error) {
      this.#update(steps.unreadable(error instanceof Error ? error : new Error(String(error))))
    }
  }

  #onRemoved(): void {
    const answer = this.#with.answers.abandon()
    if (answer !== undefined) this.#update(steps.changed(answer))
    this.#update(steps.missing)
  }

  /** Handles a change of the history by this or another tab: the last change counts. */
  async #onHistoryChange(changedId: string): Promise<void> {
    const { phase } = this.#with.state.get()
    if ((changedId !== this.#with.id && changedId !== '') || (this.#store.saved === undefined && phase !== 'missing'))
      return
    if (this.#with.answers.isRunning || this.#store.isBusy) await this.#mergeHead()
    else await this.#reload()
  }

  async #reload(): Promise<void> {
    const before = this.#conversation
    const found = await this.#store.read().catch(() => before) // The shown state is newer than an unreadable one.
    if (this.#conversation !== before || this.#with.answers.isRunning || this.#store.isBusy) return
    if (found === undefined) this.#update(steps.missing)
    else if (found !== before) {
      this.#update(steps.found(adopt(before, found)))
      if (lastAnswer(this.#conversation) !== lastAnswer(before)) this.#with.onFound()
    }
  }

  async #mergeHead(): Promise<void> {
    const changed = await this.#store.headChanges().catch((): HeadChanges => ({}))
    if (changed === undefined) return this.#onRemoved()
    if (Object.keys(changed).length > 0) this.#update(steps.headChanged(changed))
    if (changed.updated !== undefined) await this.#mergeMessages()
  }

  /** Takes over the messages of other tabs, so that saving the running answer does not remove them. */
  async #mergeMessages(): Promise<void> {
    const found = await this.#with.history.get(this.#with.id).catch(() => undefined)
    const answer = this.#with.answers.current()
    if (found !== undefined && answer !== undefined) this.#update(steps.merged(found, answer.id))
  }
}
