import { plainLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 256
/** A slow proxy (some hundred a second) answers its first requests all together, after seconds. */
const secondsMin = 4

/** Plain requests per second: 1 KB in, 1 KB out, 256 at once, as fast as they are answered. */
export const throughput: Measure = {
  name: 'throughput',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  async run(contender, _round, { seconds, loadCore }) {
    const outcome = await plainLoad(contender, connections, Math.max(seconds, secondsMin), loadCore)
    return { perSecond: (outcome.requests * 1e6) / outcome.durationUs, p50Us: outcome.p50Us, p99Us: outcome.p99Us }
  },
}
