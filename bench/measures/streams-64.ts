import { cpuSeconds } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 64
const chunks = 100
const paceUs = 10_000

/**
 * 64 streams at once, 100 chunks each, one every 10 ms: what a chunk costs, and how long the first token takes. A slow
 * proxy takes longer than the streams should.
 */
export const streams64: Measure = {
  name: 'streams-64',
  includesDirect: true,
  peersOnce: false,
  needsStreams: true,
  async run(contender, round, { seconds, loadCore }) {
    const streams = { connections, chunks, paceUs, streamsPerConnection: 1000 }
    if (round === 1) await streamLoad(contender, { ...streams, secondsMost: 2 }, loadCore)
    const before = contender.pid === undefined ? 0 : cpuSeconds(contender.pid)
    // A stream takes a second: one that begins in the last half goes over the time no more than half.
    const outcome = await streamLoad(contender, { ...streams, secondsMost: Math.max(seconds - 0.5, 0) }, loadCore)
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
