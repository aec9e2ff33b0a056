import { bodiesMemoryMax } from './measures/bodies.ts'
import { directName, serviceName, type MeasureName } from './measures/measure.ts'
import type { ProxyKind } from './proxies/proxy.ts'
import { comparedTable, machineSentence, type BenchRun, type ProxyNote } from './report.ts'
import { median } from './statistics.ts'
import { formatNumber, markdownTable, verdictTable } from './table.ts'
import { added, judge, perRound, targets, type RoundLookup } from './targets.ts'

/** One figure of the side by side: a row of its table. */
export interface Figure {
  /** Title, with the unit. */
  readonly title: string
  readonly better: 'less' | 'more'
  /** Limit of the measurement: a value at it is written as "more than". */
  readonly most?: number
  readonly value: (run: BenchRun, proxy: string) => number | undefined
}

/** The service compared with others in one figure. */
export interface Comparison {
  readonly figure: Figure
  /** Proxy → value, for those that have one. */
  readonly values: ReadonlyMap<string, number>
  /** Rank of the service among the gateways, from 1; undefined when it has no value. */
  readonly rank: number | undefined
  /** Number of values, of the service and the gateways. */
  readonly ranked: number
  /** Gateways that are better. */
  readonly ahead: readonly string[]
  /** Name of the best proxy, with relays. */
  readonly best: string | undefined
}

/** Share of a fixed rate below which a figure is left out, in percent. */
const keptPercentMin = 95

function measured(
  title: string,
  better: Figure['better'],
  measure: MeasureName,
  figure: (of: RoundLookup, proxy: string) => number | undefined,
): Figure {
  return {
    title,
    better,
    value: (run, proxy) => median(perRound(measure, run.measurements, (of) => figure(of, proxy))),
  }
}

function metric(title: string, better: Figure['better'], measure: MeasureName, name: string): Figure {
  return measured(title, better, measure, (of, proxy) => of(proxy, name))
}

function addedMs(title: string, measure: MeasureName, name: string): Figure {
  return measured(title, 'less', measure, (of, proxy) => {
    const us = added(of, proxy, name)
    return us === undefined || !keepsPace(of, proxy) ? undefined : us / 1000
  })
}

/** CPU time for each request at a fixed rate, or for each chunk at a fixed pace. */
function cpuAtPace(title: string, measure: MeasureName): Figure {
  return measured(title, 'less', measure, (of, proxy) => (keepsPace(of, proxy) ? of(proxy, 'cpuUs') : undefined))
}

/** Whether a proxy kept a fixed rate or pace, if there was one. Otherwise its figures belong to a lower one. */
function keepsPace(of: RoundLookup, proxy: string): boolean {
  return (of(proxy, 'keptPercent') ?? 100) >= keptPercentMin
}

function installed(title: string, figure: (facts: NonNullable<ProxyNote['installed']>) => number): Figure {
  return {
    title,
    better: 'less',
    value(run, proxy) {
      const facts = run.proxies.find(({ name }) => name === proxy)?.installed
      return facts === undefined ? undefined : figure(facts)
    },
  }
}

/**
 * Figures of the side by side, in the order of the table. Added times are those through a proxy less those of the
 * upstream in the same round.
 */
export const figures: readonly Figure[] = [
  cpuAtPace('plain, 100 a second: CPU µs a request', 'rate-100'),
  cpuAtPace('plain, 1,000 a second: CPU µs a request', 'rate-1000'),
  addedMs('plain, 1,000 a second: added ms p50', 'rate-1000', 'p50Us'),
  addedMs('plain, 1,000 a second: added ms p99', 'rate-1000', 'p99Us'),
  cpuAtPace('plain, 3,000 a second: CPU µs a request', 'rate-3000'),
  metric('plain, 64 at once: CPU µs a request', 'less', 'plain', 'cpuUs'),
  metric('plain, 64 at once: requests/s', 'more', 'plain', 'perSecond'),
  addedMs('plain, 64 at once: added ms p50', 'plain', 'p50Us'),
  addedMs('plain, 64 at once: added ms p99', 'plain', 'p99Us'),
  addedMs('plain, one at a time: added ms p50', 'latency', 'p50Us'),
  addedMs('plain, one at a time: added ms p99', 'latency', 'p99Us'),
  addedMs('first token, one at a time: added ms p50', 'first-token', 'p50Us'),
  addedMs('first token, one at a time: added ms p99', 'first-token', 'p99Us'),
  cpuAtPace('one stream at 20 ms a chunk: CPU µs a chunk', 'paced-1'),
  cpuAtPace('64 streams at 20 ms a chunk: CPU µs a chunk', 'paced-64'),
  addedMs('64 streams at 20 ms a chunk: chunk delayed ms p50', 'paced-64', 'delayP50Us'),
  addedMs('64 streams at 20 ms a chunk: chunk delayed ms p99', 'paced-64', 'delayP99Us'),
  cpuAtPace('1,000 streams at 20 ms a chunk: CPU µs a chunk', 'paced-1000'),
  metric('streams, as fast as they go: chunks/s', 'more', 'stream-throughput', 'perSecond'),
  metric('streams, as fast as they go: CPU µs a chunk', 'less', 'stream-throughput', 'cpuUs'),
  metric('memory at rest, MB', 'less', 'memory', 'startMb'),
  metric('memory under load (64 at once), MB', 'less', 'memory', 'loadMb'),
  metric('memory with 1,000 streams, MB', 'less', 'memory', 'streamsMb'),
  { ...metric('memory with 150 KB × 1,500, MB', 'less', 'bodies', 'peakMb'), most: bodiesMemoryMax },
  metric('of these 1,500 answered', 'more', 'bodies', 'answered'),
  metric('cold start: ms to the first 200', 'less', 'start', 'startMs'),
  installed('installed, MB', ({ bytes }) => bytes / 1e6),
  installed('installed with its runtime, MB', ({ bytes, runtimeBytes }) => (bytes + runtimeBytes) / 1e6),
  installed('dependencies', ({ dependencies }) => dependencies),
]

