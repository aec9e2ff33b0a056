import { cpuSeconds } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 64
const chunks = 100

/**
 * Chunks of 64 streams at once, as fast as they go: the upstream writes them without a pause, each in a write of its
 * own.
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
      { connections, chunks, paceUs: 0, streamsPerConnection: 1e6, secondsMost: seconds },
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
