import type { ChatReply } from '../protocols/protocol.ts'
import type { Tokens } from '../service/trail.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { Usage } from '../wire/usage.ts'

/** Why a reply ended early without anybody's failure: it was no longer wanted. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/**
 * Tells once when a reply has come to its end: a whole one at once, a stream when it is read to the end (`undefined`),
 * fails (its error) or is no longer wanted ({@link Cancelled}).
 */
export function watchEnd(reply: ChatReply, onEnd: (failure: unknown, tokens?: Tokens) => void): ChatReply {
  if (reply.kind === 'whole') {
    onEnd(undefined, reply.usage)
    return reply
  }
  let usage: Usage | undefined
  let hasEnded = false
  const end = (failure: unknown) => {
    if (hasEnded) return
    hasEnded = true
    onEnd(failure, usage)
  }
  const seen = (chunks: readonly ChatChunk[] | undefined) => {
    if (chunks === undefined) end(undefined)
    else for (const chunk of chunks) if (chunk.usage !== undefined) usage = chunk.usage
    return chunks
  }
  const failed = (error: unknown): never => {
    end(error)
    throw error
  }
  return {
    kind: 'stream',
    isEmpty: reply.isEmpty,
    read: () => reply.read().then(seen, failed),
    cancel() {
      reply.cancel()
      end(new Cancelled())
    },
  }
}
