import type { AssistantMessage } from '../history/conversation.ts'
import type { Store } from '../store.ts'
import type { AnswerRunner } from './answer-runner.ts'
import { lostAnswer, steps, type ChatState } from './chat-state.ts'
import { lastAnswer } from './conversation-changes.ts'

interface AnswersElsewhereOptions {
  readonly state: Store<ChatState>
  readonly answers: Pick<AnswerRunner, 'isRunning' | 'takeUp'>
  readonly askTabs: () => void
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Time in which another tab must reply. */
const tabReplyMs = 500
/** Interval at which the other tab is asked again, since it may have been closed. */
const askTabsEveryMs = 4_000
/** Interval at which a lost answer is tried to be taken up, while the service keeps it. */
const takeUpEveryMs = 3_000
const keptMs = 60_000

/** Follows an answer that has not ended and is not received here: in the service, or in another tab. */
export class AnswersElsewhere {
  readonly #with: AnswersElsewhereOptions
  /** When the service was reached last, while an answer may be running there. */
  #lostAt: number | undefined
  #isClosed = false
  #isWatching = false
  #hasTabReplied = false

  constructor(options: AnswersElsewhereOptions) {
    this.#with = options
  }

  /** Reads an answer that may be running in the service. Otherwise another tab may be receiving the last one. */
  takeUp(): void {
    if (this.#with.answers.isRunning || this.#isClosed) return
    const lost = lostAnswer(this.#with.state.get().conversation)
    if (lost === undefined) return void this.#watchTabs()
    if (this.#lostAt === undefined) this.#with.state.update(steps.answeredElsewhere(undefined))
    this.#with.answers.takeUp(lost)
  }

  /** An answer has ended. If its connection was lost, it is tried to be taken up for a while. */
  onEnd(answer: AssistantMessage): void {
    if (answer.live === undefined) this.#lostAt = undefined
    else void this.#takeUpLater()
  }

  /** The service does not have the answer any more. */
  onGone(answerId: string): void {
    this.#lostAt = undefined
    // Not saved: another tab may be receiving it.
    this.#with.state.update(steps.gone(answerId))
    void this.#watchTabs()
  }

  /** Called when another tab reports that it receives an answer in this conversation. */
  onTabReply(): void {
    if (!this.#isUnfinished()) return
    // A late reply counts, too.
    void this.#watchTabs()
    this.#hasTabReplied = true
    this.#with.state.update(steps.answeredElsewhere(true))
  }

  close(): void {
    this.#isClosed = true
  }

  async #takeUpLater(): Promise<void> {
    this.#lostAt ??= this.#with.now()
    if (this.#with.now() - this.#lostAt > keptMs) return
    await this.#with.wait(takeUpEveryMs)
    this.takeUp()
  }

  /** Whether another tab may be receiving the last answer. */
  #isUnfinished(): boolean {
    return !this.#with.answers.isRunning && lastAnswer(this.#with.state.get().conversation)?.status === 'interrupted'
  }

  /** Asks other tabs repeatedly whether they receive the last answer, until none does. */
  async #watchTabs(): Promise<void> {
    if (this.#isWatching || !this.#isUnfinished()) return
    this.#isWatching = true
    this.#with.state.update(steps.answeredElsewhere(undefined))
    do {
      this.#hasTabReplied = false
      this.#with.askTabs()
      await this.#with.wait(tabReplyMs)
      this.#with.state.update(steps.answeredElsewhere(this.#hasTabReplied))
      if (this.#hasTabReplied) await this.#with.wait(askTabsEveryMs)
    } while (this.#hasTabReplied && this.#isUnfinished())
    this.#isWatching = false
  }
}
