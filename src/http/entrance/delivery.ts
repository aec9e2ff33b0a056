import type { StreamReply, WholeReply } from '../../formats/reply.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { AnswerBudget } from '../../service/answer-budget.ts'
import type { CallController } from '../../service/call-controller.ts'
import { errorResponse } from '../exchange.ts'
import { eventStreamBody } from './event-stream-body.ts'
import { pacedBody } from './paced-body.ts'
import { describe, outcomeOfError, type Outcome, type Progress } from './progress.ts'
import { ClientLeft } from './read-body.ts'
import { attemptHeaders, replyHeaders } from './reply-headers.ts'

/** Answers up to this size are left to the system, larger ones are handed on as their clients read. */
const leftBytes = 256 * 1024
/**
 * Who reads a large answer slowly seems to read nothing for a while: the system holds megabytes of it, and takes more
 * when a third of them has gone.
 */
const readerPatience = 4

/** The times of a chat request, in milliseconds. */
export interface AnswerTimers {
  /** Until the first keep-alive comment, and between them. */
  readonly heartbeatMs: number
  /** A client may take so long to read what is there. */
  readonly stallMs: number
}

/** What answers on their way to their clients share. */
export interface DeliveryOptions {
  readonly timers: AnswerTimers
  /** What large answers hold until they are read, beside those that are being gathered; beyond, 503. */
  readonly answerBudget: AnswerBudget
  readonly streamsOpen: { add(difference: number): void }
}

/** What it takes to hand an answer on. */
export interface Delivery {
  readonly progress: Progress
  readonly controller: CallController
  readonly settle: (outcome: Outcome) => void
  readonly options: DeliveryOptions
}

/** A whole answer as a response; an error where there is no room to hold it until it is read. */
export function wholeResponse(
  { body, usage }: WholeReply,
  { served, progress, controller, settle, options }: Delivery & { readonly served: ServedReply },
): Response {
  const { exchange } = progress
  progress.served = served
  if (body.length <= leftBytes) {
    settle({ status: 200, usage })
    return new Response(body, { headers: replyHeaders(progress, 'application/json', served) })
  }
  const reservation = options.answerBudget.reservation()
  if (!reservation.reserve(body.length)) {
    const told = overloaded('Response memory limit reached; try again shortly')
    settle({ status: told.status, error: told.code, usage })
    return errorResponse(told, exchange.id, { format: progress.format, headers: attemptHeaders(progress) })
  }
  const { body: paced, cut } = pacedBody({
    bytes: body,
    stallMs: readerPatience * options.timers.stallMs,
    onEnd(isWhole) {
      reservation.release()
      settle({ usage, ...(isWhole ? { status: 200 } : breach()) })
      if (isWhole) exchange.extendIdleLimit()
      else exchange.drop()
    },
  })
  onAbort(controller, cut)

  /** Why it was not read to its end. */
  function breach(): Outcome {
    const { aborted, reason } = controller.signal
    if (!aborted || reason instanceof ClientLeft) return { status: 499, error: 'client_left' }
    return { status: 200, ...outcomeOfError(describe(reason, progress), reason) }
  }
  return new Response(paced, { headers: replyHeaders(progress, 'application/json', served) })
}

/** A stream, and how it is to be handed on. */
export interface Streaming extends Delivery {
  /** Absent: not decided yet, but the client has waited long enough for its headers. */
  readonly served: ServedReply | undefined
  readonly answering: Promise<ServedReply>
}

/** A stream as a response, decided or not. */
export function streamResponse({ served, answering, progress, controller, settle, options }: Streaming): Response {
  const { stream: format } = progress.format
  if (format === undefined) throw new Error('a stream in a format without streams')
  let reply: StreamReply | undefined
  const take = (answer: ServedReply): StreamReply => {
    const { reply: decided } = answer
    progress.served = answer
    if (decided.kind !== 'stream') throw new Error('a whole reply to a stream request')
    progress.firstTokenMs = performance.now() - progress.exchange.started
    reply = decided
    return decided
  }
  const { body, fail, leave } = eventStreamBody({
    reply: served === undefined ? answering.then(take) : take(served),
    heartbeatMs: options.timers.heartbeatMs,
    stallMs: options.timers.stallMs,
    format,
    promptTokens: progress.promptTokens,
    describe: (error) => describe(error, progress),
    abort() {
      controller.abort(new ClientLeft('the client left'))
      reply?.cancel()
    },
    onEnd({ error, cause, hasClientLeft, usage }) {
      options.streamsOpen.add(-1)
      settle(
        hasClientLeft
          ? { status: 499, error: 'client_left', usage }
          : { status: 200, usage, ...outcomeOfError(error, cause) },
      )
      if (hasClientLeft) progress.exchange.drop()
    },
  })
  options.streamsOpen.add(1)
  onAbort(controller, () => {
    const reason: unknown = controller.signal.reason
    if (reason instanceof ClientLeft) leave()
    else fail(reason)
  })
  return new Response(body, {
    headers: {
      ...replyHeaders(progress, 'text/event-stream; charset=utf-8', served),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

/** Now, where it has been aborted already. */
function onAbort({ signal }: CallController, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
