import { plainLoadUntil, streamLoad, type Enough, type LoadTarget } from './load.ts'
import { ProgramError } from './processes.ts'

/**
 * Load before a measurement. `requests`, `streams`: the compiler of the proxy's runtime has finished. `age`: the proxy
 * has answered many more.
 */
export type WarmUp = 'requests' | 'streams' | 'age'

/** After about 45,000 requests the compiler of Bun has nothing left to do. */
export const freshRequests: Enough = { requests: 50_000, seconds: 20 }
const agedRequests: Enough = { requests: 300_000, seconds: 120 }
/** 64 streams of 100 chunks, one every 2 ms, for 2 s: about 60,000 chunks, each a write of its own. */
const streams = { connections: 64, streamsPerConnection: 1000, chunks: 100, paceUs: 2000, secondsMax: 2 }

/** Makes a function that warms up each target once for each kind. It throws as the loads do. */
export function warmUps(loadCore: number): (kind: WarmUp, target: LoadTarget) => Promise<void> {
  const done = new Set<string>()
  return async (kind, target) => {
    const key = `${kind} ${target.name}`
    if (done.has(key)) return
    done.add(key)
    if (kind === 'streams') await streamLoad(target, streams, loadCore)
    else if (kind === 'requests') await plainLoadUntil(target, freshRequests, loadCore)
    else await age(target, loadCore)
  }
}

async function age(target: LoadTarget, loadCore: number): Promise<void> {
  const requests = await plainLoadUntil(target, agedRequests, loadCore)
  if (requests < agedRequests.requests)
    throw new ProgramError(`${target.name} answered only ${requests} requests in ${agedRequests.seconds} s`)
}
