import type { RequestEntry } from '../../src/observe/request-entry.ts'
import type { ApiClient } from '../api/client.ts'
import type {
  AssistantMessage,
  ChatSettings,
  Conversation,
  Draft,
  HistoryStore,
  Message,
  UserMessage,
} from '../history/conversation.ts'
import { loadFormulas, mayHaveFormulas } from '../history/title.ts'
import { branchOf, leafOf, merged, withAdded, withoutMessage, withShown, type Tree } from '../history/tree.ts'
import { newId } from '../new-id.ts'
import { createStore, type Store } from '../store.ts'
import { answerBackup, type AnswerBackup } from './answer-backup.ts'
import { answerRunner } from './answer-runner.ts'
import { chatBody } from './chat-body.ts'
import {
  adopt,
  emptyConversation,
  forkOf,
  lastAnswer,
  messagesBefore,
  resumed,
  withMessage,
  withTree,
  hasContent,
} from './conversation-changes.ts'
import { conversationStore, type HeadChanges } from './conversation-store.ts'
import type { FrameClock } from './frame-scheduler.ts'
import { stopAnswer } from './live-answer.ts'
import { withRecord } from './provenance.ts'

/** State of a conversation view. */
export interface ChatState {
  readonly phase:
    /** The history is being read. */
    | 'loading'
    | 'ready'
    /** The history has no such conversation, or it was removed. */
    | 'missing'
    /** Reading failed; see `failure`. */
    | 'unreadable'
  readonly conversation: Conversation
  /** The messages before the last one was deleted. */
  readonly undeleted?: Tree
  /** Why reading or saving failed. */
  readonly failure?: Error
  /** Whether another tab is receiving the last answer, if that is `interrupted`. `undefined`: not known yet. */
  readonly isAnsweredElsewhere: boolean | undefined
}

/** State and actions of one conversation. An answer continues while another view is shown. */
export interface ChatController {
  readonly id: string
  readonly state: Store<ChatState>
  /** Adds a question and requests an answer. */
  send(draft: Draft, model: string): void
  /** Stops the running answer. Its text stays. */
  stop(): void
  /**
   * Requests another version of an answer, and hides what follows it. The last answer is replaced if it has no content.
   *
   * @param answerId absent: the last one that is shown
   */
  retry(model: string, answerId?: string): void
  /** Adds a question as a new version of another one, and requests an answer. */
  edit(messageId: string, draft: Draft, model: string): void
  /** Continues the last answer. */
  continueAnswer(model: string): void
  /** Shows a version of a message, and what follows it. */
  showVersion(messageId: string): void
  /** Shows a message, if it is in another version. */
  revealMessage(messageId: string): void
  /**
   * Stores a new conversation with the messages until this one.
   *
   * @returns its id
   * @throws {InvalidConversation}
   */
  fork(messageId: string): Promise<string>
  removeMessage(messageId: string): void
  /** Restores the message that was deleted last. */
  undo(): void
  /** Ends the possibility of {@link ChatController.undo}. */
  dismissUndo(): void
  changeSettings(settings: ChatSettings): void
  /** Saves the conversation although it was removed. */
  restore(): void
  /** Called when another tab reports that it receives an answer in this conversation. */
  noteAnsweredElsewhere(): void
  /** Saves the running answer. Called when the page may be unloaded. */
  saveNow(): void
  /** Whether the controller may be closed: nothing is running, and the history has the current state. */
  isIdle(): boolean
  close(): void
}

