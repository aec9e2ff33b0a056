import { provider, startService } from '../../test/harness.ts'
import { histogram, type Histogram } from './histogram.ts'
import { startClient, startUpstream, type TokenClient, type TokenUpstream } from './load-processes.ts'

/** A run in which clients leave their streams. */
export interface Aborts {
  /** Workers of the service; 0: one process. */
  readonly workers: number
  /** Number of departures, give or take the streams open at once. */
  readonly count: number
}

/** Results of {@link measureAborts}. */
export interface AbortsFound {
  /** Time from a client's departure to the close at the provider, microseconds. */
  readonly delays: Histogram
  /** The same for clients connected directly to the provider, at the same time. */
  readonly direct: Histogram
  readonly left: number
  /** Names of orders whose request was never aborted at the provider. */
  readonly missed: readonly string[]
  /** Departures before the provider was asked. */
  readonly early: number
  /** Streams that broke although their client stayed. */
  readonly broken: number
  readonly complaints: readonly string[]
}

const openAtOnce = 100,
  directAtOnce = 25,
  leaveWithinMs = 2_000
/** After this time an abort counts as missed. */
const missedAfterMs = 5_000

/**
 * Measures when departures reach the provider. Clients leave at random moments, before the first byte of the answer and
 * after it, with FIN and with RST.
 */
export async function measureAborts({ workers, count }: Aborts): Promise<AbortsFound> {
  await using upstream = await startUpstream()
  await using service = await startService(
    { providers: [provider('a', `${upstream.origin}/v1`)] },
    { flags: [...(workers === 0 ? [] : ['--workers', String(workers)]), '--log-level', 'warn'] },
  )
  const seconds = ((count / openAtOnce) * leaveWithinMs) / 2_000
  const leaving = (port: number, prefix: string, atOnce: number) =>
    startClient({
      port,
      prefix,
      seconds,
      streams: {
        count: atOnce,
        rampMs: Math.min(1_000, seconds * 500),
        tokens: 600,
        paceMs: 100,
        holdMs: 30_000,
        again: true,
        leaveWithinMs,
      },
    })
  await using client = leaving(service.port, 'left', openAtOnce)
  await using control = leaving(upstream.port, 'direct', directAtOnce)
  const [{ streams, complaints }] = await Promise.all([client.outcome, control.outcome])
  const end = performance.now() + missedAfterMs
  while (missing(client, upstream).length > 0 && performance.now() < end) await Bun.sleep(10)

  const early = [...client.left.keys()].filter((name) => !upstream.asked.has(name)).length
  return {
    delays: delaysOf(client, upstream),
    direct: delaysOf(control, upstream),
    left: client.left.size,
    missed: missing(client, upstream),
    early,
    broken: streams.broken,
    complaints,
  }
}

/** Time from each departure to the close at the provider. */
function delaysOf({ left }: TokenClient, { gone }: TokenUpstream): Histogram {
  const delays = histogram()
  for (const [name, us] of left) {
    const closedUs = gone.get(name)
    if (closedUs !== undefined) delays.add(closedUs - us)
  }
  return delays
}

/** Orders whose client has left, while the connection at the provider is still open. */
function missing({ left }: TokenClient, { asked, gone }: TokenUpstream): readonly string[] {
  return [...left.keys()].filter((name) => asked.has(name) && !gone.has(name))
}
