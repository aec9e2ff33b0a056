import type { RequestEntry } from '../../src/observe/request-entry.ts'
import type { ApiClient } from '../api/client.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { answerBuilder, type AnswerBuilder, type AnswerOutcome } from './answer-builder.ts'
import { askModel, type AskOutcome } from './ask-model.ts'
import type { ChatBody } from './chat-body.ts'
import { frameScheduler, type FrameClock } from './frame-scheduler.ts'
import { requestIdOf, stopAnswer } from './live-answer.ts'
import { requestRecord } from './request-record.ts'

/** Requests answers, one at a time. */
export interface AnswerRunner {
  readonly isRunning: boolean
  /** Requests an answer, and abandons a running one. @param started as `resumed` returns it */
  start(started: AssistantMessage, body: ChatBody): void
  /** Reads an answer that was lost, if it is still in the service. */
  takeUp(answer: AssistantMessage): void
  /** Stops the running answer; `onEnd` follows. */
  stop(): void
  /** Stops the running answer without further callbacks, and returns it. */
  abandon(): AssistantMessage | undefined
  /** The running answer so far, including text not yet passed to `onUpdate`. */
  current(): AssistantMessage | undefined
}

export interface AnswerRunnerOptions {
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

export function answerRunner({
  client,
  onUpdate,
  onEnd,
  onGone,
  onRecord,
  frameClock,
  now,
  wait,
}: AnswerRunnerOptions): AnswerRunner {
  let running: Running | undefined
  const updates = frameScheduler(() => {
    if (running !== undefined) onUpdate(running.builder.current())
  }, frameClock)

  function clear(): void {
    running = undefined
    updates.cancel()
  }

  function run(answer: AssistantMessage, body: ChatBody | undefined): void {
    if (running !== undefined) end(running)
    clear()
    const answerId = answer.live?.id
    if (answerId === undefined) return
    running = {
      builder: answerBuilder(answer, body === undefined ? undefined : now),
      abort: new AbortController(),
      answerId,
    }
    void ask(running, body)
  }

  function end({ abort, answerId }: Running): void {
    abort.abort()
    stopAnswer(client, answerId)
  }

  async function ask({ builder, abort, answerId }: Running, body: ChatBody | undefined): Promise<void> {
    const outcome = await askModel({
      client,
      body,
      answerId,
      signal: abort.signal,
      clock: () => performance.now(),
      wait,
      onResponse: () => {
        if (body === undefined) updates.request()
      },
      onPiece(piece) {
        if (builder.add(piece)) updates.request()
      },
    })
    if (running?.builder !== builder) return
    clear()
    if (!hasAnswer(outcome)) return onGone(builder.current().id)
    const answer = builder.finish(outcome)
    onEnd(answer)
    const record = isRemembered(outcome)
      ? await requestRecord(
          client,
          requestIdOf(answerId),
          outcome.end.kind === 'stopped' ? 'afterStop' : 'afterEnd',
          wait,
        )
      : undefined
    if (record !== undefined) onRecord(answer.id, record)
  }

  return {
    get isRunning() {
      return running !== undefined
    },
    start: run,
    takeUp: (answer) => run(answer, undefined),
    stop() {
      if (running !== undefined) end(running)
    },
    abandon() {
      if (running === undefined) return undefined
      const abandoned = running
      clear()
      end(abandoned)
      return { ...abandoned.builder.current(), status: 'stopped', live: undefined }
    },
    current: () => running?.builder.current(),
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
