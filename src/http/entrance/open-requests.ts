/** Requests from their acceptance to the last byte of their answer. */
export interface OpenRequests {
  /**
   * Adds a request.
   *
   * @param stop ends the request with an error that the client can read
   * @param peerPort remote port of its connection; `undefined` once it is closed
   * @returns removes the request; to be called once, at its end
   */
  begin(stop: () => void, peerPort?: () => number | undefined): () => void
  readonly count: number
  /** Known remote ports of all requests. Expensive: it asks the server for each. */
  peers(): ReadonlySet<number>
  /** Resolves when no request is open; at once if none is. */
  idle(): Promise<void>
  /** Stops all open requests. */
  stopAll(): void
}

/** Tracks open requests, so that a shutdown can wait for them. */
export function openRequests(): OpenRequests {
  const stops = new Map<() => void, () => number | undefined>()
  let waiting: (() => void)[] = []
  return {
    begin(stop, peerPort = unknown) {
      stops.set(stop, peerPort)
      return () => {
        stops.delete(stop)
        if (stops.size > 0) return
        for (const resolve of waiting) resolve()
        waiting = []
      }
    },
    get count() {
      return stops.size
    },
    peers: () => new Set([...stops.values()].flatMap((peerPort) => peerPort() ?? [])),
    idle: () =>
      stops.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
    stopAll() {
      for (const stop of [...stops.keys()]) stop()
    },
  }
}

function unknown(): undefined {
  return undefined
}
