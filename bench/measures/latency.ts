import { plainLoad } from '../load.ts'
import type { Measure } from './measure.ts'

/**
 * Duration of a plain request, one at a time. The added time is the median through a proxy less that of the upstream in
 * the same round.
 */
export const latency: Measure = {
  name: 'latency',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  warmUp: 'requests',
  async run(contender, _round, { seconds, loadCore }) {
    // Half the time suffices: a median settles sooner than a CPU time.
    const { p50Us, p99Us } = await plainLoad(contender, 1, Math.max(1, Math.round(seconds / 2)), loadCore)
    return { p50Us, p99Us }
  },
}
