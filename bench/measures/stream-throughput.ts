import { cpuSeconds } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 64
const chunks = 100

/**
 * Chunks of 64 concurrent streams, which the upstream writes without a pause, one write for each chunk.
 */
export const streamThroughput: Measure = {
  name: 'stream-throughput',
  includesDirect: true,
  peersOnce: false,
  needsStreams: true,
  async run(contender, _round, { seconds, loadCore }) {
    const before = contender.pid === undefined ? 0 : cpuSeconds(contender.pid)
    const outcome = await streamLoad(
      contender,
      { connections, chunks, paceUs: 0, streamsPerConnection: 1e6, secondsMax: seconds },
      loadCore,
    )
    const used = contender.pid === undefined ? 0 : cpuSeconds(contender.pid) - before
    return {
      ...(contender.pid === undefined
        ? {}
        : { cpuUs: (used * 1e6) / outcome.contents, busyPercent: (used * 1e8) / outcome.elapsedUs }),
      perSecond: (outcome.contents * 1e6) / outcome.elapsedUs,
    }
  },
}
