import type { EndListener, PartStream, Reply, StreamReply } from './reply.ts'
import type { Usage } from './usage.ts'

/** A reply was cancelled. Not a failure of its provider. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Calls `listener` at the end of a reply: at once for a whole one. */
export function onEnd(reply: Reply, listener: EndListener): void {
  if (reply.kind === 'whole') listener(undefined, reply.usage)
  else reply.onEnd(listener)
}

/** The end of one stream. */
export interface StreamEnd {
  /** As {@link StreamReply.onEnd}. */
  onEnd(listener: EndListener): void
  /** Calls all listeners. Later calls do nothing. */
  settle(failure: unknown, usage: Usage | undefined): void
}

/** Keeps the listeners of one stream. */
export function streamEnd(): StreamEnd {
  let listeners: readonly EndListener[] = []
  let outcome: Parameters<EndListener> | undefined
  return {
    onEnd(listener) {
      if (outcome === undefined) listeners = [...listeners, listener]
      else listener(...outcome)
    },
    settle(failure, usage) {
      if (outcome !== undefined) return
      outcome = [failure, usage]
      for (const listener of listeners) listener(failure, usage)
      listeners = []
    },
  }
}

/** Adds `onEnd` to a stream, at the cost of a promise for each read. */
export function watchable(stream: PartStream): StreamReply {
  const end = streamEnd()
  let usage: Usage | undefined
  return {
    kind: 'stream',
    isEmpty: stream.isEmpty,
    onEnd: end.onEnd,
    async read() {
      try {
        const parts = await stream.read()
        if (parts === undefined) end.settle(undefined, usage)
        else for (const part of parts) usage = part.usage ?? usage
        return parts
      } catch (error) {
        end.settle(error, usage)
        throw error
      }
    },
    cancel() {
      stream.cancel()
      end.settle(new Cancelled(), usage)
    },
  }
}
