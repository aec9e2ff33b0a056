/** Tests that run at once: as many as the service allows. */
const concurrentMax = 4

/** Progress of a test of several providers. */
export interface TestProgress {
  readonly done: number
  readonly failed: number
  readonly count: number
}

/**
 * Tests providers, four at a time. The rest is left out when the signal aborts.
 *
 * @param test whether a provider answered; never rejects
 * @param onProgress called at the start, and after each test
 */
export async function testAll(
  ids: readonly string[],
  test: (id: string) => Promise<boolean>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (progress: TestProgress) => void },
): Promise<TestProgress> {
  const waiting = [...ids]
  let progress: TestProgress = { done: 0, failed: 0, count: ids.length }
  onProgress(progress)

  async function work(): Promise<void> {
    for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) {
      const isOk = await test(id)
      const { done, failed, count } = progress
      progress = { done: done + 1, failed: failed + (isOk ? 0 : 1), count }
      onProgress(progress)
    }
  }

  await Promise.all(Array.from({ length: concurrentMax }, work))
  return progress
}
