/** Consecutive pings without an answer. A machine that slept counts as one. */
const unansweredMax = 4

/** Options of {@link watchLiveness}. */
export interface LivenessOptions {
  /** Settles when the process has answered or ended. */
  readonly ping: () => Promise<unknown>
  /** The process has not answered the last pings. Called once. */
  readonly onHung: () => void
  /** Milliseconds between pings. */
  readonly everyMs: number
}

/**
 * Pings a process: one that is stopped, or in an endless loop, does not exit and still accepts connections.
 *
 * @returns stops the pings
 */
export function watchLiveness({ ping, onHung, everyMs }: LivenessOptions): () => void {
  let unanswered = 0
  const timer = setInterval(() => {
    if (unanswered >= unansweredMax) {
      clearInterval(timer)
      onHung()
      return
    }
    unanswered += 1
    ping().then(
      () => {
        unanswered = 0
      },
      () => undefined,
    )
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
