import type { ProviderTest } from '../../src/http/page/page-api.ts'

/** Tests that run at once: as many as the service allows. */
const concurrentMax = 4

/** The last test of each provider, by its id. */
export type TestResults = ReadonlyMap<string, ProviderTest | 'running'>

/** How many of some providers were tested. */
export interface TestProgress {
  readonly done: number
  readonly failed: number
}

/** Counts the last tests of providers. */
export function progressOf(ids: readonly string[], tests: TestResults): TestProgress {
  const ended = ids.flatMap((id) => tests.get(id) ?? []).filter((each) => each !== 'running')
  return { done: ended.length, failed: ended.filter(({ ok }) => !ok).length }
}

/**
 * Tests providers, four at a time. The rest is left out when the signal aborts.
 *
 * @param test whether a provider answered; never rejects
 */
export async function testAll(
  ids: readonly string[],
  test: (id: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<TestProgress> {
  const waiting = [...ids]
  const outcomes: boolean[] = []

  async function work(): Promise<void> {
    for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift())
      outcomes.push(await test(id))
  }

  await Promise.all(Array.from({ length: concurrentMax }, work))
  return { done: outcomes.length, failed: outcomes.filter((isOk) => !isOk).length }
}
