import { expect, test } from 'bun:test'
import { measureAborts } from './aborts.ts'
import { measureFailovers } from './failovers.ts'
import { openStreams } from './open-streams.ts'
import { measureRestarts } from './restarts.ts'

/**
 * The short forms of `npm run streams` and `npm run promises`. A busy machine is slow, so there are no times to be kept
 * but such as only a fault exceeds.
 */

/** Longer than what is measured waits for anything, so that it is told what did not come. */
const patienceMs = 120_000
const quiet = (): void => undefined

test(
  '200 streams through two workers › every token comes, once and as it was sent',
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
  patienceMs,
)

test(
  'clients that leave their streams at any moment › the provider hears of each, and soon',
  async () => {
    const { left, missed, broken, delays, complaints } = await measureAborts({ workers: 0, count: 60 })
    expect(left).toBeGreaterThan(0)
    expect({ missed, broken, complaints }).toEqual({ missed: [], broken: 0, complaints: [] })
    expect(delays.percentile(50)).toBeLessThan(1_000_000)
  },
  patienceMs,
)

test(
  'first providers that refuse or fail at once › the second answers, and soon',
  async () => {
    const { wrong, complaints, refused, failed } = await measureFailovers({ workers: 0, count: 40 })
    expect({ wrong, complaints }).toEqual({ wrong: 0, complaints: [] })
    for (const durations of [refused, failed]) expect(durations.percentile(50)).toBeLessThan(1_000_000)
  },
  patienceMs,
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
  patienceMs,
)
