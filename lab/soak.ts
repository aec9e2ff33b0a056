/**
 * `npm run soak`: sends streams and plain requests through the service for a long time and checks every token, with
 * faults of providers, cuts, departures and reloads. With workers also rolling restarts and kills. See `--help`.
 */
import { metric, chat, question } from '../test/client.ts'
import { faultUpstream } from '../test/fakes/fault-upstream.ts'
import { good } from '../test/fakes/good.ts'
import { provider, quick, startService, type ServiceUnderTest } from '../test/harness.ts'
import { disturb, type Disturbing } from './load/disturbances.ts'
import { liveHeap } from './load/live-heap.ts'
import { runLoadCommand, workersOption } from './load/load-options.ts'
import { mebibytes, type Findings, type Target } from './load/load-report.ts'
import { gaugeService, type ServiceGauge } from './load/service-gauge.ts'
import { floorOf, slopeOf, sumOf, type Measured } from './load/slope.ts'
import { soakFor, soakTally, type SoakTally } from './load/soak-load.ts'
import { unreliable } from './load/unreliable.ts'

const usage = {
  name: 'soak',
  does:
    'streams and plain requests for a long time, with every token checked; ' +
    'with faults, departures, reloads, rolling restarts and killed workers',
  numbers: {
    minutes: { fallback: 1, min: 0.01, max: 100_000, does: 'duration in minutes' },
    seconds: { fallback: 60, min: 1, max: 6_000_000, does: 'duration in seconds' },
    workers: workersOption,
    rate: { fallback: 200, min: 1, max: 10_000, does: 'requests a second' },
  },
  switches: {
    steady: 'no restarts and no killed workers, so that the memory of old processes is measured',
    collect: 'with --steady: collects all garbage each half minute, and judges the live heap',
  },
} as const

/** Time to come back after the load: the service keeps idle connections to providers for 60 s. */
const settleMs = 75_000
/** Allowed increase for each process: kept-alive connections and files opened late. */
const descriptorsMore = 32
/** Allowed anonymous memory after the load, relative to the value after the warm-up. */
const memoryFactorMax = 1.3,
  memoryMoreMiB = 24
const sampleMs = 2_000,
  progressMs = 10_000
const reloadMs = 2_000
const collectMs = 30_000
/** Intervals; a short run shortens them to reach the minimum number. */
const rollMs = 60_000,
  rollsLeast = 4,
  killMs = 90_000,
  killsLeast = 3
/** The slope leaves out this time, at most the first sixth of the run. Shorter runs are not judged. */
const youngSeconds = 600,
  floorSeconds = 60,
  slopeMostMiB = 0.5,
  slopeSecondsLeast = 1_500

interface Gauge extends ServiceGauge {
  readonly streams: number
}

async function measure(service: ServiceUnderTest): Promise<Gauge> {
  return { ...gaugeService(service.pid), streams: await metric(service.url, 'svc_streams_open') }
}

/** Waits until all resources are back at `before`, or for the time limit. @returns the last measurement */
async function settle(service: ServiceUnderTest, before: Gauge): Promise<Gauge> {
  const end = performance.now() + settleMs
  for (;;) {
    const now = await measure(service)
    if (leftBehind(before, now).every(({ isMet }) => isMet) || performance.now() > end) return now
    await Bun.sleep(500)
  }
}

function leftBehind(before: Gauge, after: Gauge): readonly Target[] {
  return [
    { name: 'no stream stays open', found: String(after.streams), isMet: after.streams === 0 },
    {
      name: 'processes come back',
      found: `from ${before.processes} to ${after.processes}`,
      // The page may be built at the beginning, by another process.
      isMet: after.processes <= before.processes,
    },
    {
      name: 'descriptors come back',
      found: `from ${before.descriptors} to ${after.descriptors}`,
      isMet: after.descriptors <= before.descriptors + descriptorsMore * after.processes,
    },
    {
      name: 'memory comes back',
      found: `from ${mebibytes(before.anonymousMiB)} to ${mebibytes(after.anonymousMiB)}`,
      isMet: after.anonymousMiB <= before.anonymousMiB * memoryFactorMax + memoryMoreMiB * after.processes,
    },
  ]
}

/** Resolves after a time, or at SIGTERM or SIGINT. */
function timeOrSignal(seconds: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(seconds * 1_000, 2 ** 31 - 1))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return promise.finally(() => clearTimeout(timer))
}

