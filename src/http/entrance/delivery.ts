import type { PartStream, WholeReply } from '../../formats/reply.ts'
import { wholeAnswerBytes } from '../../formats/size.ts'
import { servedUsage } from '../../formats/usage.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { Cost } from '../../prices/cost.ts'
import type { CallController } from '../../service/service.ts'
import { wholeMicroseconds } from '../../service/trail.ts'
import { errorResponse, statusOf } from '../error-response.ts'
import type { ApiRequest } from './api-request.ts'
import { byteBody } from './byte-body.ts'
import { eventStreamBody } from './event-stream-body.ts'
import { pacedBody } from './paced-body.ts'
import { attemptOfAnswer, describe, outcomeOfError, type Outcome } from './progress.ts'
import { ClientLeft } from './read-body.ts'
import { attemptHeaders, unbuffered, withHeaders } from './reply-headers.ts'

/** Answers up to this size are given to the server at once, larger ones at the pace of their clients. */
const unpacedBytesMax = 256 * 1024
/**
 * Factor of the stall limit for large answers. The system buffers megabytes for a slow client, and accepts more only
 * after a third of them was read.
 */
const largeAnswerFactor = 4

/** Sends a whole answer. 503 if the memory budget has no space for a large one. */
export function wholeResponse(request: ApiRequest, served: ServedReply, reply: WholeReply): Response {
  const { body, contentType, usage } = reply
  const { context, format, controller, options } = request
  request.served = served
  request.content?.answered(body, contentType)
  const answer = { usage, answerBytes: wholeAnswerBytes(format, reply) }
  const headers = (cost: Cost | undefined) =>
    request.replyHeaders.of(request, contentType ?? 'application/json', served, cost)
  if (body.length <= unpacedBytesMax) {
    const cost = request.settle({ status: 200, usage: answer.usage, answerBytes: answer.answerBytes })
    return new Response(body, { headers: headers(cost) })
  }
  request.releaseBody()
  const reservation = options.answerBudget.reservation()
  if (!reservation.reserve(body.length)) {
    const error = overloaded('Response memory limit reached; try again shortly')
    request.settle({ status: statusOf(error, format), error: error.code, ...answer })
    return errorResponse(error, context.id, { format, headers: attemptHeaders(request) })
  }
  request.keepOpen()
  const { body: paced, cut } = pacedBody({
    bytes: body,
    stallMs: largeAnswerFactor * options.timers.stallMs,
    onEnd(isWhole) {
      reservation.release()
      request.settle({ ...answer, ...(isWhole ? { status: 200 } : cutOutcome()) })
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
  return new Response(paced, {
    headers: headers(served.costOf?.(servedUsage(usage, attemptOfAnswer(request)?.served))),
  })
}

/** An answer to a request for a stream. */
export interface AnsweringStream {
  /** Absent: the reply is not known yet, but the headers must be sent. */
  readonly served: ServedReply | undefined
  readonly answering: Promise<ServedReply>
}

/** Sends the bytes of a stream that has no events, such as audio. */
function byteResponse(request: ApiRequest, served: ServedReply, reply: PartStream, contentType: string): Response {
  const { context, controller, options } = request
  request.served = served
  request.firstTokenMs = wholeMicroseconds(performance.now() - context.started)
  const { body, fail, leave } = byteBody({
    reply: request.content?.passing(reply) ?? reply,
    stallMs: largeAnswerFactor * options.timers.stallMs,
    onEnd(end) {
      options.streamsOpen.add(-1)
      if (end === undefined) request.settle({ status: 200 })
      else if (end.kind === 'left') request.settle({ status: 499, error: 'client_left' })
      else request.settle({ status: 200, ...outcomeOfError(describe(end.error, request), end.error) })
      if (end !== undefined) context.drop()
    },
  })
  options.streamsOpen.add(1)
  onAbort(controller, () => {
    const reason: unknown = controller.signal.reason
    if (reason instanceof ClientLeft) leave()
    else fail(reason)
  })
  const headers = withHeaders(request.replyHeaders.of(request, contentType, served), unbuffered)
  return new Response(body, { headers })
}

/** Sends a stream, whether its reply is known or not. */
export function streamResponse(request: ApiRequest, { served, answering }: AnsweringStream): Response {
  if (served?.reply.kind === 'stream' && served.reply.contentType !== undefined)
    return byteResponse(request, served, served.reply, served.reply.contentType)
  const { context, controller, options } = request
  const { stream: format } = request.format
  if (format === undefined) throw new Error('a stream in a format without streams')
  let reply: PartStream | undefined
  const accept = (answer: ServedReply): PartStream => {
    const { reply: decided } = answer
    request.served = answer
    if (decided.kind !== 'stream') throw new Error('a whole reply to a stream request')
    request.firstTokenMs = wholeMicroseconds(performance.now() - context.started)
    reply = decided
    return request.content?.passing(decided) ?? decided
  }
  const stream = eventStreamBody({
    reply: served === undefined ? answering.then(accept) : accept(served),
    heartbeatMs: options.timers.heartbeatMs,
    stallMs: options.timers.stallMs,
    format,
    describe: (error) => describe(error, request),
    abort() {
      controller.abort(new ClientLeft('the client left'))
      reply?.cancel()
    },
    onEnd({ error, cause, hasClientLeft, ...answer }) {
      options.streamsOpen.add(-1)
      const settle = () =>
        request.settle(
          hasClientLeft
            ? { status: 499, error: 'client_left', ...answer }
            : { status: 200, ...answer, ...outcomeOfError(error, cause) },
        )
      // The end of an attempt under way may book a cost, which belongs into the record.
      const underWay = reply === undefined ? answering : reply.resuming
      if (underWay === undefined) settle()
      else underWay.then(settle, settle)
      if (hasClientLeft) context.drop()
    },
  })
  options.streamsOpen.add(1)
  onAbort(controller, () => {
    const reason: unknown = controller.signal.reason
    if (reason instanceof ClientLeft) stream.leave()
    else stream.fail(reason)
  })
  const headers = request.replyHeaders.ofEvents(request, served)
  if (context.keep !== undefined) {
    context.keep((to) => stream.send(to))
    return new Response(null, { headers })
  }
  // A direct stream writes to the socket without a queue between, and shows when the client does not read.
  const body: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    pull: (to) => stream.send(to),
    cancel: () => stream.leave(),
  }
  return new Response(new ReadableStream(body), { headers })
}

/** Calls the listener on abort; at once if already aborted. */
function onAbort({ signal }: CallController, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
