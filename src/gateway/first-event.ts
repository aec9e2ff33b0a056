import type { ChatReply, ChatService, StreamReply } from '../protocols/protocol.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { ChatRequest } from '../wire/chat-request.ts'

const heldChunksMost = 64
const heldBytesMost = 256 * 1024

/**
 * Holds a stream back until its first meaningful event, so that failing over before it is free (failover.md rule 3).
 * Asked for a whole answer, it does nothing.
 *
 * @throws {UpstreamFailure} `empty` when the stream ends before, `malformed` when more than 64 events or 256 KiB come
 *   before
 */
export function firstEvent(inner: ChatService): ChatService {
  async function heldUntilFirstEvent(request: ChatRequest, call: Call): Promise<ChatReply> {
    const reply = await inner(request, call)
    if (reply.kind === 'whole') return reply
    const cancel = () => reply.cancel()
    call.signal.addEventListener('abort', cancel, { once: true })
    try {
      return replay(reply, await readUntilMeaningful(reply))
    } catch (error) {
      reply.cancel()
      throw error
    } finally {
      call.signal.removeEventListener('abort', cancel)
    }
  }
  return (request, call) => (request.stream ? heldUntilFirstEvent(request, call) : inner(request, call))
}

async function readUntilMeaningful(reply: StreamReply): Promise<readonly ChatChunk[]> {
  let held: readonly ChatChunk[] = []
  let bytes = 0
  for (;;) {
    const chunks = await reply.read()
    if (chunks === undefined) throw new UpstreamFailure('empty', 'a stream without content', { status: 200 })
    held = held.length === 0 ? chunks : [...held, ...chunks]
    if (chunks.some((chunk) => chunk.isMeaningful)) return held
    bytes = held.reduce((sum, chunk) => sum + chunk.data.length, 0)
    if (held.length > heldChunksMost || bytes > heldBytesMost) {
      throw new UpstreamFailure('malformed', 'too many events without content', { status: 200 })
    }
  }
}

function replay(reply: StreamReply, held: readonly ChatChunk[]): ChatReply {
  let pending: readonly ChatChunk[] | undefined = held
  return {
    kind: 'stream',
    isEmpty:
      held.every((chunk) => chunk.text === '' && !chunk.isBeyondText) &&
      held.some((chunk) => chunk.finishReason === 'stop'),
    read() {
      if (pending === undefined) return reply.read()
      const chunks = pending
      pending = undefined
      return Promise.resolve(chunks)
    },
    cancel: () => reply.cancel(),
  }
}