/** Options of {@link chatController}. */
export interface ChatControllerOptions {
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

/** Interval at which a running answer is saved. */
const saveEveryMs = 1_000
/** Time in which another tab must reply. */
const tabReplyMs = 500
/** Interval at which the other tab is asked again, since it may have been closed. */
const askTabsEveryMs = 4_000
/** Interval at which a lost answer is tried to be taken up, while the service keeps it. */
const takeUpEveryMs = 3_000
const keptMs = 60_000
const noSettings: ChatSettings = { system: '', parameters: {} }

/** Creates the controller of a conversation. Reads a stored one at once. */
export function chatController({
  id,
  begins,
  client,
  history,
  frameClock,
  backup = answerBackup(),
  titleModel,
  askTabs = () => {},
  now = Date.now,
  wait = waitFor,
}: ChatControllerOptions): ChatController {
  const state = createStore<ChatState>({
    phase: begins === undefined ? 'loading' : 'ready',
    conversation: emptyConversation(id, begins ?? noSettings, now()),
    isAnsweredElsewhere: undefined,
  })
  const store = conversationStore({ id, history, onPut: onSaved, onRemoved })
  const answers = answerRunner({ client, onUpdate, onEnd, onGone, onRecord, frameClock, now, wait })
  /** When the service was reached last, while an answer may be running there. */
  let lostAt: number | undefined
  let isClosed = false
  let savedAt = 0
  let isWatching = false,
    isTitling = false,
    hasTabReplied = false

  const conversation = (): Conversation => state.get().conversation
  const patch = (change: Partial<ChatState>): void => state.update((before) => ({ ...before, ...change }))
  const show = (message: Message): void => patch({ conversation: withMessage(conversation(), message) })
  const beforeMessage = (id: string): Message | undefined => messagesBefore(branchOf(conversation()), id).at(-1)

  // Saving.

  function save(): void {
    if (state.get().phase !== 'ready' || conversation().messages.length === 0) return
    savedAt = now()
    store.put(conversation())
  }

  function onSaved(failure: Error | undefined): void {
    if (state.get().failure !== failure)
      state.update(({ failure: _, ...rest }) => (failure === undefined ? rest : { ...rest, failure }))
  }

  function onRemoved(): void {
    endAnswer()
    patch({ phase: 'missing' })
  }

  /** Whether the shown state could not be saved. */
  function isUnsaved(): boolean {
    const { phase, failure } = state.get()
    return phase === 'ready' && failure !== undefined
  }

  async function read(): Promise<void> {
    try {
      const found = await store.read()
      if (found === undefined) return patch({ phase: 'missing' })
      const restored = backup.take(found)
      patch({ phase: 'ready', conversation: restored })
      takeUp()
      // The backup is gone, so the history must have it now.
      if (restored !== found) save()
    } catch (error) {
      patch({ phase: 'unreadable', failure: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  /** Handles a change of the history by this or another tab: the last change counts. */
  async function onHistoryChange(changedId: string): Promise<void> {
    const { phase } = state.get()
    if ((changedId !== id && changedId !== '') || (store.saved === undefined && phase !== 'missing')) return
    if (answers.isRunning || store.isBusy) await mergeHead()
    else await reload()
  }

  async function reload(): Promise<void> {
    const before = conversation()
    const found = await store.read().catch(() => before) // The shown state is newer than an unreadable one.
    if (conversation() !== before || answers.isRunning || store.isBusy) return
    if (found === undefined) patch({ phase: 'missing' })
    else if (found !== before) {
      patch({ phase: 'ready', conversation: adopt(before, found) })
      if (lastAnswer(conversation()) !== lastAnswer(before)) takeUp()
    }
  }

  /** Reads an answer that may be running in the service. Otherwise another tab may be receiving the last one. */
  function takeUp(): void {
    if (answers.isRunning || isClosed) return
    const found = conversation().messages.findLast(isLost)
    if (found?.role !== 'assistant') return void watchTabs()
    if (lostAt === undefined) patch({ isAnsweredElsewhere: undefined })
    answers.takeUp(found)
  }

  async function takeUpLater(): Promise<void> {
    lostAt ??= now()
    if (now() - lostAt > keptMs) return
    await wait(takeUpEveryMs)
    takeUp()
  }

  /** Whether another tab may be receiving the last answer. */
  function isUnfinished(): boolean {
    return !answers.isRunning && lastAnswer(conversation())?.status === 'interrupted'
  }

  /** Asks other tabs repeatedly whether they receive the last answer, until none does. */
  async function watchTabs(): Promise<void> {
    if (isWatching || !isUnfinished()) return
    isWatching = true
    patch({ isAnsweredElsewhere: undefined })
    do {
      hasTabReplied = false
      askTabs()
      await wait(tabReplyMs)
      patch({ isAnsweredElsewhere: hasTabReplied })
      if (hasTabReplied) await wait(askTabsEveryMs)
    } while (hasTabReplied && isUnfinished())
    isWatching = false
  }

  async function mergeHead(): Promise<void> {
    const changed = await store.headChanges().catch((): HeadChanges => ({}))
    if (changed === undefined) return onRemoved()
    if (Object.keys(changed).length > 0) patch({ conversation: { ...conversation(), ...changed } })
    if (changed.updated !== undefined) await mergeMessages()
  }

  /** Takes over the messages of other tabs, so that saving the running answer does not remove them. */
  async function mergeMessages(): Promise<void> {
    const found = await history.get(id).catch(() => undefined)
    const answer = answers.current()
    if (found === undefined || answer === undefined) return
    patch({ conversation: { ...conversation(), ...merged(conversation(), found, answer.id) } })
  }

  // Requesting.

  /** Shows messages that end in an answer, and requests it. */
  function ask(tree: Tree, answer: AssistantMessage, model: string): void {
    const settings = { ...conversation().settings, model }
    const started = resumed(answer, newId())
    if (answer.live !== undefined) stopAnswer(client, answer.live.id)
    clearUndeleted()
    patch({
      isAnsweredElsewhere: false,
      conversation: { ...withMessage(withTree(conversation(), tree), started), settings, updated: now() },
    })
    answers.start(started, chatBody(settings, branchOf(tree)))
    save()
    void mendTitle()
    // Saves the first update at once.
    savedAt = 0
  }

  /** Adds messages after `parent`, then an answer, and requests it. */
  function askAfter(tree: Tree, parent: string | undefined, questions: readonly UserMessage[], model: string): void {
    const answer = newAnswer()
    ask(withAdded(tree, parent, [...questions, answer]), answer, model)
  }

  function onUpdate(answer: AssistantMessage): void {
    show(answer)
    if (now() - savedAt >= saveEveryMs) save()
  }

  function onEnd(answer: AssistantMessage): void {
    patch({
      isAnsweredElsewhere: false,
      conversation: { ...withMessage(conversation(), answer), updated: now() },
    })
    save()
    void findTitle()
    if (answer.live === undefined) lostAt = undefined
    else void takeUpLater()
  }

  /** Makes formulas of a title readable. What that needs is loaded with the first of them. */
  async function mendTitle(): Promise<void> {
    const { title, isTitled } = conversation()
    if (isTitled || !mayHaveFormulas(title)) return
    await loadFormulas().catch(() => undefined) // Without a network, the title stays TeX.
    const mended = withTree(conversation(), conversation())
    if (isClosed || mended.title === conversation().title) return
    patch({ conversation: mended })
    save()
  }

  /** Asks for a title after the first answer. A title that was chosen meanwhile stays. */
  async function findTitle(): Promise<void> {
    if (titleModel === undefined || conversation().isTitled) return
    isTitling = true
    const title = await import('./make-title.ts').then(
      ({ makeTitle }) => makeTitle(client, titleModel, conversation()),
      () => undefined,
    )
    isTitling = false
    if (title === undefined || isClosed || conversation().isTitled || state.get().phase !== 'ready') return
    patch({ conversation: { ...conversation(), title, isTitled: true } })
    save()
  }

  function onGone(answerId: string): void {
    const answer = conversation().messages.find(({ id: messageId }) => messageId === answerId)
    lostAt = undefined
    // Not saved: another tab may be receiving it.
    if (answer?.role === 'assistant') show({ ...answer, live: undefined })
    void watchTabs()
  }

  function onRecord(answerId: string, record: RequestEntry): void {
    const shown = conversation().messages.find((message) => message.id === answerId)
    if (shown?.role !== 'assistant' || shown.provenance?.requestId !== record.id) return
    show({ ...shown, provenance: withRecord(shown.provenance, record) })
    if (!answers.isRunning) save()
  }

  function endAnswer(): void {
    const answer = answers.abandon()
    if (answer !== undefined) show(answer)
  }

  function clearUndeleted(): void {
    state.update(({ undeleted: _, ...rest }) => rest)
  }

  function showVersion(messageId: string): void {
    patch({ conversation: withTree(conversation(), withShown(conversation(), messageId)) })
    if (!answers.isRunning) save()
  }

  const newAnswer = (): AssistantMessage => ({
    role: 'assistant',
    id: newId(),
    time: now(),
    text: '',
    reasoning: '',
    status: 'streaming',
  })
  const question = ({ text, images, files = [] }: Draft): UserMessage => ({
    role: 'user',
    id: newId(),
    time: now(),
    text,
    images,
    ...(files.length === 0 ? {} : { files }),
  })

  const unsubscribe = history.subscribe((changedId) => void onHistoryChange(changedId))
  if (begins === undefined) void read()

  return {
    id,
    state,
    send(draft, model) {
      endAnswer()
      askAfter(conversation(), leafOf(conversation())?.id, [question(draft)], model)
    },
    stop: () => answers.stop(),
    retry(model, answerId) {
      endAnswer()
      const last = lastAnswer(conversation())
      const id = answerId ?? last?.id
      const asked = id === undefined ? leafOf(conversation()) : beforeMessage(id)
      const isReplaced = last?.id === id && last !== undefined && !hasContent(last)
      askAfter(isReplaced ? withoutMessage(conversation(), last.id) : conversation(), asked?.id, [], model)
    },
    edit(messageId, draft, model) {
      endAnswer()
      askAfter(conversation(), beforeMessage(messageId)?.id, [question(draft)], model)
    },
    continueAnswer(model) {
      const answer = lastAnswer(conversation())
      if (answer === undefined || answer.text === '' || answers.isRunning) return
      ask(conversation(), answer, model)
    },
    showVersion,
    revealMessage(messageId) {
      const isIn = (messages: readonly Message[]): boolean => messages.some((message) => message.id === messageId)
      if (isIn(conversation().messages) && !isIn(branchOf(conversation()))) showVersion(messageId)
    },
    async fork(messageId) {
      const forked = forkOf(conversation(), messageId, newId(), now())
      await history.put(forked)
      return forked.id
    },
    removeMessage(messageId) {
      endAnswer()
      const { messages, leaf } = conversation()
      patch({
        undeleted: { messages, leaf },
        conversation: { ...withTree(conversation(), withoutMessage(conversation(), messageId)), updated: now() },
      })
      store.put(conversation())
    },
    undo() {
      const { undeleted } = state.get()
      if (undeleted === undefined) return
      clearUndeleted()
      patch({ conversation: { ...withTree(conversation(), undeleted), updated: now() } })
      save()
    },
    dismissUndo: clearUndeleted,
    changeSettings(settings) {
      patch({ conversation: { ...conversation(), settings } })
      if (!answers.isRunning) save()
    },
    restore() {
      patch({ phase: 'ready' })
      store.restore(conversation())
    },
    noteAnsweredElsewhere() {
      if (!isUnfinished()) return
      // A late reply counts, too.
      void watchTabs()
      hasTabReplied = true
      patch({ isAnsweredElsewhere: true })
    },
    saveNow() {
      const answer = answers.current()
      if (answer === undefined) return
      show(answer)
      backup.put(id, answer)
      save()
    },
    isIdle: () => !answers.isRunning && !isTitling && !store.isBusy && !isUnsaved() && state.get().phase !== 'loading',
    close() {
      isClosed = true
      unsubscribe()
      answers.abandon()
    },
  }
}

function isLost(message: Message): boolean {
  return message.role === 'assistant' && message.status === 'interrupted' && message.live !== undefined
}

function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
