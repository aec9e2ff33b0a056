/** Work that is repeated until `stop`. */
export interface Steady {
  /** Resolves when the current run has ended. */
  stop(): Promise<void>
}

/** Runs `work` every `ms`, never twice at the same time: a late run follows the previous one at once. */
export function steadily(ms: number, work: () => Promise<void> | void): Steady {
  let isOver = false
  const stopping = Promise.withResolvers<void>()
  async function goOn(): Promise<void> {
    let due = performance.now() + ms
    while (!isOver) {
      await Promise.race([Bun.sleep(Math.max(0, due - performance.now())), stopping.promise])
      if (isOver) return
      due = Math.max(due + ms, performance.now())
      await work()
    }
  }
  const done = goOn()
  return {
    stop() {
      isOver = true
      stopping.resolve()
      return done
    },
  }
}
