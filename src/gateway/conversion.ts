import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { answerBytesDefault, streamOf, type StreamFormat } from '../formats/format.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import type { Reply, StreamReply } from '../formats/reply.ts'
import type { AnswerBudget, AnswerReservation } from '../service/answer-budget.ts'
import { outOfResources, UpstreamFailure } from '../service/failure.ts'
import type { Layer } from '../service/service.ts'

/**
 * Converts an answer to the kind that the caller asked for: a whole answer into a stream, a stream into a whole answer
 * (failover.md rows 30 and 31). A whole answer stays whole in a format that cannot split it.
 *
 * @param budget memory budget of streams while they are gathered
 */
export function conversion(budget: AnswerBudget): Layer<Ask, Reply> {
  return (inner) =>
    async function converted(request, call) {
      const reply = await inner(request, call)
      if (request.stream === (reply.kind === 'stream')) return reply
      const { split, gatherer } = formats[request.format].stream ?? {}
      if (reply.kind === 'whole')
        return split === undefined
          ? reply
          : streamOf(
              understood(() => split(reply.body, request)),
              reply.model,
            )
      if (gatherer === undefined) {
        reply.cancel()
        throw inconvertible()
      }
      const reservation = budget.reservation()
      const cancel = () => reply.cancel()
      call.signal.addEventListener('abort', cancel, { once: true })
      try {
        const whole = await gather(reply, gatherer(request), reservation)
        // An aborted stream ends like a complete one, but its parts are not a complete answer.
        if (call.signal.aborted) throw call.signal.reason
        return whole
      } finally {
        call.signal.removeEventListener('abort', cancel)
        reservation.release()
        reply.cancel()
      }
    }
}

async function gather(
  reply: StreamReply,
  whole: ReturnType<StreamFormat['gatherer']>,
  reservation: AnswerReservation,
): Promise<Reply> {
  let bytes = 0
  let usage
  let isEmpty = true
  let isBlank = true
  for (let parts = await reply.read(); parts !== undefined; parts = await reply.read()) {
    for (const part of parts) {
      bytes += part.data.length
      if (bytes > answerBytesDefault) throw new UpstreamFailure('too_large', 'the answer is too large', { status: 200 })
      if (!reservation.reserve(part.data.length)) throw outOfResources()
      usage = part.usage ?? usage
      isBlank &&= part.text === '' && !part.isBeyondText
      isEmpty &&= isBlank && (part.finishReason === undefined || part.finishReason === 'stop')
      if (part.data.length > 0) understood(() => whole.add(part))
    }
  }
  return { kind: 'whole', body: understood(() => whole.finish()), usage, isEmpty, isBlank, model: reply.model }
}

/** An answer that cannot be converted is the upstream's failure. */
function understood<Result>(convert: () => Result): Result {
  try {
    return convert()
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error
    throw inconvertible(error)
  }
}

function inconvertible(cause?: unknown): UpstreamFailure {
  return new UpstreamFailure('malformed', 'the answer cannot be converted', { status: 200, cause })
}
