export interface LateRefusalsOptions {
  /** By this time an answer comes late. 0: none does. */
  readonly delayMs: number
  /** Refusals a minute of one client whose answers come at once. Default 60. */
  readonly perMinute?: number
  /** Answers that wait at a time; further ones come at once. Default 1,000. */
  readonly waitingMax?: number
  /** Clients that are remembered. Default 10,000. */
  readonly clientsMax?: number
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number
}

const minuteMs = 60_000

/**
 * Delays the answers to a client that is refused again and again, so that a loop of a broken program does not ask as
 * fast as it can (docs/limits.md). Counts refusals by the generic cell rate algorithm: one time for each client.
 *
 * @returns `undefined`: the answer may be sent at once
 */
export function lateRefusals({
  delayMs,
  perMinute = 60,
  waitingMax = 1_000,
  clientsMax = 10_000,
  clock = () => performance.now(),
}: LateRefusalsOptions): (client: string) => Promise<void> | undefined {
  /** When all of a client's refusals are back, by client; the one that was refused last is the last. */
  const fullAt = new Map<string, number>()
  let waiting = 0

  function isBeyond(client: string): boolean {
    const now = clock()
    const next = Math.max(fullAt.get(client) ?? now, now) + minuteMs / perMinute
    const isLate = next > now + minuteMs
    fullAt.delete(client)
    fullAt.set(client, isLate ? now + minuteMs : next)
    if (fullAt.size > clientsMax)
      for (const [oldest] of fullAt) {
        fullAt.delete(oldest)
        break
      }
    return isLate
  }

  return function delayOf(client) {
    if (delayMs === 0 || !isBeyond(client) || waiting >= waitingMax) return undefined
    waiting += 1
    return Bun.sleep(delayMs).then(() => {
      waiting -= 1
    })
  }
}
