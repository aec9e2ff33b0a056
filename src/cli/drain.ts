import { openConnections, type OpenConnections } from '../cluster/open-connections.ts'
import type { Server } from '../http/server.ts'
import type { UnderWay } from '../http/under-way.ts'
import type { Logger } from '../observe/log.ts'
import type { ServeTimers } from './timers.ts'

const lastWordsMs = 1_000
/** Between two looks at the connections that are left. */
const lookMs = 200,
  lastLookMs = 20
/** While requests are under way, looking takes at most one part in so many of the time, and a little more. */
const restFactor = 10
/**
 * While others serve, clients may use an idle connection once more for so much of the time to leave; the answer says
 * that it was the last one. Those that stay idle are ended then: a request that came at the last moment could not be
 * finished.
 */
const usedShare = 1 / 2
/**
 * Not so those that were used within so much of it, by a stream that began before: many clients keep a connection for
 * up to 5 s.
 */
const quietShare = 1 / 5

/** What {@link drain} needs. */
export interface Drain {
  readonly server: Server
  readonly requests: UnderWay
  readonly log: Logger
  readonly timers: ServeTimers
  /** Nobody who still comes is served. */
  readonly isHasty: boolean
  /** Leaves the port to others of this service, where there are any. @returns whether it did */
  readonly leavePort: () => Promise<boolean>
  /** Told when it listens no more. */
  readonly leftPort: () => void
}

/**
 * Serves who still comes for a moment, then lets what was accepted finish, and gives up at the deadline
 * (docs/deployment.md).
 */
export async function drain({ server, requests, log, timers, isHasty, leavePort, leftPort }: Drain): Promise<void> {
  log.info('stopping', { under_way: requests.count })
  const began = performance.now(),
    deadline = Bun.sleep(timers.drainMs)
  const connections = isHasty ? undefined : openConnections(server.port)
  let hasLeftPort = false,
    isLate = false,
    isOver = false
  if (!isHasty) await Promise.race([serveOn(), deadline])
  const gone = hasLeftPort || (await connections?.stopListening()) ? farewell() : server.stop(false)
  leftPort()
  await Promise.race([allAnswered(), deadline])
  if (requests.count > 0) {
    log.warn('stopping although requests are under way', { under_way: requests.count })
    requests.stopAll()
    await Promise.race([requests.idle(), Bun.sleep(lastWordsMs)])
  }
  isLate = true
  // Bytes of the last answers may still be on their way to slow readers.
  await Promise.race([gone, Bun.sleep(lastWordsMs)])
  isOver = true
  await server.stop(true)

  /**
   * Until nobody is surprised by the end: others serve, and those who are connected have left or were idle for long; or
   * balancers had their time to notice.
   */
  async function serveOn(): Promise<void> {
    hasLeftPort = await leavePort()
    if (!hasLeftPort) return Bun.sleep(timers.drainWindowMs)
    leftPort()
    const end = began + timers.drainMs * usedShare
    // A look at many connections takes long; and none is worth it while requests are under way.
    await Promise.race([requests.idle(), Bun.sleep(Math.max(0, end - performance.now()))])
    while (performance.now() < end && countOf(connections) > 0) await Bun.sleep(lookMs)
  }

  /**
   * Ends idle connections, one after the other, until all have gone. Where nobody else serves, waiting for them helps
   * nobody.
   */
  async function farewell(): Promise<void> {
    while (!isOver) {
      const looked = performance.now(),
        isPatient = hasLeftPort && !isLate
      if (endIdle(isPatient ? timers.drainMs * quietShare : 0) === 0) return
      const restMs = (performance.now() - looked) * restFactor
      await Bun.sleep(isPatient ? lookMs : lastLookMs)
      if (requests.count > 0) await Promise.race([requests.idle(), Bun.sleep(restMs)])
    }
  }

  /** @returns how many connections are left */
  function endIdle(quietMs: number): number {
    // Of what is not chat, it is not known who waits for it.
    return server.pending > requests.count
      ? countOf(connections)
      : (connections?.endIdle(requests.peers(), quietMs) ?? 1)
  }

  /** A last request may have been on its way to us when the others ended. */
  async function allAnswered(): Promise<void> {
    do {
      await requests.idle()
      await Promise.race([gone, ...(hasLeftPort ? [] : [Bun.sleep(lookMs)])])
    } while (requests.count > 0)
  }
}

function countOf(connections: OpenConnections | undefined): number {
  return connections?.count() ?? 1
}
