import type { RequestEntry } from '../../src/http/page-api.ts'
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
import { newId } from '../new-id.ts'
import { createStore, type Store } from '../store.ts'
import { answering } from './answering.ts'
import { chatBody } from './ask.ts'
import {
  adopt,
  emptyConversation,
  lastAnswer,
  messagesBefore,
  takenUp,
  withMessage,
  withMessages,
} from './conversation-changes.ts'
import { conversationStore } from './conversation-store.ts'
import type { FrameClock } from './frames.ts'
import { withRecord } from './provenance.ts'
import { rescue, type Rescue } from './rescue.ts'

/** One conversation, as it is shown. */
export interface ChatState {
  readonly phase:
    /** It is being read. */
    | 'loading'
    | 'ready'
    /** There is none, or it was removed. */
    | 'missing'
    /** It cannot be read; `failure` says why. */
    | 'unreadable'
  readonly conversation: Conversation
  /** The messages before the last change that took some away. */
  readonly replaced?: readonly Message[]
  /** Why it was not read, or not kept. */
  readonly failure?: Error
  /** The last answer is on its way in another tab. */
  readonly isElsewhere: boolean
}

/** One conversation, and what can be done in it. It goes on while nobody looks. */
export interface ChatController {
  readonly id: string
  readonly state: Store<ChatState>
  /** Says something, and asks for an answer. */
  send(draft: Draft, model: string): void
  /** Ends the answer that is on its way; what came of it stays. */
  stop(): void
  /** Has the last question answered anew. */
  retry(model: string): void
  /** Says something in the place of what was said; all that came after is replaced. */
  edit(messageId: string, draft: Draft, model: string): void
  /** Has the last answer taken up where it ended. */
  continueAnswer(model: string): void
  removeMessage(messageId: string): void
  /** Brings back what the last change replaced. */
  undo(): void
  /** What was replaced is not brought back any more. */
  dismissUndo(): void
  changeSettings(settings: ChatSettings): void
  /** Keeps it although it was removed. */
  restore(): void
  /** Writes what is not kept yet: the page may be going. */
  keepNow(): void
  /** Whether it may be forgotten: nothing is under way in it, and the history has it. */
  isIdle(): boolean
  close(): void
}

/** What {@link chatController} needs. */
export interface ChatControllerOptions {
  readonly id: string
  /** It does not exist yet, and begins with these settings. */
  readonly begins?: ChatSettings | undefined
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  readonly history: HistoryStore
  readonly frameClock?: FrameClock | undefined
  readonly rescued?: Rescue
  /** Unix milliseconds. */
  readonly now?: () => number
  readonly wait?: (ms: number) => Promise<void>
}

/** An answer is written down this often while it comes. */
const keepEveryMs = 1_000
/** An answer of another tab that has not grown for so long does not any more. */
const elsewhereMs = 4_000
const noSettings: ChatSettings = { system: '', parameters: {} }

