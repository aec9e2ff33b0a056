import { cpuFigures } from '../cpu.ts'
import { plainLoad } from '../load.ts'
import { measuredWindow } from '../measured-window.ts'
import type { Contender, Measure } from './measure.ts'

const connections = 64
/**
 * Requests that are open at the end count in CPU time, but not as answered. A proxy with fewer answers than this is
 * measured again for a multiple of the time.
 */
const enough = { requests: 1000, timesAsLong: 4 }

/** CPU time of the proxy for a plain request: 1 KB in, 1 KB out, 64 at once, as fast as they are answered. */
export const plain: Measure = {
  name: 'plain',
  includesDirect: true,
  peersOnce: false,
  needsStreams: false,
  warmUp: 'requests',
  async run(contender, _round, { seconds, loadCore }) {
    const figures = await figuresOf(contender, seconds, loadCore)
    return figures.requests < enough.requests ? figuresOf(contender, seconds * enough.timesAsLong, loadCore) : figures
  },
}

async function figuresOf(
  contender: Contender,
  seconds: number,
  loadCore: number,
): Promise<Readonly<Record<string, number>> & { readonly requests: number }> {
  const close = measuredWindow(contender.pid)()
  const { requests, durationUs, p50Us, p99Us } = await plainLoad(contender, connections, seconds, loadCore)
  return {
    ...cpuFigures(close(), requests),
    perSecond: (requests * 1e6) / durationUs,
    p50Us,
    p99Us,
    requests,
  }
}
