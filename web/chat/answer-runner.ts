import type { RequestEntry } from '../../src/http/page/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import { answerBuilder, type AnswerBuilder } from './answer-builder.ts'
import { askModel, type AskOutcome } from './ask-model.ts'
import type { ChatBody } from './chat-body.ts'
import { frameScheduler, type FrameClock } from './frame-scheduler.ts'
import { requestRecord } from './request-record.ts'

/** Requests answers, one at a time. */
export interface AnswerRunner {
  readonly isRunning: boolean
  /** Requests an answer, and abandons a running one. @param base the answer to continue; a new answer has no text */
  start(base: AssistantMessage, body: ChatBody): void
  /** Stops the running answer; `onEnd` follows. */
  stop(): void
  /** Stops the running answer without further callbacks, and returns it. */
  abandon(): AssistantMessage | undefined
  /** The running answer so far, including text not yet passed to `onUpdate`. */
  current(): AssistantMessage | undefined
}

/** Options of {@link answerRunner}. */
export interface AnswerRunnerOptions {
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  /** Called when the answer grows, at most once per animation frame. */
  readonly onUpdate: (answer: AssistantMessage) => void
  readonly onEnd: (answer: AssistantMessage) => void
  /** Called some time after the end, with the service's record of the request. */
  readonly onRecord: (answerId: string, record: RequestEntry) => void
  readonly frameClock?: FrameClock | undefined
  /** Unix milliseconds. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Creates a runner. */
export function answerRunner({
  client,
  onUpdate,
  onEnd,
  onRecord,
  frameClock,
  now,
  wait,
}: AnswerRunnerOptions): AnswerRunner {
  let running: { readonly builder: AnswerBuilder; readonly abort: AbortController } | undefined
  const updates = frameScheduler(() => {
    if (running !== undefined) onUpdate(running.builder.current())
  }, frameClock)

  function clear(): void {
    running = undefined
    updates.cancel()
  }

  async function ask(builder: AnswerBuilder, abort: AbortController, body: ChatBody): Promise<void> {
    const requestId = newId()
    const outcome = await askModel({
      client,
      body,
      requestId,
      signal: abort.signal,
      clock: () => performance.now(),
      onPiece(piece) {
        if (builder.add(piece)) updates.request()
      },
    })
    if (running?.builder !== builder) return
    clear()
    const answer = builder.finish(outcome)
    onEnd(answer)
    const record = isRemembered(outcome)
      ? await requestRecord(client, requestId, outcome.end.kind === 'stopped' ? 'afterStop' : 'afterEnd', wait)
      : undefined
    if (record !== undefined) onRecord(answer.id, record)
  }

  return {
    get isRunning() {
      return running !== undefined
    },
    start(base, body) {
      running?.abort.abort()
      clear()
      running = { builder: answerBuilder(base, now), abort: new AbortController() }
      void ask(running.builder, running.abort, body)
    },
    stop() {
      running?.abort.abort()
    },
    abandon() {
      if (running === undefined) return undefined
      const { builder, abort } = running
      clear()
      abort.abort()
      return { ...builder.current(), status: 'stopped' }
    },
    current: () => running?.builder.current(),
  }
}

/**
 * Whether the service may have a record: it was reached, and its answer was not 401. A request stopped before any
 * response may be recorded, too.
 */
function isRemembered({ end, headers }: AskOutcome): boolean {
  return end.kind === 'stopped' || (headers !== undefined && (end.kind !== 'failed' || end.error.status !== 401))
}
