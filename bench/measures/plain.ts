import { cpuSeconds } from '../cpu.ts'
import { plainLoad, plainLoadUntil } from '../load.ts'
import type { Contender, Measure } from './measure.ts'

const connections = 64
/**
 * Requests that are open at the end count in CPU time, but not as answered. A proxy with fewer answers than this is
 * measured again for a multiple of the time.
 */
const enough = { requests: 1000, timesAsLong: 4 }
const warmUp = { requests: 20_000, seconds: 10 }

/** CPU time of the proxy for a plain request: 1 KB in, 1 KB out, 64 at once, as fast as they are answered. */
export const plain: Measure = {
  name: 'plain',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  async run(contender, round, { seconds, loadCore }) {
    // Warm-up: the first requests include the time of the runtime's compiler.
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
