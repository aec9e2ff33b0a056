import type { Server } from '../http/server.ts'
import type { UnderWay } from '../http/under-way.ts'
import type { Logger } from '../observe/log.ts'
import type { ServeTimers } from './timers.ts'

const lastWordsMs = 1_000

/** What {@link drain} needs. */
export interface Drain {
  readonly server: Server
  readonly requests: UnderWay
  readonly log: Logger
  readonly timers: ServeTimers
  /** Nobody who still comes is served. */
  readonly isHasty: boolean
  /** Has newcomers sent elsewhere, where there are other processes. Default: there are none. */
  readonly leavePort?: () => Promise<void>
  /** Told when it listens no more. */
  readonly leftPort?: () => void
}

/** Serves who still comes for a moment, then lets what was accepted finish, and gives up at the deadline (decisions.md 6). */
export async function drain({ server, requests, log, timers, isHasty, leavePort, leftPort }: Drain): Promise<void> {
  log.info('stopping', { under_way: requests.count })
  const deadline = Bun.sleep(timers.drainMs)
  if (!isHasty) {
    await leavePort?.()
    await Promise.race([Bun.sleep(timers.drainWindowMs), deadline])
  }
  const stopped = server.stop(false)
  leftPort?.()
  await Promise.race([requests.idle(), deadline])
  if (requests.count > 0) {
    log.warn('stopping although requests are under way', { under_way: requests.count })
    requests.stopAll()
    await Promise.race([requests.idle(), Bun.sleep(lastWordsMs)])
  }
  // Bytes of the last answers may still be on their way to slow readers.
  await Promise.race([stopped, Bun.sleep(lastWordsMs)])
  await server.stop(true)
}
