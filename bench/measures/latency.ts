import { plainLoad } from '../load.ts'
import type { Measure } from './measure.ts'

/**
 * How long a plain request takes when it is the only one. What a proxy adds is its median less the upstream's own of
 * the same round.
 */
export const latency: Measure = {
  name: 'latency',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  async run(contender, _round, { seconds, loadCore }) {
    // Some thousand requests a second settle a median sooner than they settle a CPU time.
    const { p50Us, p99Us } = await plainLoad(contender, 1, Math.max(1, Math.round(seconds / 2)), loadCore)
    return { p50Us, p99Us }
  },
}
