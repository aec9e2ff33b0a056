import { cpuSeconds } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 64
const chunks = 100
const paceUs = 10_000

/**
 * CPU time for a chunk, and time to the first token: 64 concurrent streams, 100 chunks each, one every 10 ms. A slow
 * proxy takes longer.
 */
export const streams64: Measure = {
  name: 'streams-64',
  includesDirect: true,
  peersOnce: false,
  needsStreams: true,
  async run(contender, round, { seconds, loadCore }) {
    const streams = { connections, chunks, paceUs, streamsPerConnection: 1000 }
    if (round === 1) await streamLoad(contender, { ...streams, secondsMax: 2 }, loadCore)
    const before = contender.pid === undefined ? 0 : cpuSeconds(contender.pid)
    // A stream takes a second. Streams begin until half a second before the end, so that they end soon after it.
    const outcome = await streamLoad(contender, { ...streams, secondsMax: Math.max(seconds - 0.5, 0) }, loadCore)
    const used = contender.pid === undefined ? 0 : cpuSeconds(contender.pid) - before
    return {
      ...(contender.pid === undefined
        ? {}
        : { cpuUs: (used * 1e6) / outcome.contents, busyPercent: (used * 1e8) / outcome.elapsedUs }),
      perSecond: (outcome.contents * 1e6) / outcome.elapsedUs,
      p50Us: outcome.firstContentP50Us,
      p99Us: outcome.firstContentP99Us,
      delayP50Us: outcome.delayP50Us,
      delayP99Us: outcome.delayP99Us,
    }
  },
}
