import type { Layer } from '../service.ts'
import type { Tokens } from '../tokens.ts'

/** Calls `listener` once, when the reply has ended: at once for a whole reply, later for a stream. */
export type OnEnd<Reply> = (reply: Reply, listener: (failure: unknown, tokens?: Tokens) => void) => void

/** A concurrency limit of one upstream. */
export interface Bulkhead<Request, Reply> {
  readonly isFull: boolean
  readonly layer: Layer<Request, Reply>
}

/**
 * Counts concurrent requests, streams until their last byte. It refuses no request itself: failover skips a candidate
 * that is full (failover.md, `max_concurrent`).
 */
export function bulkhead<Request, Reply>(requestsMax: number, onEnd: OnEnd<Reply>): Bulkhead<Request, Reply> {
  let active = 0
  const leave = () => {
    active -= 1
  }
  return {
    get isFull() {
      return active >= requestsMax
    },
    layer: (inner) =>
      async function counted(request, call) {
        active += 1
        try {
          const reply = await inner(request, call)
          onEnd(reply, leave)
          return reply
        } catch (error) {
          leave()
          throw error
        }
      },
  }
}
