import { provider, startService } from '../../test/harness.ts'
import type { LoadOutcome } from './load-plan.ts'
import { startClient, startUpstream, together, type TokenClient } from './load-processes.ts'
import { gaugeService, type ServiceGauge } from './service-gauge.ts'

/** A run with many open streams. */
export interface OpenStreams {
  readonly streams: number
  /** Workers of the service; 0: one process. */
  readonly workers: number
  /** Time in which all streams are open. */
  readonly seconds: number
  /** Time in which the streams are opened; they end over the same time. */
  readonly rampSeconds: number
  /** Interval of tokens of a stream; default a second. */
  readonly paceMs?: number
}

/** Results of {@link openStreams}. */
export interface OpenStreamsFound {
  readonly outcome: LoadOutcome
  /** Before the first stream. */
  readonly idle: ServiceGauge
  /** When the resident memory was largest. */
  readonly peak: ServiceGauge
  /** After all streams have ended. */
  readonly after: ServiceGauge
  /** Some 20 samples while the streams were open. */
  readonly samples: readonly ServiceGauge[]
  /** CPU time of the service, as a share of one core. */
  readonly cpuShare: number
  readonly seconds: number
}

const streamsAClient = 5_000
const sampleMs = 1_000
const progressSamples = 10
const samplesShown = 20

/** Starts a service, reads many streams through it to their ends, and samples its memory meanwhile. */
export async function openStreams(asked: OpenStreams, progress: (line: string) => void): Promise<OpenStreamsFound> {
  const { streams, workers, seconds, rampSeconds, paceMs = 1_000 } = asked
  const tokens = Math.ceil(((seconds + rampSeconds) * 1_000) / paceMs)
  await using upstream = await startUpstream()
  await using service = await startService(
    {
      providers: [provider('a', `${upstream.origin}/v1`)],
      limits: { deadline_ms: Math.ceil((seconds + rampSeconds) * 2_000) + 60_000 },
    },
    { flags: [...(workers === 0 ? [] : ['--workers', String(workers)]), '--log-level', 'warn'] },
  )
  const idle = gaugeService(service.pid),
    began = performance.now()
  const clientCount = Math.ceil(streams / streamsAClient)
  const clients = Array.from({ length: clientCount }, (_, index) =>
    startClient({
      port: service.port,
      prefix: `c${index}`,
      seconds: rampSeconds + 1,
      streams: {
        count: Math.floor((streams + index) / clientCount),
        rampMs: rampSeconds * 1_000,
        tokens,
        paceMs,
        holdMs: 0,
        again: false,
      },
    }),
  )
  const samples: ServiceGauge[] = []
  const sampling = setInterval(() => {
    const sample = gaugeService(service.pid)
    samples.push(sample)
    if (samples.length % progressSamples === 0) progress(progressLine(clients, sample))
  }, sampleMs)
  try {
    const outcomes = await Promise.all(clients.map(({ outcome }) => outcome))
    const after = gaugeService(service.pid),
      elapsed = (performance.now() - began) / 1_000
    if (service.output.includes('"level":"error"')) progress(service.output.slice(-2_000))
    return {
      outcome: { ...together(outcomes), delays: outcomes.flatMap(({ delays }) => delays), latencies: [] },
      idle,
      peak: samples.reduce((most, sample) => (sample.residentMiB > most.residentMiB ? sample : most), idle),
      after,
      samples: samples.filter((_, index) => index % Math.ceil(samples.length / samplesShown) === 0),
      cpuShare: (after.cpuSeconds - idle.cpuSeconds) / elapsed,
      seconds: elapsed,
    }
  } finally {
    clearInterval(sampling)
    for (const client of clients) await client[Symbol.asyncDispose]()
  }
}

function progressLine(
  clients: readonly TokenClient[],
  { residentMiB, anonymousMiB, descriptors }: ServiceGauge,
): string {
  const { streams, faults, complaints } = together(clients.flatMap(({ seen }) => seen ?? []))
  return [
    `${streams.open} open, ${faults.seen} tokens, ${streams.broken} broken, `,
    `${residentMiB.toFixed(0)} MiB resident, ${anonymousMiB.toFixed(0)} anonymous, ${descriptors} descriptors`,
    complaints[0] === undefined ? '' : `; ${complaints[0]}`,
  ].join('')
}