interface Rise {
  readonly rows: Findings['rows']
  readonly targets: readonly Target[]
}

/**
 * Memory that long-lived processes add in an hour. The target applies to the live heap where it was measured, and else
 * to the floor of anonymous memory: single samples vary with garbage.
 */
function riseOf(samples: readonly Measured[], live: readonly Measured[], seconds: number, isSteady: boolean): Rise {
  if (!isSteady) return { rows: [], targets: [] }
  const youngest = Math.min(youngSeconds, seconds / 6),
    isOld = ({ atSeconds }: Measured) => atSeconds >= youngest
  const old = samples.filter(isOld),
    all = slopeOf(old.map(({ atSeconds, values }) => ({ atSeconds, value: sumOf(values.values()) })))
  const floor = floorSlope(old),
    judged = live.length === 0 ? floor : floorSlope(live.filter(isOld))
  return {
    rows: [
      ['memory rises', `${all.anHour.toFixed(2)} MiB an hour over ${old.length} samples`],
      ['memory rises, least of each minute', floor.found],
      ...(live.length === 0 ? [] : [['live heap rises', judged.found] as const]),
    ],
    targets:
      seconds >= slopeSecondsLeast
        ? [
            {
              name: `memory rises by at most ${slopeMostMiB} MiB an hour`,
              found: judged.found,
              isMet: judged.anHour <= slopeMostMiB,
            },
          ]
        : [],
  }
}

function floorSlope(measured: readonly Measured[]): { readonly anHour: number; readonly found: string } {
  const floors = floorOf(measured, floorSeconds),
    { anHour, errorAnHour } = slopeOf(floors)
  const [first, last] = [floors.at(0)?.value ?? 0, floors.at(-1)?.value ?? 0]
  const rate = `${anHour.toFixed(2)} ± ${errorAnHour.toFixed(2)} MiB an hour`
  return {
    anHour,
    found: `${rate} over ${floors.length} minutes (${first.toFixed(1)} at first, ${last.toFixed(1)} at last)`,
  }
}

interface Soaked {
  readonly seconds: number
  readonly isSteady: boolean
  readonly tally: SoakTally
  readonly disturbing: Disturbing
  readonly gauges: { readonly before: Gauge; readonly loaded: Gauge; readonly after: Gauge }
  readonly samples: readonly Measured[]
  /** Live heaps of the processes; empty: not measured. */
  readonly live: readonly Measured[]
  readonly lastStatus: number
  /** Protocol errors seen by the upstreams, and internal errors in the log. */
  readonly errors: readonly string[]
}

function reportOf({
  seconds,
  isSteady,
  tally,
  disturbing,
  gauges,
  samples,
  live,
  lastStatus,
  errors,
}: Soaked): Findings {
  const { before, loaded, after } = gauges
  const rise = riseOf(samples, live, seconds, isSteady)
  const times = (read: (gauge: Gauge) => string) =>
    `${read(before)} warm, ${read(loaded)} loaded, ${read(after)} settled`
  return {
    rows: [
      [
        'requests',
        `${tally.begun} in ${seconds.toFixed(0)} s: ${tally.right} right (${tally.tokensRight} tokens; ` +
          `${tally.resumedOrMovedOn} by failover or resume), ${tally.lost} streams lost with an error event, ` +
          `${tally.departed} departed, ${tally.wrongs} wrong`,
      ],
      [
        'meanwhile',
        `${disturbing.reloads} reloads, ${disturbing.rolls} rolling restarts, ` +
          `${disturbing.kills} workers killed, which broke ${tally.brokenByKill} requests visibly`,
      ],
      ['processes', times(({ processes }) => String(processes))],
      ['descriptors', times(({ descriptors }) => String(descriptors))],
      ['memory, anonymous', times(({ anonymousMiB }) => mebibytes(anonymousMiB))],
      ['memory, resident', times(({ residentMiB }) => mebibytes(residentMiB))],
      ...rise.rows,
      ['open streams', times(({ streams }) => String(streams))],
    ],
    targets: [
      {
        name: 'no answer is wrong',
        found: `${tally.wrongs} of ${tally.begun}`,
        isMet: tally.wrongs === 0 && tally.right > 0,
      },
      {
        name: 'killed workers break only their own requests',
        found: `${tally.brokenByKill} of at most ${disturbing.socketsKilled}`,
        isMet: tally.brokenByKill <= disturbing.socketsKilled,
      },
      { name: 'the last request is answered', found: String(lastStatus), isMet: lastStatus === 200 },
      {
        name: 'no protocol error and no internal error',
        found: String(errors.length),
        isMet: errors.length === 0,
      },
      ...leftBehind(before, after),
      ...rise.targets,
    ],
    complaints: [...tally.wrong.slice(0, 5), ...errors.slice(0, 5)],
  }
}