/** Compares the service with others in a figure, by the medians over the rounds. */
export function comparisonOf(figure: Figure, run: BenchRun): Comparison {
  const valued = run.proxies.flatMap(({ name, kind }) => {
    const value = name === directName ? undefined : figure.value(run, name)
    return value === undefined ? [] : [{ name, kind, value }]
  })
  const isBetter = (one: number, other: number): boolean => (figure.better === 'less' ? one < other : one > other)
  const own = valued.find(({ name }) => name === serviceName)
  const rivals = valued.filter(({ kind }) => kind === 'gateway')
  const ahead =
    own === undefined ? [] : rivals.filter(({ value }) => isBetter(value, own.value)).map(({ name }) => name)
  const [best] = valued.toSorted((one, other) =>
    isBetter(one.value, other.value) ? -1 : isBetter(other.value, one.value) ? 1 : 0,
  )
  return {
    figure,
    values: new Map(valued.map(({ name, value }) => [name, value])),
    rank: own === undefined ? undefined : ahead.length + 1,
    ranked: rivals.length + (own === undefined ? 0 : 1),
    ahead,
    best: best?.name,
  }
}

/** Those whose figures ours are divided by. */
const references = ['nginx', 'haproxy', 'serve-raw']

/**
 * Formats the table: a row for each figure, a column for each proxy, then the rank of the service among the gateways,
 * if there are any, with the best proxy, and the ratio of the service to each relay.
 */
export function comparisonTable(comparisons: readonly Comparison[], proxies: readonly ProxyNote[]): string {
  const order: readonly (ProxyKind | undefined)[] = ['service', 'gateway', 'relay', 'floor']
  const names = order.flatMap((kind) => proxies.filter((proxy) => proxy.kind === kind).map(({ name }) => name))
  const against = references.filter((name) => names.includes(name))
  const hasRivals = proxies.some(({ kind }) => kind === 'gateway')
  const rows = comparisons.map(({ figure, values, rank, ranked, ahead, best }) => [
    figure.title,
    ...names.map((name) => formatValue(figure, values.get(name))),
    ...(hasRivals ? [formatRank(rank, ranked, ahead), best ?? '–'] : []),
    ...against.map((name) => formatQuotient(values.get(serviceName), values.get(name))),
  ])
  const heads = names.map((name) => (name === serviceName ? `**${name}**` : name))
  return markdownTable(
    [
      '',
      ...heads,
      ...(hasRivals ? ['svc among gateways', 'best of all'] : []),
      ...against.map((name) => `svc ÷ ${name}`),
    ],
    rows,
  )
}

function formatRank(rank: number | undefined, ranked: number, ahead: readonly string[]): string {
  if (rank === undefined) return '–'
  return `${rank} of ${ranked}${ahead.length === 0 ? '' : `, behind ${ahead.join(', ')}`}`
}

function formatValue({ most }: Figure, value: number | undefined): string {
  if (value === undefined) return '–'
  if (most !== undefined && value >= most) return `> ${formatNumber(most)}`
  return Number.isInteger(value) ? value.toLocaleString('en-US') : formatNumber(value)
}

function formatQuotient(dividend: number | undefined, divisor: number | undefined): string {
  return dividend === undefined || divisor === undefined || divisor <= 0 ? '–' : formatNumber(dividend / divisor)
}

/** `svc is ahead of every gateway in 21 of 23 figures. Not in: …`. */
export function comparisonSentence(comparisons: readonly Comparison[]): string {
  const held = comparisons.filter(({ rank, ranked }) => rank !== undefined && ranked > 1)
  const lost = held.filter(({ ahead }) => ahead.length > 0)
  const first = `**svc is ahead of every gateway in ${held.length - lost.length} of ${held.length} figures.**`
  return lost.length === 0
    ? first
    : `${first} Not in: ${lost.map(({ figure, ahead }) => `${figure.title} (${ahead.join(', ')})`).join('; ')}.`
}

/**
 * Formats the side by side as Markdown without a heading: date and machine, table, summary, versions, and missing
 * proxies with the reason.
 */
export function sideBySideMarkdown(run: BenchRun): string {
  const comparisons = comparisonsOf(run)
  const missing = run.notes.map((note) => `- ${note}`).join('\n')
  const parts = [
    runSentence(run),
    comparisonTable(comparisons, run.proxies),
    comparisonSentence(comparisons),
    comparedTable(run),
    ...(missing === '' ? [] : [`Not measured, and why:\n\n${missing}`]),
  ]
  return parts.join('\n\n')
}

/** Formats a run without other gateways as Markdown without a heading: date and machine, table, targets. */
export function speedMarkdown(run: BenchRun): string {
  const verdicts = targets.map((target) => judge(target, run.measurements))
  return [runSentence(run), comparisonTable(comparisonsOf(run), run.proxies), verdictTable(verdicts)].join('\n\n')
}

function comparisonsOf(run: BenchRun): readonly Comparison[] {
  return figures.map((figure) => comparisonOf(figure, run)).filter(({ values }) => values.size > 0)
}

function runSentence(run: BenchRun): string {
  const rounds = `${run.rounds} round${run.rounds === 1 ? '' : 's'}`
  return `${run.date}, medians of ${rounds} of ${run.seconds} s. ${machineSentence(run)}`
}
