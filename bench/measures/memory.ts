import { plainLoadUntil, streamLoad, type LoadTarget } from '../load.ts'
import { memoryUse, peakResidentMb } from '../memory.ts'
import { ProgramError } from '../processes.ts'
import { progress, reasonOf } from '../progress.ts'
import type { RunningProxy } from '../proxies/proxy.ts'
import { serviceName, type Measure } from './measure.ts'

/** Number of requests. A proxy that is too slow is measured at the time limit. */
const manyRequests = { requests: 100_000, seconds: 10 }
/** Time limit of the service, which has a target for all of the requests. */
const serviceSecondsMax = 60
const openStreams = 1000
/** Time after the start in which short-lived processes and memory disappear. */
const settleMs = 2000
/** Tokens of each stream, one a second. */
const tokens = 12

/**
 * Resident memory of a new process: at rest, during and after 100,000 plain requests over 64 connections, then with
 * 1,000 open streams. It is one instance: later figures contain memory of the earlier load.
 */
export const memory: Measure = {
  name: 'memory',
  includesDirect: false,
  roundsMax: 2,
  peersOnce: true,
  needsStreams: false,
  async run(contender, _round, { loadCore, startFresh }) {
    const fresh = await startFresh(contender.name)
    const target = { ...fresh, name: contender.name }
    const { pid } = fresh.program
    try {
      await Bun.sleep(settleMs)
      const atStart = memoryUse(pid)
      const seconds = contender.name === serviceName ? serviceSecondsMax : manyRequests.seconds
      let requests = 0
      const loadMb = await peakResidentMb(pid, async () => {
        requests = await plainLoadUntil(target, { ...manyRequests, seconds }, loadCore)
      })
      const afterRequests = memoryUse(pid)
      return {
        startMb: atStart.residentMb,
        requests,
        loadMb,
        afterRequestsMb: afterRequests.residentMb,
        afterRequestsShareMb: afterRequests.proportionalMb,
        ...(contender.canStream ? await withStreams(target, fresh, loadCore) : {}),
      }
    } finally {
      await fresh.program.stop()
    }
  },
}

/** Measures memory with 1,000 streams open together. No figure for a proxy that is too slow or breaks streams. */
async function withStreams(
  target: LoadTarget,
  { program }: RunningProxy,
  loadCore: number,
): Promise<Readonly<Record<string, number>>> {
  let streamsTogether = 0
  const work = async (): Promise<void> => {
    const streams = { connections: openStreams, chunks: tokens, paceUs: 1_000_000, streamsPerConnection: 1 }
    streamsTogether = (await streamLoad(target, streams, loadCore)).togetherMax
  }
  try {
    const streamsMb = await peakResidentMb(program.pid, work)
    return streamsTogether === openStreams ? { streamsTogether, streamsMb } : { streamsTogether }
  } catch (error) {
    // The earlier figures stay valid.
    if (!(error instanceof ProgramError)) throw error
    progress(`${target.name}, ${openStreams} streams: ${reasonOf(error)}`)
    return {}
  }
}
