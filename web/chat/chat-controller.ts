import type { RequestEntry } from '../../src/observe/request-entry.ts'
import type { ApiClient } from '../api/client.ts'
import type {
  AssistantMessage,
  ChatSettings,
  Conversation,
  Draft,
  HistoryStore,
  UserMessage,
} from '../history/conversation.ts'
import { loadFormulas, mayHaveFormulas } from '../history/title.ts'
import { branchOf, leafOf, withAdded, type Tree } from '../history/tree.ts'
import { newId } from '../new-id.ts'
import { createStore, type Store } from '../store.ts'
import { answerBackup, type AnswerBackup } from './answer-backup.ts'
import { AnswerRunner } from './answer-runner.ts'
import { AnswersElsewhere } from './answers-elsewhere.ts'
import { chatBody } from './chat-body.ts'
import { ChatHistory } from './chat-history.ts'
import { initialState, isHidden, parentOf, retryOf, steps, type ChatState, type VersionPlan } from './chat-state.ts'
import { lastAnswer, resumed } from './conversation-changes.ts'
import type { FrameClock } from './frame-scheduler.ts'
import { stopAnswer } from './live-answer.ts'

interface ChatControllerOptions {
  readonly id: string
  /** Settings of a new conversation; absent for a stored one. */
  readonly begins?: ChatSettings | undefined
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  readonly history: HistoryStore
  readonly frameClock?: FrameClock | undefined
  readonly backup?: AnswerBackup
  /** The model that makes titles. Absent: the first line is the title. */
  readonly titleModel?: string | undefined
  /** Asks other tabs whether they receive an answer here. See {@link ChatController.noteAnsweredElsewhere}. */
  readonly askTabs?: () => void
  /** Unix milliseconds. */
  readonly now?: () => number
  readonly wait?: (ms: number) => Promise<void>
}

type WithDefaults = ChatControllerOptions & Required<Pick<ChatControllerOptions, 'backup' | keyof typeof defaults>>

const defaults = {
  askTabs: (): void => {},
  now: (): number => Date.now(),
  wait: (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms)),
}

/**
 * One conversation, whose answer continues while another view is shown. A method changes the state by a pure step of
 * `chat-state.ts`, and then has the effects: `chat-history.ts` saves and reads, `answer-runner.ts` asks the service,
 * and `answers-elsewhere.ts` follows an answer that is not received here. A stored conversation is read at once.
 */
export class ChatController {
  readonly id: string
  readonly state: Store<ChatState>
  readonly #with: WithDefaults
  readonly #answers: AnswerRunner
  readonly #history: ChatHistory
  readonly #elsewhere: AnswersElsewhere
  #isClosed = false
  #isTitling = false

