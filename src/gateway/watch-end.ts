import type { Part } from '../formats/part.ts'
import type { Reply } from '../formats/reply.ts'
import type { Usage } from '../formats/usage.ts'
import type { Tokens } from '../service/trail.ts'

/** A reply was cancelled. Not a failure of its provider. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/**
 * Calls `onEnd` once, at the end of a reply: for a whole one at once, for a stream when it was read to its end
 * (`undefined`), failed (its error) or was cancelled ({@link Cancelled}).
 */
export function watchEnd(reply: Reply, onEnd: (failure: unknown, tokens?: Tokens) => void): Reply {
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
  const seen = (parts: readonly Part[] | undefined) => {
    if (parts === undefined) end(undefined)
    else for (const part of parts) if (part.usage !== undefined) usage = part.usage
    return parts
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
