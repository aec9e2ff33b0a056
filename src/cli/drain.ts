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
  /** Leaves the port to others of this service, where there are any. @returns how many connections there still are, whenever asked */
  readonly leavePort: () => Promise<(() => number) | undefined>
  /** Told when it listens no more. */
  readonly leftPort: () => void
}

/** Between two looks at how many connections are left. */
const lookMs = 200

/** Serves who still comes for a moment, then lets what was accepted finish, and gives up at the deadline (docs/deployment.md). */
export async function drain({ server, requests, log, timers, isHasty, leavePort, leftPort }: Drain): Promise<void> {
  log.info('stopping', { under_way: requests.count })
  const deadline = Bun.sleep(timers.drainMs)
  if (!isHasty) await Promise.race([letGo(), deadline])
  const stopped = server.stop(false)
  leftPort()
  await Promise.race([requests.idle(), deadline])
  if (requests.count > 0) {
    log.warn('stopping although requests are under way', { under_way: requests.count })
    requests.stopAll()
    await Promise.race([requests.idle(), Bun.sleep(lastWordsMs)])
  }
  // Bytes of the last answers may still be on their way to slow readers.
  await Promise.race([stopped, Bun.sleep(lastWordsMs)])
  await server.stop(true)

  /** Until nobody is surprised by the end: others serve, and those who are connected have left; or balancers had their time to notice. */
  async function letGo(): Promise<void> {
    const end = performance.now() + timers.drainMs
    const connections = await leavePort()
    if (connections === undefined) return Bun.sleep(timers.drainWindowMs)
    leftPort()
    // A look at many connections takes long; and none is worth it while requests are under way.
    await requests.idle()
    while (connections() > 0 && performance.now() < end) await Bun.sleep(lookMs)
  }
}
