import { cpuSeconds } from '../cpu.ts'
import { streamLoad } from '../load.ts'
import type { Measure } from './measure.ts'

const connections = 200
const chunks = 100
/** 200 streams at this pace are 20,000 chunks a second: about half of the maximum of a relay on Bun on one core. */
const paceUs = 10_000

/**
 * CPU time of the proxy for a chunk of a stream: 200 concurrent streams, 100 chunks each at a fixed pace, with start
 * and end of the stream.
 */
export const stream: Measure = {
  name: 'stream',
  includesDirect: true,
  peersOnce: false,
  needsStreams: true,
  async run(contender, round, { seconds, loadCore }) {
    if (round === 1) await streamLoad(contender, { connections, chunks, paceUs, streamsPerConnection: 2 }, loadCore)
    const streamsPerConnection = Math.max(1, Math.round((seconds * 1e6) / (chunks * paceUs)))
    const startedMs = performance.now()
    const before = contender.pid === undefined ? 0 : cpuSeconds(contender.pid)
    const outcome = await streamLoad(contender, { connections, chunks, paceUs, streamsPerConnection }, loadCore)
    const used = contender.pid === undefined ? 0 : cpuSeconds(contender.pid) - before
    const elapsedMs = performance.now() - startedMs
    return {
      ...(contender.pid === undefined
        ? {}
        : { cpuUs: (used * 1e6) / outcome.contents, busyPercent: (used * 1e5) / elapsedMs }),
      perSecond: (outcome.contents * 1000) / elapsedMs,
      delayP50Us: outcome.delayP50Us,
      delayP99Us: outcome.delayP99Us,
    }
  },
}
