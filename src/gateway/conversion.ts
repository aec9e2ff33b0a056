import type { ChatReply, StreamReply } from '../protocols/protocol.ts'
import type { AnswerRoom, AnswerShare } from '../service/answer-room.ts'
import { outOfRoom, UpstreamFailure } from '../service/failure.ts'
import type { Layer } from '../service/service.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { chunkAggregator, completionToChunks } from '../wire/conversion.ts'
import { MalformedAnswer } from '../wire/malformed-answer.ts'

const bytesMost = 32 * 1024 * 1024

/**
 * Gives the caller the kind of answer that was asked for: a whole one becomes chunks, a stream is gathered (failover.md
 * rows 30 and 31).
 *
 * @param room what streams share while they are gathered
 */
export function conversion(room: AnswerRoom): Layer<ChatRequest, ChatReply> {
  return (inner) =>
    async function converted(request, call) {
      const reply = await inner(request, call)
      if (request.stream)
        return reply.kind === 'stream'
          ? reply
          : streamOf(understood(() => completionToChunks(reply.body, { includeUsage: request.includeUsage })))
      if (reply.kind === 'whole') return reply
      const share = room.share()
      const cancel = () => reply.cancel()
      call.signal.addEventListener('abort', cancel, { once: true })
      try {
        const whole = await gather(reply, share)
        // An aborted stream reads as if it had ended: what was gathered of it is no answer.
        if (call.signal.aborted) throw call.signal.reason
        return whole
      } finally {
        call.signal.removeEventListener('abort', cancel)
        share.release()
        reply.cancel()
      }
    }
}

function streamOf(chunks: readonly ChatChunk[]): ChatReply {
  let pending: readonly ChatChunk[] | undefined = chunks
  return {
    kind: 'stream',
    isEmpty: false,
    async read() {
      const all = pending
      pending = undefined
      return all
    },
    cancel() {
      pending = undefined
    },
  }
}

async function gather(reply: StreamReply, share: AnswerShare): Promise<ChatReply> {
  const aggregator = chunkAggregator()
  let bytes = 0
  let usage
  let isEmpty = true
  for (let chunks = await reply.read(); chunks !== undefined; chunks = await reply.read()) {
    for (const chunk of chunks) {
      bytes += chunk.data.length
      if (bytes > bytesMost) throw new UpstreamFailure('too_large', 'an answer that is too large', { status: 200 })
      if (!share.hold(chunk.data.length)) throw outOfRoom()
      usage = chunk.usage ?? usage
      if (
        chunk.text !== '' ||
        chunk.isBeyondText ||
        (chunk.finishReason !== undefined && chunk.finishReason !== 'stop')
      )
        isEmpty = false
      if (chunk.data.length > 0) understood(() => aggregator.add(chunk))
    }
  }
  return { kind: 'whole', body: understood(() => aggregator.finish()), usage, isEmpty }
}

/** What cannot be converted is the upstream's failure. */
function understood<Result>(convert: () => Result): Result {
  try {
    return convert()
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error
    throw new UpstreamFailure('malformed', 'an answer that cannot be converted', { status: 200, cause: error })
  }
}
