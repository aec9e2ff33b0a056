import { plainLoad, streamLoad, type LoadTarget } from '../load.ts'
import { memoryUse } from '../memory.ts'
import { ProgramError } from '../processes.ts'
import type { Measure } from './measure.ts'

const requestsWanted = 100_000
/** A proxy that cannot answer them within this is measured after as many as it answered, seconds. */
const patienceSeconds = 10
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
      const requests = await manyRequests(target, loadCore)
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

async function manyRequests(target: LoadTarget, loadCore: number): Promise<number> {
  const until = performance.now() + patienceSeconds * 1000
  let done = 0
  for (let seconds = 2; done < requestsWanted && performance.now() < until; ) {
    const outcome = await plainLoad(target, 64, seconds, loadCore)
    done += outcome.requests
    const rest = (requestsWanted - done) / (outcome.requests / seconds)
    seconds = Math.min(Math.max(Math.ceil(rest), 1), 5)
  }
  return done
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
