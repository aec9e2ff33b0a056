import { cpuSeconds } from '../cpu.ts'
import { plainLoad, plainLoadUntil } from '../load.ts'
import type { Contender, Measure } from './measure.ts'

/** Concurrent connections. */
const connections = 64
/**
 * The requests under way when the time is over are not among those answered, but what they cost is counted. Where so
 * few are answered that this shows, it goes on for so many times as long.
 */
const enough = { requests: 1000, timesAsLong: 4 }
const warmUp = { requests: 20_000, seconds: 10 }

/** CPU time of the proxy for a plain request: 1 KB in, 1 KB out, 64 at once, as fast as it goes. */
export const plain: Measure = {
  name: 'plain',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  async run(contender, round, { seconds, loadCore }) {
    // What a runtime spends on compiling the first requests is not what a request costs.
    if (round === 1) await plainLoadUntil(contender, warmUp, loadCore)
    const figures = await figuresOf(contender, seconds, loadCore)
    return figures.requests < enough.requests ? figuresOf(contender, seconds * enough.timesAsLong, loadCore) : figures
  },
}

async function figuresOf(
  contender: Contender,
  seconds: number,
  loadCore: number,
): Promise<Readonly<Record<string, number>> & { readonly requests: number }> {
  const before = contender.pid === undefined ? 0 : cpuSeconds(contender.pid)
  const { requests, durationUs, p50Us, p99Us } = await plainLoad(contender, connections, seconds, loadCore)
  const used = contender.pid === undefined ? 0 : cpuSeconds(contender.pid) - before
  return {
    ...(contender.pid === undefined ? {} : { cpuUs: (used * 1e6) / requests, busyPercent: (used * 1e8) / durationUs }),
    perSecond: (requests * 1e6) / durationUs,
    p50Us,
    p99Us,
    requests,
  }
}
