import { metric } from '../client.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { workersOf } from '../process-tree.ts'
import type { LoadOutcome } from './load-plan.ts'
import { startClient, startUpstream } from './load-processes.ts'
import { steadily } from './steadily.ts'

/** A service that is restarted and reconfigured under load. */
export interface Restarts {
  /** Of the service; 0: one process, which is only reconfigured. */
  readonly workers: number
  /** Rolling restarts, one after the other; each lasts until the last old worker is gone. */
  readonly rolls: number
  /** The load goes on for at least so long. */
  readonly seconds: number
  readonly reloadsPerSecond: number
  readonly requestsPerSecond: number
  /** Open at once. */
  readonly streams: number
  /** Of each stream, ten a second; default 20. */
  readonly tokens?: number
}

/** What came of it. */
export interface RestartsFound {
  readonly outcome: LoadOutcome
  /** Done to their end. */
  readonly rolls: number
  /** Configurations written. */
  readonly written: number
  /** Configurations that were put in force, by the service's own count. */
  readonly reloads: number
  readonly seconds: number
  readonly complaints: readonly string[]
}

/** Much longer than a stream of this load. */
const rollMostMs = 60_000

/** Restarts and reconfigures a service of its own while requests and streams go through it. */
export async function measureRestarts(asked: Restarts, progress: (line: string) => void): Promise<RestartsFound> {
  const { workers, rolls, seconds, reloadsPerSecond, requestsPerSecond, streams, tokens = 20 } = asked
  await using upstream = await startUpstream()
  const a = provider('a', `${upstream.origin}/v1`),
    b = provider('b', `${upstream.origin}/v1`)
  await using service = await startService(
    { providers: [a, b] },
    {
      flags: [...(workers === 0 ? [] : ['--workers', String(workers)]), '--log-level', 'warn'],
      environment: { SVC_DRAIN_WINDOW_MS: '1000' },
    },
  )
  const began = performance.now(),
    complaints: string[] = []
  await using client = startClient({
    port: service.port,
    prefix: 'r',
    seconds: 86_400,
    streams: { count: streams, rampMs: 2_000, tokens, paceMs: 100, holdMs: 0, again: true },
    plain: { perSecond: requestsPerSecond },
  })
  let written = 0,
    done = 0
  const reloading = steadily(1_000 / reloadsPerSecond, () =>
    service.configure({ providers: ++written % 2 === 0 ? [a, b] : [b, a] }),
  )
  try {
    for (; workers > 0 && done < rolls; done++) {
      const tookMs = await roll(service)
      if (tookMs === undefined) {
        complaints.push(`roll ${done + 1} was not over after ${rollMostMs / 1_000} s`)
        break
      }
      progress(
        `roll ${done + 1} of ${rolls} in ${(tookMs / 1_000).toFixed(1)} s; ${client.seen?.plain.right ?? 0} requests right, ${client.seen?.plain.failed ?? 0} failed, ${client.seen?.streams.broken ?? 0} streams broken`,
      )
    }
    await Bun.sleep(Math.max(0, seconds * 1_000 - (performance.now() - began)))
  } finally {
    await reloading.stop()
  }
  client.finish()
  const outcome = await client.outcome
  const reloads = await metric(service.url, 'svc_config_reloads_total{result="ok"}')
  return {
    outcome,
    rolls: done,
    written,
    reloads,
    seconds: (performance.now() - began) / 1_000,
    complaints: [...complaints, ...outcome.complaints],
  }
}

/**
 * One rolling restart; resolves when the last of the old workers is gone, with how long it took in milliseconds.
 * `undefined`: it never was.
 */
async function roll(service: ServiceUnderTest): Promise<number | undefined> {
  const began = performance.now(),
    old = workersOf(service.pid)
  process.kill(service.pid, 'SIGUSR2')
  while (performance.now() - began < rollMostMs) {
    await Bun.sleep(50)
    const now = workersOf(service.pid)
    if (now.length >= old.length && !now.some((pid) => old.includes(pid))) return performance.now() - began
  }
  return undefined
}
