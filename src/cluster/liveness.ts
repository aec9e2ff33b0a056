/** Questions in a row without an answer. A machine that slept counts as one. */
const unansweredMost = 4

/** How a hung process is told from a busy one. */
export interface LivenessOptions {
  /** Asks whether it is alive; settles when it has answered, or ended. */
  readonly ask: () => Promise<unknown>
  /** It has answered none of the last questions. Told once. */
  readonly onHung: () => void
  /** Milliseconds between questions. */
  readonly everyMs: number
}

/**
 * Asks a process from time to time whether it is alive: one that is stopped, or turns in a circle, ends nothing and
 * takes in people nobody serves. @returns ends it
 */
export function watchLiveness({ ask, onHung, everyMs }: LivenessOptions): () => void {
  let unanswered = 0
  const timer = setInterval(() => {
    if (unanswered >= unansweredMost) {
      clearInterval(timer)
      onHung()
      return
    }
    unanswered += 1
    ask().then(
      () => {
        unanswered = 0
      },
      () => undefined,
    )
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
