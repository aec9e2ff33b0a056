import { plainLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 256
/** A proxy that answers some hundred a second answers those that came together after seconds, also together. */
const secondsLeast = 4

/** Plain requests as fast as they are answered: 1 KB in, 1 KB out, 256 at once. */
export const throughput: Measure = {
  name: 'throughput',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  async run(contender, _round, { seconds, loadCore }) {
    const outcome = await plainLoad(contender, connections, Math.max(seconds, secondsLeast), loadCore)
    return { perSecond: (outcome.requests * 1e6) / outcome.durationUs, p50Us: outcome.p50Us, p99Us: outcome.p99Us }
  },
}