/** The controller of one conversation: reads it at once, unless it begins here. */
export function chatController({
  id,
  begins,
  client,
  history,
  frameClock,
  rescued = rescue(),
  now = Date.now,
  wait = waitFor,
}: ChatControllerOptions): ChatController {
  const state = createStore<ChatState>({
    phase: begins === undefined ? 'loading' : 'ready',
    conversation: emptyConversation(id, begins ?? noSettings, now()),
    isElsewhere: false,
  })
  const kept = conversationStore({ id, history, onPut: noteFailure, onRemoved: noteRemoved })
  const answers = answering({ client, onMore, onEnd, onRecord, frameClock, now, wait })
  let keptAt = 0
  /** What is kept stays, until an answer has begun that takes its place. */
  let isHeldBack = false

  const conversation = (): Conversation => state.get().conversation
  const patch = (change: Partial<ChatState>): void => state.update((before) => ({ ...before, ...change }))
  const show = (message: Message): void => patch({ conversation: withMessage(conversation(), message) })

  // Keeping.

  function keep(): void {
    if (isHeldBack || state.get().phase !== 'ready' || conversation().messages.length === 0) return
    keptAt = now()
    kept.put(conversation())
  }

  function noteFailure(failure: Error | undefined): void {
    if (state.get().failure !== failure)
      state.update(({ failure: _, ...rest }) => (failure === undefined ? rest : { ...rest, failure }))
  }

  function noteRemoved(): void {
    endAnswer()
    patch({ phase: 'missing' })
  }

  /** What is shown is nowhere else. */
  function isUnkept(): boolean {
    const { phase, failure } = state.get()
    return phase === 'ready' && failure !== undefined
  }

  async function read(): Promise<void> {
    try {
      const found = await kept.read()
      if (found === undefined) return patch({ phase: 'missing' })
      const whole = rescued.take(found)
      patch({ phase: 'ready', conversation: whole })
      // The rescue is forgotten: from now on the history has to have it.
      if (whole !== found) keep()
    } catch (error) {
      patch({ phase: 'unreadable', failure: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  /** Something changed in the history, here or in another tab: the last change counts. */
  async function notice(changedId: string): Promise<void> {
    const { phase } = state.get()
    if ((changedId !== id && changedId !== '') || (kept.kept === undefined && phase !== 'missing')) return
    if (answers.isRunning || isHeldBack || kept.isBusy) await lookAtHead()
    else await readAgain()
  }

  async function readAgain(): Promise<void> {
    const before = conversation()
    const found = await kept.read().catch(() => before) // What is shown is newer than what cannot be read.
    if (conversation() !== before || answers.isRunning || kept.isBusy) return
    if (found === undefined) patch({ phase: 'missing' })
    else if (found !== before) {
      patch({ phase: 'ready', conversation: adopt(before, found) })
      void noteElsewhere(before)
    }
  }

  /**
   * An answer that grows, although it is kept as one that was interrupted, is on its way in another tab; for as long as
   * it does.
   */
  async function noteElsewhere(before: Conversation): Promise<void> {
    const answer = lastAnswer(conversation())
    const isGrowing = answer?.status === 'interrupted' && answer !== lastAnswer(before)
    patch({ isElsewhere: isGrowing })
    if (!isGrowing) return
    await wait(elsewhereMs)
    if (lastAnswer(conversation()) === answer) patch({ isElsewhere: false })
  }

  async function lookAtHead(): Promise<void> {
    const changed = await kept.look().catch(() => ({}))
    if (changed === undefined) noteRemoved()
    else if (Object.keys(changed).length > 0) patch({ conversation: { ...conversation(), ...changed } })
  }

  // Asking.

  /** Shows these messages with an answer after them, and asks for it. */
  function ask(messages: readonly Message[], before: AssistantMessage, model: string): void {
    const settings = { ...conversation().settings, model }
    const isBegun = before.text !== ''
    patch({
      isElsewhere: false,
      conversation: withMessages({ ...conversation(), settings }, [...messages, takenUp(before)], now()),
    })
    answers.begin(before, chatBody(settings, isBegun ? [...messages, before] : messages))
    keep()
    // The first words are kept as soon as they are there.
    keptAt = 0
  }

  function onMore(answer: AssistantMessage): void {
    isHeldBack = false
    show(answer)
    if (now() - keptAt >= keepEveryMs) keep()
  }

  function onEnd(answer: AssistantMessage): void {
    if (answer.text !== '' || answer.status === 'complete') isHeldBack = false
    patch({ conversation: { ...withMessage(conversation(), answer), updated: now() } })
    keep()
  }

  function onRecord(answerId: string, record: RequestEntry): void {
    const shown = conversation().messages.find((message) => message.id === answerId)
    if (shown?.role !== 'assistant' || shown.provenance?.requestId !== record.id) return
    show({ ...shown, provenance: withRecord(shown.provenance, record) })
    if (!answers.isRunning) keep()
  }

  function endAnswer(): void {
    const answer = answers.abandon()
    if (answer !== undefined) show(answer)
  }

  // Replacing.

  /** What is there now can be brought back, and is kept until an answer begins. */
  function beginReplacing(): void {
    endAnswer()
    // What is shown may itself have replaced what is kept, in vain: then it is the latter that is worth bringing back.
    if (!isHeldBack) patch({ replaced: conversation().messages })
    isHeldBack = kept.kept !== undefined
  }

  function forgetReplaced(): void {
    isHeldBack = false
    state.update(({ replaced: _, ...rest }) => rest)
  }

  const newAnswer = (): AssistantMessage => ({
    role: 'assistant',
    id: newId(),
    time: now(),
    text: '',
    reasoning: '',
    status: 'streaming',
  })
  const question = ({ text, images }: Draft): UserMessage => ({ role: 'user', id: newId(), time: now(), text, images })

  const unsubscribe = history.subscribe((changedId) => void notice(changedId))
  if (begins === undefined) void read()

  return {
    id,
    state,
    send(draft, model) {
      endAnswer()
      forgetReplaced()
      ask([...conversation().messages, question(draft)], newAnswer(), model)
    },
    stop: () => answers.stop(),
    retry(model) {
      const answer = lastAnswer(conversation())
      if (answer !== undefined) beginReplacing()
      ask(
        answer === undefined ? conversation().messages : messagesBefore(conversation().messages, answer.id),
        newAnswer(),
        model,
      )
    },
    edit(messageId, draft, model) {
      beginReplacing()
      ask([...messagesBefore(conversation().messages, messageId), question(draft)], newAnswer(), model)
    },
    continueAnswer(model) {
      const answer = lastAnswer(conversation())
      if (answer === undefined || answer.text === '' || answers.isRunning) return
      forgetReplaced()
      ask(messagesBefore(conversation().messages, answer.id), answer, model)
    },
    removeMessage(messageId) {
      beginReplacing()
      isHeldBack = false
      patch({
        conversation: withMessages(
          conversation(),
          conversation().messages.filter((message) => message.id !== messageId),
          now(),
        ),
      })
      kept.put(conversation())
    },
    undo() {
      const { replaced } = state.get()
      if (replaced === undefined) return
      endAnswer()
      forgetReplaced()
      patch({ conversation: withMessages(conversation(), replaced, now()) })
      keep()
    },
    dismissUndo() {
      forgetReplaced()
      if (!answers.isRunning) keep()
    },
    changeSettings(settings) {
      patch({ conversation: { ...conversation(), settings } })
      if (!answers.isRunning) keep()
    },
    restore() {
      patch({ phase: 'ready' })
      kept.restore(conversation())
    },
    keepNow() {
      const answer = answers.soFar()
      if (answer === undefined) return
      show(answer)
      rescued.put(id, answer)
      keep()
    },
    isIdle: () => !answers.isRunning && !kept.isBusy && !isHeldBack && !isUnkept() && state.get().phase !== 'loading',
    close() {
      unsubscribe()
      answers.abandon()
    },
  }
}

function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
