import type { RequestEntry } from '../../src/http/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import { answerRun, type AnswerRun } from './answer-run.ts'
import { askModel, type AskOutcome } from './ask-model.ts'
import type { ChatBody } from './ask.ts'
import { frames, type FrameClock } from './frames.ts'
import { requestRecord } from './request-record.ts'

/** Has answers given, one at a time. */
export interface Answering {
  readonly isRunning: boolean
  /** Asks, in the place of what is asked. @param before what the answer goes on from; without text: nothing */
  begin(before: AssistantMessage, body: ChatBody): void
  /** Ends the answer: what came of it is told as its end. */
  stop(): void
  /** Ends the answer, and gives it as it is; nothing more is told of it. */
  abandon(): AssistantMessage | undefined
  /** What there is of the answer now, told or not. */
  soFar(): AssistantMessage | undefined
}

/** What {@link answering} needs. */
export interface AnsweringOptions {
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  /** Told at most once a frame, when there is more of the answer. */
  readonly onMore: (answer: AssistantMessage) => void
  readonly onEnd: (answer: AssistantMessage) => void
  /** Told what the service remembers of the request, some time after the end. */
  readonly onRecord: (answerId: string, record: RequestEntry) => void
  readonly frameClock?: FrameClock | undefined
  /** Unix milliseconds. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Nothing is asked yet. */
export function answering({ client, onMore, onEnd, onRecord, frameClock, now, wait }: AnsweringOptions): Answering {
  let current: { readonly run: AnswerRun; readonly abort: AbortController } | undefined
  const drawing = frames(() => {
    if (current !== undefined) onMore(current.run.soFar())
  }, frameClock)

  function leave(): void {
    current = undefined
    drawing.cancel()
  }

  async function ask(run: AnswerRun, abort: AbortController, body: ChatBody): Promise<void> {
    const requestId = newId()
    const outcome = await askModel({
      client,
      body,
      requestId,
      signal: abort.signal,
      clock: () => performance.now(),
      onPiece(piece) {
        if (run.take(piece)) drawing.request()
      },
    })
    if (current?.run !== run) return
    leave()
    const answer = run.end(outcome)
    onEnd(answer)
    const record = isRemembered(outcome)
      ? await requestRecord(client, requestId, outcome.end.kind === 'stopped' ? 'afterStop' : 'afterEnd', wait)
      : undefined
    if (record !== undefined) onRecord(answer.id, record)
  }

  return {
    get isRunning() {
      return current !== undefined
    },
    begin(before, body) {
      current?.abort.abort()
      leave()
      current = { run: answerRun(before, now), abort: new AbortController() }
      void ask(current.run, current.abort, body)
    },
    stop() {
      current?.abort.abort()
    },
    abandon() {
      if (current === undefined) return undefined
      const { run, abort } = current
      leave()
      abort.abort()
      return { ...run.soFar(), status: 'stopped' }
    },
    soFar: () => current?.run.soFar(),
  }
}

/**
 * Nobody asks a service that was not reached, or one that says that nobody is signed in. Somebody who left before the
 * answer's head may be remembered, too.
 */
function isRemembered({ end, headers }: AskOutcome): boolean {
  return end.kind === 'stopped' || (headers !== undefined && (end.kind !== 'failed' || end.error.status !== 401))
}
