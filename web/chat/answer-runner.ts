import type { RequestEntry } from '../../src/observe/request-entry.ts'
import type { ApiClient } from '../api/client.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { answerBuilder, type AnswerBuilder, type AnswerOutcome } from './answer-builder.ts'
import { askModel, type AskOutcome } from './ask-model.ts'
import type { ChatBody } from './chat-body.ts'
import { frameScheduler, type FrameClock, type FrameScheduler } from './frame-scheduler.ts'
import { requestIdOf, stopAnswer } from './live-answer.ts'
import { requestRecord } from './request-record.ts'

interface AnswerRunnerOptions {
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  /** Called when the answer grows, at most once per animation frame. */
  readonly onUpdate: (answer: AssistantMessage) => void
  readonly onEnd: (answer: AssistantMessage) => void
  /** Called instead of `onEnd` if an answer cannot be taken up. */
  readonly onGone: (answerId: string) => void
  /** Called some time after the end, with the service's record of the request. */
  readonly onRecord: (answerId: string, record: RequestEntry) => void
  readonly frameClock?: FrameClock | undefined
  /** Unix milliseconds. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Requests answers, one at a time. */
export class AnswerRunner {
  readonly #with: AnswerRunnerOptions
  readonly #updates: FrameScheduler
  #running: Running | undefined

  constructor(options: AnswerRunnerOptions) {
    this.#with = options
    this.#updates = frameScheduler(() => {
      if (this.#running !== undefined) options.onUpdate(this.#running.builder.current())
    }, options.frameClock)
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** The running answer so far, including text not yet passed to `onUpdate`. */
  current(): AssistantMessage | undefined {
    return this.#running?.builder.current()
  }

  /** Requests an answer, and abandons a running one. @param started as `resumed` returns it */
  start(started: AssistantMessage, body: ChatBody): void {
    this.#run(started, body)
  }

  /** Reads an answer that was lost, if it is still in the service. */
  takeUp(answer: AssistantMessage): void {
    this.#run(answer, undefined)
  }

  /** Stops the running answer; `onEnd` follows. */
  stop(): void {
    if (this.#running !== undefined) this.#end(this.#running)
  }

  /** Stops the running answer without further callbacks, and returns it. */
  abandon(): AssistantMessage | undefined {
    const abandoned = this.#running
    if (abandoned === undefined) return undefined
    this.#clear()
    this.#end(abandoned)
    return { ...abandoned.builder.current(), status: 'stopped', live: undefined }
  }

  #clear(): void {
    this.#running = undefined
    this.#updates.cancel()
  }

  #run(answer: AssistantMessage, body: ChatBody | undefined): void {
    if (this.#running !== undefined) this.#end(this.#running)
    this.#clear()
    const answerId = answer.live?.id
    if (answerId === undefined) return
    const builder = answerBuilder(answer, body === undefined ? undefined : this.#with.now)
    this.#running = { builder, abort: new AbortController(), answerId }
    void this.#ask(this.#running, body)
  }

  #end({ abort, answerId }: Running): void {
    abort.abort()
    stopAnswer(this.#with.client, answerId)
  }

  async #ask({ builder, abort, answerId }: Running, body: ChatBody | undefined): Promise<void> {
    const { client, wait, onGone, onEnd, onRecord } = this.#with
    const outcome = await askModel({
      ...{ client, body, answerId, wait },
      signal: abort.signal,
      clock: () => performance.now(),
      onResponse: (headers) => {
        builder.begin({ requestId: requestIdOf(answerId) }, headers)
        this.#updates.request()
      },
      onPiece: (piece) => {
        if (builder.add(piece)) this.#updates.request()
      },
    })
    if (this.#running?.builder !== builder) return
    this.#clear()
    if (!hasAnswer(outcome)) return onGone(builder.current().id)
    const answer = builder.finish(outcome)
    onEnd(answer)
    if (!isRemembered(outcome)) return
    const moment = outcome.end.kind === 'stopped' ? 'afterStop' : 'afterEnd'
    const record = await requestRecord(client, requestIdOf(answerId), moment, wait)
    if (record !== undefined) onRecord(answer.id, record)
  }
}

interface Running {
  readonly builder: AnswerBuilder
  readonly abort: AbortController
  readonly answerId: string
}

function hasAnswer(outcome: AskOutcome): outcome is AnswerOutcome {
  return outcome.end.kind !== 'gone'
}

/**
 * Whether the service may have a record: it was reached, and its answer was not 401. A request stopped before any
 * response may be recorded, too.
 */
function isRemembered({ end, headers, isLost }: AskOutcome): boolean {
  return (
    !isLost &&
    (end.kind === 'stopped' || (headers !== undefined && (end.kind !== 'failed' || end.error.status !== 401)))
  )
}
