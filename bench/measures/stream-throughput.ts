import { cpuFigures } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import { measuredWindow } from '../measured-window.ts'
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
  warmUp: 'streams',
  async run(contender, _round, { seconds, loadCore }) {
    const close = measuredWindow(contender.pid)()
    const outcome = await streamLoad(
      contender,
      { connections, chunks, paceUs: 0, streamsPerConnection: 1e6, secondsMax: seconds },
      loadCore,
    )
    return {
      ...cpuFigures(close(), outcome.contents),
      chunksPerRead: outcome.contents / outcome.reads,
      perSecond: (outcome.contents * 1e6) / outcome.elapsedUs,
    }
  },
}
