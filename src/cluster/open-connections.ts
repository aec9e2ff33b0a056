import { closeListener, findListener } from './close-listener.ts'

/** The connections that clients have to a port of this process. Nothing of it throws. */
export interface OpenConnections {
  /**
   * How many there are; at least 1 when it cannot be told. Looks at every descriptor, 3 µs each: not to be asked often
   * while there are thousands.
   */
  count(): number
  /**
   * Ends those that are idle, each in the moment in which nothing has come on it: a request that has come is left for
   * the server to answer, and what was sent has arrived. One that is sent while the end is on its way is lost all the
   * same; no server can prevent that.
   *
   * @param busy ports of clients who wait for an answer
   * @param quietMs those that were used within so many milliseconds stay
   * @returns how many stay; at least 1 when it cannot be told
   */
  endIdle(busy: ReadonlySet<number>, quietMs: number): number
  /** Stops listening, and touches none of them. @returns whether that was done */
  stopListening(): Promise<boolean>
}

/**
 * Finds out what can be done with the connections to a port on which this process listens; `undefined` where nothing
 * can: not Linux, no libc, a sandbox.
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
    return otherwise // There is no descriptor free to look, or no libc; the caller goes on without.
  }
}