  constructor(options: ChatControllerOptions) {
    const { id, begins, client, history, frameClock } = options
    const { now, wait, askTabs, backup } = (this.#with = { ...defaults, backup: answerBackup(), ...options })
    this.id = id
    this.state = createStore(initialState(id, begins, now()))
    this.#answers = new AnswerRunner({
      client,
      onUpdate: (answer) => this.#onUpdate(answer),
      onEnd: (answer) => this.#onEnd(answer),
      onGone: (answerId) => this.#elsewhere.onGone(answerId),
      onRecord: (answerId, record) => this.#onRecord(answerId, record),
      ...{ frameClock, now, wait },
    })
    const { state } = this
    const answers = this.#answers
    this.#elsewhere = new AnswersElsewhere({ state, answers, askTabs, now, wait })
    this.#history = new ChatHistory({
      ...{ id, state, history, backup, answers, now },
      onFound: () => this.#elsewhere.takeUp(),
    })
    if (begins === undefined) void this.#history.read()
  }

  get #conversation(): Conversation {
    return this.state.get().conversation
  }

  /** Adds a question and requests an answer. */
  send(draft: Draft, model: string): void {
    this.#endAnswer()
    this.#askAfter({ tree: this.#conversation, parent: leafOf(this.#conversation)?.id }, model, draft)
  }

  /** Stops the running answer. Its text stays. */
  stop(): void {
    this.#answers.stop()
  }

  /**
   * Requests another version of an answer, and hides what follows it. The last answer is replaced if it has no content.
   *
   * @param answerId absent: the last one that is shown
   */
  retry(model: string, answerId?: string): void {
    this.#endAnswer()
    this.#askAfter(retryOf(this.#conversation, answerId), model)
  }

  /** Adds a question as a new version of another one, and requests an answer. */
  edit(messageId: string, draft: Draft, model: string): void {
    this.#endAnswer()
    this.#askAfter({ tree: this.#conversation, parent: parentOf(this.#conversation, messageId) }, model, draft)
  }

  /** Continues the last answer. */
  continueAnswer(model: string): void {
    const answer = lastAnswer(this.#conversation)
    if (answer === undefined || answer.text === '' || this.#answers.isRunning) return
    this.#ask(this.#conversation, answer, model)
  }

  /** Shows a version of a message, and what follows it. */
  showVersion(messageId: string): void {
    this.state.update(steps.shown(messageId))
    this.#history.saveUnlessRunning()
  }

  /** Shows a message, if it is in another version. */
  revealMessage(messageId: string): void {
    if (isHidden(this.#conversation, messageId)) this.showVersion(messageId)
  }

  removeMessage(messageId: string): void {
    this.#endAnswer()
    this.state.update(steps.removed(messageId, this.#with.now()))
    this.#history.saveRest()
  }

  /** Restores the message that was deleted last. */
  undo(): void {
    if (this.state.get().undeleted === undefined) return
    this.state.update(steps.undone(this.#with.now()))
    this.#history.save()
  }

  /** Ends the possibility of {@link ChatController.undo}. */
  dismissUndo(): void {
    this.state.update(steps.undoDismissed)
  }

  changeSettings(settings: ChatSettings): void {
    this.state.update(steps.settingsChanged(settings))
    this.#history.saveUnlessRunning()
  }

  /** Saves the conversation although it was removed. */
  restore(): void {
    this.state.update(steps.restored)
    this.#history.restore()
  }

  /** Called when another tab reports that it receives an answer in this conversation. */
  noteAnsweredElsewhere(): void {
    this.#elsewhere.onTabReply()
  }

  /** Saves the running answer. Called when the page may be unloaded. */
  saveNow(): void {
    const answer = this.#answers.current()
    if (answer === undefined) return
    this.state.update(steps.changed(answer))
    this.#with.backup.put(this.id, answer)
    this.#history.save()
  }

  /** Whether the controller may be closed: nothing is running, and the history has the current state. */
  isIdle(): boolean {
    return !this.#answers.isRunning && !this.#isTitling && this.#history.isIdle
  }

  close(): void {
    this.#isClosed = true
    this.#history.close()
    this.#elsewhere.close()
    this.#answers.abandon()
  }

  // Requesting.

  /** Adds a question, if there is one, then an answer, and requests it. */
  #askAfter({ tree, parent }: VersionPlan, model: string, draft?: Draft): void {
    const time = this.#with.now()
    const questions = draft === undefined ? [] : [questionOf(draft, time)]
    const answer = emptyAnswer(time)
    this.#ask(withAdded(tree, parent, [...questions, answer]), answer, model)
  }

  /** Shows messages that end in an answer, and requests it. */
  #ask(tree: Tree, answer: AssistantMessage, model: string): void {
    const started = resumed(answer, newId())
    if (answer.live !== undefined) stopAnswer(this.#with.client, answer.live.id)
    this.state.update(steps.asked(tree, started, model, this.#with.now()))
    this.#answers.start(started, chatBody({ ...this.#conversation.settings, model }, branchOf(tree)))
    this.#history.saveQuestion()
    void this.#mendTitle()
  }

  #onUpdate(answer: AssistantMessage): void {
    this.state.update(steps.changed(answer))
    this.#history.saveUpdate()
  }

  #onEnd(answer: AssistantMessage): void {
    this.state.update(steps.answered(answer, this.#with.now()))
    this.#history.save()
    void this.#findTitle()
    this.#elsewhere.onEnd(answer)
  }

  #onRecord(answerId: string, record: RequestEntry): void {
    const before = this.state.get()
    this.state.update(steps.recorded(answerId, record))
    if (this.state.get() !== before) this.#history.saveUnlessRunning()
  }

  #endAnswer(): void {
    const answer = this.#answers.abandon()
    if (answer !== undefined) this.state.update(steps.changed(answer))
  }

  /** Makes formulas of a title readable. What that needs is loaded with the first of them. */
  async #mendTitle(): Promise<void> {
    const { title, isTitled } = this.#conversation
    if (isTitled || !mayHaveFormulas(title)) return
    await loadFormulas().catch(() => undefined) // Without a network, the title stays TeX.
    const before = this.#conversation
    if (!this.#isClosed) this.state.update(steps.retitled)
    if (this.#conversation !== before) this.#history.save()
  }

  /** Asks for a title after the first answer. A title that was chosen meanwhile stays. */
  async #findTitle(): Promise<void> {
    const model = this.#with.titleModel
    if (model === undefined || this.#conversation.isTitled) return
    this.#isTitling = true
    const title = await import('./make-title.ts').then(
      ({ makeTitle }) => makeTitle(this.#with.client, model, this.#conversation),
      () => undefined,
    )
    this.#isTitling = false
    if (title === undefined || this.#isClosed || this.#conversation.isTitled || this.state.get().phase !== 'ready')
      return
    this.state.update(steps.titled(title))
    this.#history.save()
  }
}

function emptyAnswer(time: number): AssistantMessage {
  return { ...{ role: 'assistant', id: newId(), time }, ...{ text: '', reasoning: '', status: 'streaming' } }
}

function questionOf({ text, images, files = [] }: Draft, time: number): UserMessage {
  return { ...{ role: 'user', id: newId(), time, text, images }, ...(files.length === 0 ? {} : { files }) }
}
