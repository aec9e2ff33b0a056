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
  {
    title: 'CPU per plain request, against nginx',
    unit: '×',
    limit: 2.5,
    limitIs: 'most',
    measure: 'plain',
    figure: (of) => ratio(of(serviceName, 'cpuUs'), of('nginx', 'cpuUs')),
  },
  {
    title: 'latency added to a lone request, against nginx',
    unit: '×',
    limit: 1.5,
    limitIs: 'most',
    measure: 'latency',
    figure: (of) => ratio(added(of, serviceName), added(of, 'nginx')),
  },
  {
    title: 'CPU per relayed stream chunk, against a bare Bun relay',
    unit: '×',
    limit: 1.5,
    limitIs: 'most',
    measure: 'stream',
    figure: (of) => ratio(of(serviceName, 'cpuUs'), of('bare-relay', 'cpuUs')),
  },
  {
    title: 'first token, added to direct',
    unit: 'ms',
    limit: 0.5,
    limitIs: 'most',
    measure: 'first-token',
    figure: (of) => ratio(added(of, serviceName), 1000),
  },
  {
    title: 'resident memory after 100,000 requests',
    unit: 'MB',
    limit: 100,
    limitIs: 'most',
    measure: 'memory',
    figure: (of) => of(serviceName, 'afterRequestsMb'),
  },
  {
    title: 'resident memory with 1,000 open streams',
    unit: 'MB',
    limit: 150,
    limitIs: 'most',
    measure: 'memory',
    figure: (of) => of(serviceName, 'streamsMb'),
  },
  {
    title: "Portkey's CPU per plain request, against ours",
    unit: '×',
    limit: 5,
    limitIs: 'least',
    measure: 'plain',
    figure: (of) => ratio(of('portkey', 'cpuUs'), of(serviceName, 'cpuUs')),
  },
]

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
