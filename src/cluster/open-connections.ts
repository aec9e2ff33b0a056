import { closeListener, findListener } from './close-listener.ts'

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
  /** Stops listening without closing connections. @returns whether that succeeded */
  stopListening(): Promise<boolean>
}

/**
 * The connections of a port on which this process listens. `undefined` on another system than Linux, without libc, or
 * in a sandbox.
 */
export function openConnections(port: number): OpenConnections | undefined {
  const listener = orElse(() => findListener(port), undefined)
  if (listener === undefined) return undefined
  const { calls } = listener
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
    stopListening: () => closeListener(listener).catch(() => false),
  }
}

function orElse<Value>(action: () => Value, otherwise: Value): Value {
  try {
    return action()
  } catch {
    return otherwise // No descriptor is free to look, or no libc.
  }
}
