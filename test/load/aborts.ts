import { provider, startService } from '../harness.ts'
import { histogram, type Histogram } from './histogram.ts'
import { startClient, startUpstream, type TokenClient, type TokenUpstream } from './load-processes.ts'

/** Clients that leave in the middle of their streams. */
export interface Aborts {
  /** Of the service; 0: one process. */
  readonly workers: number
  /** How many leave, to within the streams that are open at once. */
  readonly count: number
}

/** What came of it. */
export interface AbortsFound {
  /** From a client's leaving to the provider's hearing of it, microseconds. */
  readonly delays: Histogram
  /** The same without the service between, at the same time. */
  readonly direct: Histogram
  readonly left: number
  /** Those of which the provider never heard, by the names of their orders. */
  readonly missed: readonly string[]
  /** Those that left before the provider was asked. */
  readonly early: number
  /** Streams that broke although nobody had left them. */
  readonly broken: number
  readonly complaints: readonly string[]
}

const openAtOnce = 100,
  directAtOnce = 25,
  leaveWithinMs = 2_000
/** A provider that has not heard of a departure by then never will. */
const patienceMs = 5_000

/**
 * Has clients leave at random moments, before the first byte of the answer and after it, with FIN and with RST, and
 * looks when their provider hears of it.
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
  const end = performance.now() + patienceMs
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

/** How long each departure took to be heard of. */
function delaysOf({ left }: TokenClient, { gone }: TokenUpstream): Histogram {
  const delays = histogram()
  for (const [name, us] of left) {
    const heard = gone.get(name)
    if (heard !== undefined) delays.add(heard - us)
  }
  return delays
}

/** Orders that a client has left, and of which the provider was asked but has not heard that. */
function missing({ left }: TokenClient, { asked, gone }: TokenUpstream): readonly string[] {
  return [...left.keys()].filter((name) => asked.has(name) && !gone.has(name))
}
