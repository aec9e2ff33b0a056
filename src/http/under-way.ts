/** The requests that were accepted and are not answered to the end. */
export interface UnderWay {
  /**
   * One begins.
   * @param stop ends it, with an error the client can read
   * @returns to be called once, when it has ended
   */
  begin(stop: () => void): () => void
  readonly count: number
  /** Resolves when none is left; at once when there is none. */
  idle(): Promise<void>
  /** Stops all that are left. */
  stopAll(): void
}

/** Counts requests from acceptance to last byte, so that a stop can wait for them. */
export function underWay(): UnderWay {
  const stops = new Set<() => void>()
  let waiting: (() => void)[] = []
  return {
    begin(stop) {
      stops.add(stop)
      return () => {
        stops.delete(stop)
        if (stops.size > 0) return
        for (const resolve of waiting) resolve()
        waiting = []
      }
    },
    get count() { return stops.size },
    idle: () => (stops.size === 0 ? Promise.resolve() : new Promise((resolve) => { waiting.push(resolve) })),
    stopAll() {
      for (const stop of [...stops]) stop()
    },
  }
}
