import { plainLoadUntil, streamLoad, type LoadTarget } from '../load.ts'
import { memoryUse, peakResidentMb } from '../memory.ts'
import { ProgramError } from '../processes.ts'
import { progress, reasonOf } from '../progress.ts'
import type { RunningProxy } from '../proxies/proxy.ts'
import { serviceName, type Measure } from './measure.ts'

/** A proxy that cannot answer them in time is measured after as many as it answered. */
const manyRequests = { requests: 100_000, seconds: 10 }
/** The service has a target to be held against, so all of them are waited for. */
const patienceForService = 60
const openStreams = 1000
/** What a start takes for a moment, such as a process that prepares something, is not what a proxy holds at rest. */
const settleMs = 2000
/** A token a second, this many seconds. */
const tokens = 12

/**
 * Resident memory of a fresh process: at rest, during and after 100,000 plain requests over 64 connections, then with
 * 1,000 streams open. One instance does all, so the later figures carry what the earlier load left behind.
 */
export const memory: Measure = {
  name: 'memory',
  includesDirect: false,
  peersOnce: true,
  needsStreams: false,
  async run(contender, _round, { loadCore, startFresh }) {
    const fresh = await startFresh(contender.name)
    const target = { ...fresh, name: contender.name }
    const { pid } = fresh.program
    try {
      await Bun.sleep(settleMs)
      const atStart = memoryUse(pid)
      const seconds = contender.name === serviceName ? patienceForService : manyRequests.seconds
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

/** The figure is one of 1,000 streams open together: a proxy that is too slow for it, or breaks some, has none. */
async function withStreams(
  target: LoadTarget,
  { program }: RunningProxy,
  loadCore: number,
): Promise<Readonly<Record<string, number>>> {
  let streamsTogether = 0
  const work = async (): Promise<void> => {
    const streams = { connections: openStreams, chunks: tokens, paceUs: 1_000_000, streamsPerConnection: 1 }
    streamsTogether = (await streamLoad(target, streams, loadCore)).togetherMost
  }
  try {
    const streamsMb = await peakResidentMb(program.pid, work)
    return streamsTogether === openStreams ? { streamsTogether, streamsMb } : { streamsTogether }
  } catch (error) {
    // What was measured before stands.
    if (!(error instanceof ProgramError)) throw error
    progress(`${target.name}, ${openStreams} streams: ${reasonOf(error)}`)
    return {}
  }
}
