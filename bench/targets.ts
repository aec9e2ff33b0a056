import { directName, serviceName, type MeasureName, type Measurement } from './measures/measure.ts'
import { summarize, type Summary } from './statistics.ts'

/** A target of the service. */
export interface Target {
  readonly title: string
  readonly unit: string
  readonly limit: number
  readonly limitIs: 'most' | 'least'
  /** The measure of its figures. */
  readonly measure: MeasureName
  /** Computes the figure of one round. Undefined when a measurement is missing. */
  readonly figure: (of: RoundLookup) => number | undefined
}

/** Looks up a metric of a proxy in one round of the target's measure; undefined when not measured. */
export type RoundLookup = (proxy: string, metric: string) => number | undefined

/** Result of a target. */
export interface Verdict {
  readonly target: Target
  /** Figures over the rounds; undefined when not measured. */
  readonly summary: Summary | undefined
  readonly isMet: boolean
  /** `met`, `missed by 12 %` or `not measured`. */
  readonly text: string
}

/** All targets, in the order of the report. */
export const targets: readonly Target[] = [
  against('CPU of a chunk, 64 streams at 20 ms, against nginx', 1.45, 'paced-64', 'nginx'),
  against('CPU of a chunk, 64 streams at 20 ms, against serve-raw', 1.2, 'paced-64', 'serve-raw'),
  against('CPU of a chunk, as fast as they go, against serve-raw', 1.15, 'stream-throughput', 'serve-raw'),
  against('CPU of a request, 1,000 a second, against nginx', 1.7, 'rate-1000', 'nginx'),
  against('user time of a request, 1,000 a second, against serve-raw', 1.8, 'rate-1000', 'serve-raw', 'userUs'),
  against('CPU of a request, 64 at once, against serve-raw', 2.3, 'plain', 'serve-raw'),
  addedToFirstToken('first token, added to direct', 0.25, 'p50Us'),
  addedToFirstToken('first token, added to direct, p99', 1, 'p99Us'),
  {
    title: 'resident memory at rest',
    unit: 'MB',
    limit: 50,
    limitIs: 'most',
    measure: 'memory',
    figure: (of) => of(serviceName, 'startMb'),
  },
  {
    title: 'resident memory after 100,000 requests',
    unit: 'MB',
    limit: 90,
    limitIs: 'most',
    measure: 'memory',
    figure: (of) => of(serviceName, 'afterRequestsMb'),
  },
  {
    title: 'resident memory with 1,000 open streams',
    unit: 'MB',
    limit: 110,
    limitIs: 'most',
    measure: 'memory',
    figure: (of) => of(serviceName, 'streamsMb'),
  },
]

function against(title: string, limit: number, measure: MeasureName, reference: string, metric = 'cpuUs'): Target {
  const figure: Target['figure'] = (of) => ratio(of(serviceName, metric), of(reference, metric))
  return { title, unit: '×', limit, limitIs: 'most', measure, figure }
}

function addedToFirstToken(title: string, limit: number, metric: string): Target {
  const figure: Target['figure'] = (of) => ratio(added(of, serviceName, metric), 1000)
  return { title, unit: 'ms', limit, limitIs: 'most', measure: 'first-token', figure }
}

/** Compares the median of a target's figures, one for each round, with the target. */
export function judge(target: Target, measurements: readonly Measurement[]): Verdict {
  const summary = summarize(perRound(target.measure, measurements, target.figure))
  if (summary === undefined) return { target, summary, isMet: false, text: 'not measured' }
  const isMet = target.limitIs === 'most' ? summary.median <= target.limit : summary.median >= target.limit
  if (isMet) return { target, summary, isMet, text: 'met' }
  const missedPercent = Math.abs(summary.median / target.limit - 1) * 100
  return {
    target,
    summary,
    isMet,
    text: `missed by ${missedPercent < 1 ? missedPercent.toFixed(1) : missedPercent.toFixed(0)} %`,
  }
}

/** Computes `figure` for each round of a measure, in order; leaves out rounds without a value. */
export function perRound(
  measure: MeasureName,
  measurements: readonly Measurement[],
  figure: (of: RoundLookup) => number | undefined,
): readonly number[] {
  const rounds = Map.groupBy(
    measurements.filter((measurement) => measurement.measure === measure),
    (measurement) => measurement.round,
  )
  return [...rounds.values()].flatMap((round) => {
    const value = figure((proxy, metric) => round.find((one) => one.proxy === proxy && one.metric === metric)?.value)
    return value === undefined ? [] : [value]
  })
}

/** A latency of a proxy less that of the upstream, microseconds. Default: the median. */
export function added(of: RoundLookup, proxy: string, metric = 'p50Us'): number | undefined {
  const through = of(proxy, metric)
  const direct = of(directName, metric)
  return through === undefined || direct === undefined ? undefined : through - direct
}

/** Divides; undefined when a part is missing, or when noise makes the divisor zero or negative. */
export function ratio(dividend: number | undefined, divisor: number | undefined): number | undefined {
  return dividend === undefined || divisor === undefined || divisor <= 0 ? undefined : dividend / divisor
}
