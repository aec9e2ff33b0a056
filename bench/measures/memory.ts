import { plainLoadUntil, streamLoad, type LoadTarget } from '../load.ts'
import { memoryUse } from '../memory.ts'
import { ProgramError } from '../processes.ts'
import { serviceName, type Measure } from './measure.ts'

/** A proxy that cannot answer them in time is measured after as many as it answered. */
const manyRequests = { requests: 100_000, seconds: 10 }
/** The service has a target to be held against, so all of them are waited for. */
const patienceForService = 60
const openStreams = 1000
/** A token a second, this many seconds. */
const tokens = 5

/**
 * Resident memory of a fresh process: after 100,000 plain requests over 64 connections, then with 1,000 streams open.
 * One instance does both, so the second figure carries what the first left behind.
 */
export const memory: Measure = {
  name: 'memory',
  includesDirect: false,
  peersOnce: true,
  async run(contender, _round, { loadCore, startFresh }) {
    const fresh = await startFresh(contender.name)
    const target: LoadTarget = { name: contender.name, port: fresh.port, headers: fresh.headers }
    try {
      const atStart = memoryUse(fresh.program.pid)
      const seconds = contender.name === serviceName ? patienceForService : manyRequests.seconds
      const requests = await plainLoadUntil(target, { ...manyRequests, seconds }, loadCore)
      const afterRequests = memoryUse(fresh.program.pid)
      const withStreams = await peakWithStreams(target, fresh.program.pid, loadCore)
      return {
        startMb: atStart.residentMb,
        requests,
        afterRequestsMb: afterRequests.residentMb,
        afterRequestsShareMb: afterRequests.proportionalMb,
        streamsMb: withStreams,
      }
    } finally {
      await fresh.program.stop()
    }
  },
}

async function peakWithStreams(target: LoadTarget, pid: number, loadCore: number): Promise<number> {
  let peakMb = 0
  const timer = setInterval(() => (peakMb = Math.max(peakMb, memoryUse(pid).residentMb)), 250)
  try {
    const streams = { connections: openStreams, chunks: tokens, paceUs: 1_000_000, streamsPerConnection: 1 }
    const outcome = await streamLoad(target, streams, loadCore)
    if (outcome.togetherMost === openStreams) return peakMb
    throw new ProgramError(`${target.name}: only ${outcome.togetherMost} of ${openStreams} streams were open together`)
  } finally {
    clearInterval(timer)
  }
}
