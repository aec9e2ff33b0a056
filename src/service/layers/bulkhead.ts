import type { Layer } from '../service.ts'
import type { Tokens } from '../trail.ts'

/**
 * Tells when a reply has come to its end, however it ends, and what it came to: a whole one at once, a stream later.
 * Returns the reply to hand on.
 */
export type WatchEnd<Reply> = (reply: Reply, onEnd: (failure: unknown, tokens?: Tokens) => void) => Reply

/** A limit on requests under way at one upstream. */
export interface Bulkhead<Request, Reply> {
  readonly isFull: boolean
  readonly layer: Layer<Request, Reply>
}

/**
 * Counts the requests under way, streams until their last byte. It refuses nothing itself: who is full is skipped
 * (failover.md, `max_concurrent`).
 */
export function bulkhead<Request, Reply>(most: number, watchEnd: WatchEnd<Reply>): Bulkhead<Request, Reply> {
  let underWay = 0
  const leave = () => {
    underWay -= 1
  }
  return {
    get isFull() {
      return underWay >= most
    },
    layer: (inner) =>
      async function counted(request, call) {
        underWay += 1
        try {
          return watchEnd(await inner(request, call), leave)
        } catch (error) {
          leave()
          throw error
        }
      },
  }
}
