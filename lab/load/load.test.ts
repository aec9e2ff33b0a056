import { expect, test } from 'bun:test'
import { measureAborts } from './aborts.ts'
import { measureFailovers } from './failovers.ts'
import { openStreams } from './open-streams.ts'
import { measureRestarts } from './restarts.ts'

/** Short forms of `npm run streams` and `npm run promises`. Time limits are wide: only a fault exceeds them. */

/** Longer than every wait inside, so that those waits report their own failure first. */
const timeoutMs = 120_000
const quiet = (): void => undefined

test(
  '200 streams through two workers › every token arrives once and unchanged',
  async () => {
    const { outcome, peak } = await openStreams(
      { streams: 200, workers: 2, seconds: 1, rampSeconds: 1, paceMs: 100 },
      quiet,
    )
    expect(outcome.complaints).toEqual([])
    expect(outcome.streams).toMatchObject({ complete: 200, broken: 0, tokensExpected: 4_000 })
    expect(outcome.faults).toEqual({ seen: 4_000, lost: 0, garbled: 0, duplicated: 0 })
    expect(peak.processes).toBe(3)
  },
  timeoutMs,
)

test(
  'clients that leave their streams at any moment › each request at the provider is aborted, and soon',
  async () => {
    const { left, missed, broken, delays, complaints } = await measureAborts({ workers: 0, count: 60 })
    expect(left).toBeGreaterThan(0)
    expect({ missed, broken, complaints }).toEqual({ missed: [], broken: 0, complaints: [] })
    expect(delays.percentile(50)).toBeLessThan(1_000_000)
  },
  timeoutMs,
)

test(
  'first providers that refuse or fail at once › the second answers, and soon',
  async () => {
    const { wrong, complaints, refused, failed } = await measureFailovers({ workers: 0, count: 40 })
    expect({ wrong, complaints }).toEqual({ wrong: 0, complaints: [] })
    for (const durations of [refused, failed]) expect(durations.percentile(50)).toBeLessThan(1_000_000)
  },
  timeoutMs,
)

test(
  'a rolling restart and reloads under load › no request fails and no stream breaks',
  async () => {
    const asked = {
      workers: 2,
      rolls: 1,
      seconds: 2,
      reloadsPerSecond: 5,
      requestsPerSecond: 50,
      streams: 20,
      tokens: 5,
    }
    const { outcome, rolls, complaints } = await measureRestarts(asked, quiet)
    expect({ rolls, complaints }).toEqual({ rolls: 1, complaints: [] })
    expect(outcome.plain).toMatchObject({ failed: 0 })
    expect(outcome.streams).toMatchObject({ broken: 0 })
    expect(outcome.streams.complete).toBeGreaterThan(0)
  },
  timeoutMs,
)
