import { openConnections, type OpenConnections } from '../cluster/open-connections.ts'
import type { OpenRequests } from '../http/entrance/open-requests.ts'
import type { Server } from '../http/server.ts'
import type { Logger } from '../observe/log.ts'
import type { ServeTimers } from './timers.ts'

/** Time for aborted requests to end, and for the last bytes to be sent. */
const finalMs = 1_000
/** Between two checks of open connections; the short one when this process is the only one. */
const checkMs = 200,
  shortCheckMs = 20
/** While requests are open, checks take at most about a tenth of the time. */
const restFactor = 10
/**
 * Share of the drain time in which idle connections stay open, if other processes serve. Each answer closes its
 * connection. Afterwards idle connections are closed: a later request might not finish in time.
 */
const idleShare = 1 / 2
/** Connections used within this share of the drain time stay: many clients keep a connection for up to 5 s. */
const quietShare = 1 / 5

export interface Drain {
  readonly server: Server
  readonly requests: OpenRequests
  readonly log: Logger
  readonly timers: ServeTimers
  /** Refuse new connections at once. */
  readonly isImmediate: boolean
  /** Whether other processes of this service listen on the port. */
  readonly doOthersListen: () => Promise<boolean>
  /** Called when this process has stopped listening. */
  readonly leftPort: () => void
}

/**
 * Serves new connections for a moment, then stops listening, finishes open requests, and gives up at the deadline
 * (docs/deployment.md).
 */
export async function drain(options: Drain): Promise<void> {
  const { server, requests, log, timers, isImmediate, doOthersListen, leftPort } = options
  log.info('stopping', { under_way: requests.count })
  const began = performance.now(),
    deadline = Bun.sleep(timers.drainMs)
  const connections = isImmediate ? undefined : openConnections(server.port)
  let hasLeftPort = false,
    isLate = false,
    isOver = false
  if (!isImmediate) await Promise.race([serveOn(), deadline])
  const gone = hasLeftPort || (await connections?.stopListening()) ? closeConnections() : server.stop(false)
  leftPort()
  await Promise.race([allAnswered(), deadline])
  if (requests.count > 0) {
    log.warn('stopping with open requests', { under_way: requests.count })
    requests.stopAll()
    await Promise.race([requests.idle(), Bun.sleep(finalMs)])
  }
  isLate = true
  // Slow readers may still receive the last bytes.
  await Promise.race([gone, Bun.sleep(finalMs)])
  isOver = true
  await server.stop(true)

  /** Serves on until connections to this process have moved to others, or balancers had time to notice. */
  async function serveOn(): Promise<void> {
    hasLeftPort = (await doOthersListen()) && (await connections?.stopListening()) === true
    if (!hasLeftPort) return Bun.sleep(timers.drainWindowMs)
    leftPort()
    const end = began + timers.drainMs * idleShare
    // Counting many connections takes long, and is useless while requests are open.
    await Promise.race([requests.idle(), Bun.sleep(Math.max(0, end - performance.now()))])
    while (performance.now() < end && countOf(connections) > 0) await Bun.sleep(checkMs)
  }

  /** Closes idle connections until all have gone; at once if no other process serves. */
  async function closeConnections(): Promise<void> {
    while (!isOver) {
      const checkedAt = performance.now(),
        isPatient = hasLeftPort && !isLate
      if (endIdle(isPatient ? timers.drainMs * quietShare : 0) === 0) return
      const restMs = (performance.now() - checkedAt) * restFactor
      await Bun.sleep(isPatient ? checkMs : shortCheckMs)
      if (requests.count > 0) await Promise.race([requests.idle(), Bun.sleep(restMs)])
    }
  }

  /** @returns the number of remaining connections */
  function endIdle(quietMs: number): number {
    // Requests outside the API are not tracked by connection.
    return server.pending > requests.count
      ? countOf(connections)
      : (connections?.endIdle(requests.peers(), quietMs) ?? 1)
  }

  /** Waits until no request is open, also for those that were on their way. */
  async function allAnswered(): Promise<void> {
    do {
      await requests.idle()
      await Promise.race([gone, ...(hasLeftPort ? [] : [Bun.sleep(checkMs)])])
    } while (requests.count > 0)
  }
}

function countOf(connections: OpenConnections | undefined): number {
  return connections?.count() ?? 1
}
