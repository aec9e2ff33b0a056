import { cpuFigures } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import type { Measure, PacedName } from './measure.ts'

const paceUs = 20_000
/** Time between two starts. No divisor of the pace: the chunks of the streams are spread evenly over it. */
const spacingUs = 618
const settleUs = 300_000
/** Additional duration of the streams, for a proxy or a machine that begins them late, and for each of them. */
const slackUs = { all: 200_000, each: 1000 }

const streamsOf: Readonly<Record<PacedName, number>> = { 'paced-1': 1, 'paced-64': 64, 'paced-1000': 1000 }

/**
 * CPU time for a chunk, and its delay, of streams at the pace of a model: one chunk every 20 ms. Figures are taken
 * while all streams are open, without their starts and ends.
 */
export function paced(name: PacedName): Measure {
  const connections = streamsOf[name]
  return {
    name,
    // With one stream, the upstream itself says no more than with 64.
    includesDirect: connections > 1,
    peersOnce: false,
    needsStreams: true,
    warmUp: 'streams',
    async run(contender, _round, { seconds, loadCore }) {
      const lengthUs = seconds * 1e6
      const durationUs = settleUs + lengthUs + slackUs.all + connections * (spacingUs + slackUs.each)
      const streams = {
        connections,
        streamsPerConnection: 1,
        chunks: Math.ceil(durationUs / paceUs),
        paceUs,
        spacingUs,
        window: { settleUs, lengthUs },
        ...(contender.pid === undefined ? {} : { pid: contender.pid }),
      }
      const { window, togetherMax, delayP50Us, delayP99Us } = await streamLoad(contender, streams, loadCore)
      // Some streams ended before the window did: they began too late.
      if (window === undefined) return { together: togetherMax }
      const expected = (connections * window.elapsedUs) / paceUs
      return {
        together: togetherMax,
        ...cpuFigures(window, window.contents),
        keptPercent: (window.contents / expected) * 100,
        chunksPerRead: window.contents / window.reads,
        delayP50Us,
        delayP99Us,
      }
    },
  }
}
