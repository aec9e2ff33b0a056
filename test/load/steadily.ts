/** Does something again and again. */
export interface Steady {
  /** Ends it; resolves when what was under way is done. */
  stop(): Promise<void>
}

/** Does `work` every `ms`, but never twice at the same time: what takes longer is followed by the next at once. */
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
