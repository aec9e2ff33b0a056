import { provider, startService } from '../harness.ts'
import type { LoadOutcome } from './load-plan.ts'
import { startClient, startUpstream, together, type TokenClient } from './load-processes.ts'
import { gaugeService, type ServiceGauge } from './service-gauge.ts'

/** How many streams, and for how long. */
export interface OpenStreams {
  readonly streams: number
  /** Of the service; 0: one process. */
  readonly workers: number
  /** All of them are open for so long. */
  readonly seconds: number
  /** They are opened over so long, and end over as long. */
  readonly rampSeconds: number
  /** Between two tokens of a stream; default a second. */
  readonly paceMs?: number
}

/** What came of them. */
export interface OpenStreamsFound {
  readonly outcome: LoadOutcome
  /** Before the first stream. */
  readonly idle: ServiceGauge
  /** When the resident memory was largest. */
  readonly peak: ServiceGauge
  /** When all had ended. */
  readonly after: ServiceGauge
  /** While they were open, some 20 in all. */
  readonly samples: readonly ServiceGauge[]
  /** Of one core, by the service. */
  readonly cpuShare: number
  readonly seconds: number
}

const streamsAClient = 5_000
const sampleMs = 1_000
const progressSamples = 10
const samplesShown = 20

/** Opens streams through a service of its own and reads them to their ends, looking at its memory meanwhile. */
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
  return `${streams.open} open, ${faults.seen} tokens, ${streams.broken} broken, ${residentMiB.toFixed(0)} MiB resident, ${anonymousMiB.toFixed(0)} anonymous, ${descriptors} descriptors${complaints[0] === undefined ? '' : `; ${complaints[0]}`}`
}
