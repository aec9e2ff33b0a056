/**
 * Runs `work` for all who ask, never twice at once: whoever asks while it runs gets the next run, with all others who
 * wait for it, so that what they get was begun after they asked.
 *
 * @param work must not reject
 */
export function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function start(): Promise<void> {
    next = undefined
    running = work().then(() => {
      if (next === undefined) running = undefined
    })
    return running
  }

  return function run() {
    if (running === undefined) return start()
    next ??= running.then(start)
    return next
  }
}
