import { cpuSeconds } from '../cpu.ts'
import { plainLoad, plainLoadUntil } from '../load.ts'
import type { Measure } from './measure.ts'

/** Concurrent connections. */
const connections = 64
const warmUp = { requests: 20_000, seconds: 10 }

/** CPU time of the proxy for a plain request: 1 KB in, 1 KB out, 64 at once, as fast as it goes. */
export const plain: Measure = {
  name: 'plain',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  async run(contender, round, { seconds, loadCore }) {
    // What a runtime spends on compiling the first requests is not what a request costs.
    if (round === 1) await plainLoadUntil(contender, warmUp, loadCore)
    const before = contender.pid === undefined ? 0 : cpuSeconds(contender.pid)
    const outcome = await plainLoad(contender, connections, seconds, loadCore)
    const used = contender.pid === undefined ? 0 : cpuSeconds(contender.pid) - before
    return {
      ...(contender.pid === undefined ? {} : { cpuUs: (used * 1e6) / outcome.requests, busyPercent: (used * 1e8) / outcome.durationUs }),
      perSecond: (outcome.requests * 1e6) / outcome.durationUs,
      p50Us: outcome.p50Us,
      p99Us: outcome.p99Us,
    }
  },
}