interface Soak {
  readonly seconds: number
  readonly workers: number
  readonly ratePerSecond: number
  readonly isSteady: boolean
  /** Collects all garbage each half minute, and measures the live heap. */
  readonly collects: boolean
}

async function soak({ seconds, workers, ratePerSecond, isSteady, collects }: Soak): Promise<Findings> {
  const a = faultUpstream(unreliable()),
    b = faultUpstream(good({ pauseMs: 1 })),
    c = faultUpstream(good()),
    upstreams = [a, b, c]
  const providers = [provider('a', a.url, ['m'], quick), provider('b', b.url), provider('c', c.url)] as const
  await using heap = collects ? await liveHeap(collectMs) : undefined
  const service = await startService(
    { providers },
    {
      flags: ['--log-level', 'error', ...(workers === 0 ? [] : ['--workers', String(workers)])],
      environment: heap?.environment ?? {},
    },
  )
  const tally = soakTally(),
    samples: Measured[] = []
  await soakFor(Bun.sleep(Math.min(5, seconds / 4) * 1_000), {
    port: service.port,
    ratePerSecond,
    tally,
    hasKilledSince: () => false,
  })
  await Bun.sleep(1_000)
  const before = await measure(service),
    began = performance.now(),
    beganMs = Date.now()
  const elapsed = () => (performance.now() - began) / 1_000

  const disturbing = disturb(service, {
    configurations: [{ providers }, { providers: [providers[0], providers[2], providers[1]] }],
    reloadMs,
    rollMs: isSteady || workers === 0 ? undefined : Math.min(rollMs, (seconds * 1_000) / rollsLeast),
    killMs: isSteady || workers === 0 ? undefined : Math.min(killMs, (seconds * 1_000) / killsLeast),
  })
  const sampling = setInterval(
    () => samples.push({ atSeconds: elapsed(), values: gaugeService(service.pid).anonymousMiBOf }),
    sampleMs,
  )
  const progress = setInterval(() => {
    for (const upstream of upstreams) upstream.forget()
    const firstWrong = tally.wrong[0] === undefined ? '' : ` (${tally.wrong[0]})`
    console.error(
      `soak: ${elapsed().toFixed(0)} s: ${tally.right} right, ${tally.lost} lost, ` +
        `${tally.brokenByKill} broken by a kill, ${tally.wrongs} wrong${firstWrong}; ` +
        mebibytes(sumOf(samples.at(-1)?.values.values() ?? [])),
    )
  }, progressMs)
  await soakFor(timeOrSignal(seconds), {
    port: service.port,
    ratePerSecond,
    tally,
    hasKilledSince: disturbing.hasKilledSince,
  })
  for (const timer of [sampling, progress]) clearInterval(timer)
  await disturbing.stop()

  const loadedSeconds = elapsed(),
    loaded = await measure(service),
    after = await settle(service, before)
  const last = await chat(service.url, question())
  await service.stop()
  for (const upstream of upstreams) upstream.stop()
  const errors = [
    ...a.faults,
    ...service.logs.flatMap(({ message, error }) => (message === 'internal error' ? [String(error)] : [])),
  ]
  const live = (await heap?.measured(beganMs)) ?? []
  return reportOf({
    seconds: loadedSeconds,
    isSteady,
    tally,
    disturbing,
    gauges: { before, loaded, after },
    samples,
    live,
    lastStatus: last.status,
    errors,
  })
}

await runLoadCommand(usage, async (options) => {
  const seconds = options.has('minutes') ? options.number('minutes') * 60 : options.number('seconds')
  return await soak({
    seconds,
    workers: options.number('workers'),
    ratePerSecond: options.number('rate'),
    isSteady: options.has('steady'),
    collects: options.has('collect'),
  })
})
