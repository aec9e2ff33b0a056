import { metric } from '../../test/client.ts'
import { provider, startService, type ServiceUnderTest } from '../../test/harness.ts'
import { workersOf } from '../../test/process-tree.ts'
import type { LoadOutcome } from './load-plan.ts'
import { startClient, startUpstream } from './load-processes.ts'
import { steadily } from './steadily.ts'

/** A run with restarts and reloads under load. */
export interface Restarts {
  /** Workers of the service; 0: one process, with reloads only. */
  readonly workers: number
  /** Rolling restarts, one after the other; each ends when the last old worker has exited. */
  readonly rolls: number
  /** Minimum duration of the load. */
  readonly seconds: number
  readonly reloadsPerSecond: number
  readonly requestsPerSecond: number
  /** Streams open at once. */
  readonly streams: number
  /** Tokens of each stream, ten a second; default 20. */
  readonly tokens?: number
}

/** Results of {@link measureRestarts}. */
export interface RestartsFound {
  readonly outcome: LoadOutcome
  /** Completed rolling restarts. */
  readonly rolls: number
  /** Configurations written. */
  readonly written: number
  /** Loaded configurations, by the metric of the service. */
  readonly reloads: number
  readonly seconds: number
  readonly complaints: readonly string[]
}

/** Time limit of a rolling restart; much longer than a stream of this load. */
const rollMsMax = 60_000

/** Starts a service, and restarts and reloads it while requests and streams pass through it. */
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
        complaints.push(`roll ${done + 1} was not complete after ${rollMsMax / 1_000} s`)
        break
      }
      const { seen } = client
      progress(
        `roll ${done + 1} of ${rolls} in ${(tookMs / 1_000).toFixed(1)} s; ${seen?.plain.right ?? 0} requests right, ` +
          `${seen?.plain.failed ?? 0} failed, ${seen?.streams.broken ?? 0} streams broken`,
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

/** Runs one rolling restart until the last old worker has exited. @returns milliseconds; `undefined`: time limit */
async function roll(service: ServiceUnderTest): Promise<number | undefined> {
  const began = performance.now(),
    old = workersOf(service.pid)
  process.kill(service.pid, 'SIGUSR2')
  while (performance.now() - began < rollMsMax) {
    await Bun.sleep(50)
    const now = workersOf(service.pid)
    if (now.length >= old.length && !now.some((pid) => old.includes(pid))) return performance.now() - began
  }
  return undefined
}
