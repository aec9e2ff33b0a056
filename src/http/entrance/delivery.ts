import type { PartStream, WholeReply } from '../../formats/reply.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { CallController } from '../../service/call-controller.ts'
import { errorResponse, statusOf } from '../error-response.ts'
import type { ApiRequest } from './api-request.ts'
import { eventStreamBody } from './event-stream-body.ts'
import { pacedBody } from './paced-body.ts'
import { describe, outcomeOfError, type Outcome } from './progress.ts'
import { ClientLeft } from './read-body.ts'
import { attemptHeaders, replyHeaders, streamHeaders } from './reply-headers.ts'

/** Answers up to this size are given to the server at once, larger ones at the pace of their clients. */
const unpacedBytesMax = 256 * 1024
/**
 * Factor of the stall limit for large answers. The system buffers megabytes for a slow client, and accepts more only
 * after a third of them was read.
 */
const largeAnswerFactor = 4

/** Sends a whole answer. 503 if the memory budget has no space for a large one. */
export function wholeResponse(request: ApiRequest, served: ServedReply, { body, usage }: WholeReply): Response {
  const { context, format, controller, options } = request
  request.served = served
  if (body.length <= unpacedBytesMax) {
    request.settle({ status: 200, usage })
    return new Response(body, { headers: replyHeaders(request, 'application/json', served) })
  }
  const reservation = options.answerBudget.reservation()
  if (!reservation.reserve(body.length)) {
    const error = overloaded('Response memory limit reached; try again shortly')
    request.settle({ status: statusOf(error, format), error: error.code, usage })
    return errorResponse(error, context.id, { format, headers: attemptHeaders(request) })
  }
  request.keepOpen()
  const { body: paced, cut } = pacedBody({
    bytes: body,
    stallMs: largeAnswerFactor * options.timers.stallMs,
    onEnd(isWhole) {
      reservation.release()
      request.settle({ usage, ...(isWhole ? { status: 200 } : cutOutcome()) })
      if (isWhole) context.extendIdleLimit()
      else context.drop()
    },
  })
  onAbort(controller, cut)

  /** Why the answer was not read to its end. */
  function cutOutcome(): Outcome {
    const { aborted, reason } = controller.signal
    if (!aborted || reason instanceof ClientLeft) return { status: 499, error: 'client_left' }
    return { status: 200, ...outcomeOfError(describe(reason, request), reason) }
  }
  return new Response(paced, { headers: replyHeaders(request, 'application/json', served) })
}

/** An answer to a request for a stream. */
export interface AnsweringStream {
  /** Absent: the reply is not known yet, but the headers must be sent. */
  readonly served: ServedReply | undefined
  readonly answering: Promise<ServedReply>
}

/** Sends a stream, whether its reply is known or not. */
export function streamResponse(request: ApiRequest, { served, answering }: AnsweringStream): Response {
  const { context, controller, options } = request
  const { stream: format } = request.format
  if (format === undefined) throw new Error('a stream in a format without streams')
  let reply: PartStream | undefined
  const accept = (answer: ServedReply): PartStream => {
    const { reply: decided } = answer
    request.served = answer
    if (decided.kind !== 'stream') throw new Error('a whole reply to a stream request')
    request.firstTokenMs = performance.now() - context.started
    reply = decided
    return decided
  }
  const { send, fail, leave } = eventStreamBody({
    reply: served === undefined ? answering.then(accept) : accept(served),
    heartbeatMs: options.timers.heartbeatMs,
    stallMs: options.timers.stallMs,
    format,
    promptTokens: request.promptTokens,
    describe: (error) => describe(error, request),
    abort() {
      controller.abort(new ClientLeft('the client left'))
      reply?.cancel()
    },
    onEnd({ error, cause, hasClientLeft, usage }) {
      options.streamsOpen.add(-1)
      request.settle(
        hasClientLeft
          ? { status: 499, error: 'client_left', usage }
          : { status: 200, usage, ...outcomeOfError(error, cause) },
      )
      if (hasClientLeft) context.drop()
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
    headers: streamHeaders(request, served),
  })
}

/** Calls the listener on abort; at once if already aborted. */
function onAbort({ signal }: CallController, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
