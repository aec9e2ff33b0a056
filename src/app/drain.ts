import { openConnections, type OpenConnections } from '../cluster/open-connections.ts'
import type { OpenRequests } from '../http/entrance/admission.ts'
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

class Draining {
  readonly #options: Drain
  readonly #began = performance.now()
  readonly #connections: OpenConnections | undefined
  /** Others listen on the port, and this process does not any more. */
  #hasLeftPort = false
  #isLate = false
  #isOver = false

  constructor(options: Drain) {
    this.#options = options
    this.#connections = options.isImmediate ? undefined : openConnections(options.server.port)
  }

  async run(): Promise<void> {
    const { server, requests, log, timers, isImmediate, leftPort } = this.#options
    const deadline = Bun.sleep(timers.drainMs)
    if (!isImmediate) await Promise.race([this.#serveOn(), deadline])
    const isAlone = this.#hasLeftPort || (await this.#connections?.stopListening()) === true
    const gone = isAlone ? this.#closeConnections() : server.stop(false)
    leftPort()
    await Promise.race([this.#allAnswered(gone), deadline])
    if (requests.count > 0) {
      log.warn('stopping with open requests', { under_way: requests.count })
      requests.stopAll()
      await Promise.race([requests.idle(), Bun.sleep(finalMs)])
    }
    this.#isLate = true
    // Slow readers may still receive the last bytes.
    await Promise.race([gone, Bun.sleep(finalMs)])
    this.#isOver = true
    await server.stop(true)
  }

  /** Serves on until connections to this process have moved to others, or balancers had time to notice. */
  async #serveOn(): Promise<void> {
    const { requests, timers, doOthersListen, leftPort } = this.#options
    this.#hasLeftPort = (await doOthersListen()) && (await this.#connections?.stopListening()) === true
    if (!this.#hasLeftPort) return Bun.sleep(timers.drainWindowMs)
    leftPort()
    const end = this.#began + timers.drainMs * idleShare
    // Counting many connections takes long, and is useless while requests are open.
    await Promise.race([requests.idle(), Bun.sleep(Math.max(0, end - performance.now()))])
    while (performance.now() < end && this.#count() > 0) await Bun.sleep(checkMs)
  }

  /** Closes idle connections until all have gone; at once if no other process serves. */
  async #closeConnections(): Promise<void> {
    const { requests, timers } = this.#options
    while (!this.#isOver) {
      const checkedAt = performance.now(),
        isPatient = this.#hasLeftPort && !this.#isLate
      if (this.#endIdle(isPatient ? timers.drainMs * quietShare : 0) === 0) return
      const restMs = (performance.now() - checkedAt) * restFactor
      await Bun.sleep(isPatient ? checkMs : shortCheckMs)
      if (requests.count > 0) await Promise.race([requests.idle(), Bun.sleep(restMs)])
    }
  }

  /** @returns the number of remaining connections */
  #endIdle(quietMs: number): number {
    const { server, requests } = this.#options
    // Requests outside the API are not tracked by connection.
    if (server.pending > requests.count) return this.#count()
    return this.#connections?.endIdle(requests.peers(), quietMs) ?? 1
  }

  /** Waits until no request is open, also for those that were on their way. */
  async #allAnswered(gone: Promise<void>): Promise<void> {
    const { requests } = this.#options
    do {
      await requests.idle()
      await Promise.race([gone, ...(this.#hasLeftPort ? [] : [Bun.sleep(checkMs)])])
    } while (requests.count > 0)
  }

  #count(): number {
    return this.#connections?.count() ?? 1
  }
}

/**
 * Serves new connections for a moment, then stops listening, finishes open requests, and gives up at the deadline
 * (docs/deployment.md).
 */
export async function drain(options: Drain): Promise<void> {
  options.log.info('stopping', { under_way: options.requests.count })
  await new Draining(options).run()
}
