import { histogram, type Histogram } from './histogram.ts'
import type { LoadOutcome, LoadSeen } from './load-plan.ts'
import type { TokenFaults } from './stream-check.ts'

const complaintsMax = 10

/** Running counts of a client process. */
export interface LoadTally {
  readonly streams: {
    open: number
    openMax: number
    complete: number
    broken: number
    left: number
    tokensExpected: number
  }
  readonly faults: TokenFaults
  readonly plain: { right: number; failed: number }
  /** Durations of tokens on their way, and of plain requests; µs. */
  readonly delays: Histogram
  readonly latencies: Histogram
  /** Records a failure; the first ten are kept. */
  complain(what: string): void
  seen(): LoadSeen
  outcome(): LoadOutcome
}

/** Makes a tally with all counts 0. */
export function loadTally(): LoadTally {
  const started = performance.now()
  const streams = { open: 0, openMax: 0, complete: 0, broken: 0, left: 0, tokensExpected: 0 }
  const faults: TokenFaults = { seen: 0, lost: 0, garbled: 0, duplicated: 0 }
  const plain = { right: 0, failed: 0 }
  const complaints: string[] = []
  const delays = histogram(),
    latencies = histogram()
  const seen = (): LoadSeen => ({ streams, faults, plain, complaints })
  return {
    streams,
    faults,
    plain,
    delays,
    latencies,
    seen,
    complain(what) {
      if (complaints.length < complaintsMax)
        complaints.push(`after ${((performance.now() - started) / 1_000).toFixed(1)} s: ${what}`)
    },
    outcome: () => ({ ...seen(), delays: [...delays.counts], latencies: [...latencies.counts] }),
  }
}
