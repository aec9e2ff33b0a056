import { closeSync, openSync } from 'node:fs'
import { socketCalls, type SocketCalls } from './socket-calls.ts'

/** Turns of the event loop to wait for the server to accept all waiting connections. */
const turnsMax = 1_000

/** The client connections of a port of this process. Its functions never throw. */
export interface OpenConnections {
  /** Number of connections; at least 1 when unknown. Costs 3 µs per open descriptor. */
  count(): number
  /**
   * Closes idle connections, each only while nothing has arrived on it and all sent data is acknowledged. A request
   * that crosses the close is lost; no server can prevent that.
   *
   * @param busy ports of clients that wait for an answer
   * @param quietMs connections that were used within this time stay, in milliseconds
   * @returns the number of connections that stay; at least 1 when unknown
   */
  endIdle(busy: ReadonlySet<number>, quietMs: number): number
  /**
   * Stops listening when the server has accepted all waiting connections, without closing open ones. The kernel resets
   * connections that arrive at this moment, unless net.ipv4.tcp_migrate_req is set.
   *
   * @returns whether that succeeded
   */
  stopListening(): Promise<boolean>
}

/**
 * The connections of a port on which this process listens. `undefined` on another system than Linux, without libc, or
 * in a sandbox.
 */
export function openConnections(port: number): OpenConnections | undefined {
  const listener = orElse(() => findListener(port), undefined)
  if (listener === undefined) return undefined
  const { calls, socket: listening } = listener
  return {
    count: () => orElse(() => calls.find(port, 'established').length, 1),
    endIdle(busy, quietMs) {
      const isIdle = (socket: number): boolean => {
        const peer = calls.peerPort(socket)
        return peer !== undefined && !busy.has(peer) && calls.isQuiet(socket, quietMs)
      }
      return orElse(
        () => calls.find(port, 'established').filter((socket) => !(isIdle(socket) && calls.endSending(socket))).length,
        1,
      )
    },
    async stopListening() {
      const isListening = (): boolean => orElse(() => calls.is(listening, port, 'listening'), false)
      for (let turn = 0; turn < turnsMax && isListening() && calls.waiting(listening) > 0; turn++) await Bun.sleep(1)
      return isListening() && orElse(() => closeOnly(calls, listening), false)
    },
  }
}

function orElse<Value>(action: () => Value, otherwise: Value): Value {
  try {
    return action()
  } catch {
    return otherwise // No descriptor is free to look, or no libc.
  }
}

/** The socket with which this process listens. @throws on another system than Linux, without libc, in a sandbox */
function findListener(port: number): { readonly calls: SocketCalls; readonly socket: number } | undefined {
  if (process.platform !== 'linux') return undefined
  const calls = socketCalls()
  const [socket, ...more] = calls.find(port, 'listening')
  return socket === undefined || more.length > 0 ? undefined : { calls, socket }
}

/**
 * Replaces the descriptor of the listening socket with /dev/null. Bun's own `stop` also closes idle connections, and
 * loses requests that are on their way.
 */
function closeOnly(calls: SocketCalls, socket: number): boolean {
  const harmless = openSync('/dev/null', 'r')
  try {
    return calls.replace(socket, harmless)
  } finally {
    closeSync(harmless)
  }
}
