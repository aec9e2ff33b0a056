import { streamLoad } from '../load.ts'
import type { Measure } from './measure.ts'

/** Tokens of each stream, and their interval. */
const chunks = 3
const paceUs = 1000
/** Streams for each second of a measurement. Direct streams take a quarter of it, a slow proxy several times it. */
const streamsPerSecond = 100

/**
 * Request written → first token received, one stream at a time. The added time is the median through a proxy less that
 * of the upstream in the same round.
 */
export const firstToken: Measure = {
  name: 'first-token',
  includesDirect: true,
  peersOnce: false,
  needsStreams: true,
  warmUp: 'streams',
  async run(contender, _round, { seconds, loadCore }) {
    const streamsPerConnection = Math.max(1, Math.round(streamsPerSecond * seconds))
    const outcome = await streamLoad(contender, { connections: 1, chunks, paceUs, streamsPerConnection }, loadCore)
    return { p50Us: outcome.firstContentP50Us, p99Us: outcome.firstContentP99Us }
  },
}
