/** The requests that were accepted and are not answered to the end. */
export interface UnderWay {
  /**
   * One begins.
   *
   * @param stop ends it, with an error the client can read
   * @param peerPort the port of its client, as long as it is connected
   * @returns to be called once, when it has ended
   */
  begin(stop: () => void, peerPort?: () => number | undefined): () => void
  readonly count: number
  /** The ports of their clients, where they are known. Asks the server about each: not to be called often. */
  peers(): ReadonlySet<number>
  /** Resolves when none is left; at once when there is none. */
  idle(): Promise<void>
  /** Stops all that are left. */
  stopAll(): void
}

/** Counts requests from acceptance to last byte, so that a stop can wait for them. */
export function underWay(): UnderWay {
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
