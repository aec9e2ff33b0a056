/**
 * Shares runs of `work`, one at a time, between callers. A call during a run waits for the next run, together with all
 * other such calls, so that each caller's run starts after its call.
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
