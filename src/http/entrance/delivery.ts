import type { PartStream, WholeReply } from '../../formats/reply.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { AnswerBudget } from '../../service/answer-budget.ts'
import type { CallController } from '../../service/call-controller.ts'
import { errorResponse, statusOf } from '../error-response.ts'
import { eventStreamBody } from './event-stream-body.ts'
import { pacedBody } from './paced-body.ts'
import { describe, outcomeOfError, type Outcome, type Progress } from './progress.ts'
import { ClientLeft } from './read-body.ts'
import { attemptHeaders, replyHeaders, streamHeaders } from './reply-headers.ts'

/** Answers up to this size are given to the server at once, larger ones at the pace of their clients. */
const unpacedBytesMax = 256 * 1024
/**
 * Factor of the stall limit for large answers. The system buffers megabytes for a slow client, and accepts more only
 * after a third of them was read.
 */
const largeAnswerFactor = 4

/** Times of a request, in milliseconds. */
export interface AnswerTimers {
  /** Before the first keep-alive comment, and between two of them. */
  readonly heartbeatMs: number
  /** Limit for a client to read available bytes. */
  readonly stallMs: number
}

/** Shared by all answers being sent. */
export interface DeliveryOptions {
  readonly timers: AnswerTimers
  /** Memory budget of large answers until they are read, shared with answers being buffered; 503 above it. */
  readonly answerBudget: AnswerBudget
  readonly streamsOpen: { add(difference: number): void }
}

/** A request whose answer is to be sent. */
export interface Delivery {
  readonly progress: Progress
  readonly controller: CallController
  readonly settle: (outcome: Outcome) => void
  readonly options: DeliveryOptions
}

/** Sends a whole answer. 503 if the memory budget has no space for a large one. */
export function wholeResponse(
  { body, usage }: WholeReply,
  { served, progress, controller, settle, options }: Delivery & { readonly served: ServedReply },
): Response {
  const { context } = progress
  progress.served = served
  if (body.length <= unpacedBytesMax) {
    settle({ status: 200, usage })
    return new Response(body, { headers: replyHeaders(progress, 'application/json', served) })
  }
  const reservation = options.answerBudget.reservation()
  if (!reservation.reserve(body.length)) {
    const error = overloaded('Response memory limit reached; try again shortly')
    settle({ status: statusOf(error, progress.format), error: error.code, usage })
    return errorResponse(error, context.id, { format: progress.format, headers: attemptHeaders(progress) })
  }
  const { body: paced, cut } = pacedBody({
    bytes: body,
    stallMs: largeAnswerFactor * options.timers.stallMs,
    onEnd(isWhole) {
      reservation.release()
      settle({ usage, ...(isWhole ? { status: 200 } : cutOutcome()) })
      if (isWhole) context.extendIdleLimit()
      else context.drop()
    },
  })
  onAbort(controller, cut)

  /** Why the answer was not read to its end. */
  function cutOutcome(): Outcome {
    const { aborted, reason } = controller.signal
    if (!aborted || reason instanceof ClientLeft) return { status: 499, error: 'client_left' }
    return { status: 200, ...outcomeOfError(describe(reason, progress), reason) }
  }
  return new Response(paced, { headers: replyHeaders(progress, 'application/json', served) })
}

/** A stream to be sent. */
export interface Streaming extends Delivery {
  /** Absent: the reply is not known yet, but the headers must be sent. */
  readonly served: ServedReply | undefined
  readonly answering: Promise<ServedReply>
}

/** Sends a stream, whether its reply is known or not. */
export function streamResponse({ served, answering, progress, controller, settle, options }: Streaming): Response {
  const { stream: format } = progress.format
  if (format === undefined) throw new Error('a stream in a format without streams')
  let reply: PartStream | undefined
  const accept = (answer: ServedReply): PartStream => {
    const { reply: decided } = answer
    progress.served = answer
    if (decided.kind !== 'stream') throw new Error('a whole reply to a stream request')
    progress.firstTokenMs = performance.now() - progress.context.started
    reply = decided
    return decided
  }
  const { send, fail, leave } = eventStreamBody({
    reply: served === undefined ? answering.then(accept) : accept(served),
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
      if (hasClientLeft) progress.context.drop()
    },
  })
  options.streamsOpen.add(1)
  onAbort(controller, () => {
    const reason: unknown = controller.signal.reason
    if (reason instanceof ClientLeft) leave()
    else fail(reason)
  })
  // A direct stream writes to the socket without a queue between, and shows when the client does not read.
  const body: Bun.DirectUnderlyingSource<Uint8Array> = { type: 'direct', pull: send, cancel: leave }
  return new Response(new ReadableStream(body), {
    headers: streamHeaders(progress, served),
  })
}

/** Calls the listener on abort; at once if already aborted. */
function onAbort({ signal }: CallController, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
