import { directName, serviceName, type MeasureName, type Measurement } from './measures/measure.ts'
import { summarize, type Summary } from './statistics.ts'
import { added, perRound, ratio, type RoundLookup, type Verdict } from './targets.ts'

/** Formats a Markdown table with padded columns. The first column is left-aligned, the others right. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const pad = (text: string, width: number, column: number): string =>
    column === 0 ? text.padEnd(width) : text.padStart(width)
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width, column)).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(header), line(rule), ...rows.map(line)].join('\n')
}

/** `57.1 (55.0–61.3)`: the median with its extremes; `57.1` where all are equal, a dash for none. */
export function formatSummary(summary: Summary | undefined): string {
  if (summary === undefined) return '–'
  const [median, min, max] = [summary.median, summary.min, summary.max].map(formatNumber)
  return min === max ? `${median}` : `${median} (${min}–${max})`
}

/** Three significant figures: `0`, `0.123`, `4.56`, `78.9`, `1,234`. */
export function formatNumber(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

interface Column {
  readonly title: string
  readonly figure: (of: RoundLookup, proxy: string) => number | undefined
}

function metric(title: string, name: string): Column {
  return { title, figure: (of, proxy) => of(proxy, name) }
}

function cpuAgainst(reference: string): Column {
  return { title: `× ${reference}`, figure: (of, proxy) => ratio(of(proxy, 'cpuUs'), of(reference, 'cpuUs')) }
}

const addedUs: Column = {
  title: 'added µs',
  figure: (of, proxy) => (proxy === directName ? undefined : added(of, proxy)),
}
const addedAgainstNginx: Column = {
  title: 'added × nginx',
  figure: (of, proxy) => (proxy === directName ? undefined : ratio(added(of, proxy), added(of, 'nginx'))),
}

const addedP99Us: Column = {
  title: 'added µs',
  figure: (of, proxy) => (proxy === directName ? undefined : added(of, proxy, 'p99Us')),
}

function cpuOf(each: string): readonly Column[] {
  return [
    metric(`CPU µs a ${each}`, 'cpuUs'),
    metric('user', 'userUs'),
    metric('kernel', 'kernelUs'),
    cpuAgainst('nginx'),
    cpuAgainst('serve-raw'),
  ]
}

function rateSection(perSecond: string): Section {
  return {
    title: `Plain requests, ${perSecond} a second`,
    columns: [
      ...cpuOf('request'),
      metric('rate kept %', 'keptPercent'),
      metric('p50 µs', 'p50Us'),
      addedUs,
      metric('p99 µs', 'p99Us'),
      metric('client late p50 µs', 'sendP50Us'),
      metric('sent late', 'late'),
      metric('unsent or unanswered', 'missing'),
    ],
  }
}

function pacedSection(title: string): Section {
  return {
    title,
    columns: [
      ...cpuOf('chunk'),
      metric('open together', 'together'),
      metric('pace kept %', 'keptPercent'),
      metric('chunks a read', 'chunksPerRead'),
      metric('busy %', 'busyPercent'),
      metric('chunk on its way p50 µs', 'delayP50Us'),
      metric('p99 µs', 'delayP99Us'),
    ],
  }
}

interface Section {
  readonly title: string
  readonly columns: readonly Column[]
}

const sections: Readonly<Record<MeasureName, Section>> = {
  'rate-100': rateSection('100'),
  'rate-1000': rateSection('1,000'),
  'rate-3000': rateSection('3,000'),
  plain: {
    title: 'Plain requests, 64 at once, as fast as they are answered',
    columns: [
      ...cpuOf('request'),
      metric('busy %', 'busyPercent'),
      metric('requests/s', 'perSecond'),
      metric('p50 µs', 'p50Us'),
      metric('p99 µs', 'p99Us'),
    ],
  },
  aged: {
    title: 'A plain request after 50,000 and after 350,000 others, 1,000 a second',
    columns: [
      metric('fresh: CPU µs a request', 'freshCpuUs'),
      metric('aged: CPU µs a request', 'agedCpuUs'),
      { title: 'aged ÷ fresh', figure: (of, proxy) => ratio(of(proxy, 'agedCpuUs'), of(proxy, 'freshCpuUs')) },
    ],
  },
  latency: {
    title: 'Plain requests, one at a time',
    columns: [metric('p50 µs', 'p50Us'), addedUs, addedAgainstNginx, metric('p99 µs', 'p99Us'), addedP99Us],
  },
  'paced-1': pacedSection('One stream, a chunk every 20 ms'),
  'paced-64': pacedSection('64 streams, a chunk every 20 ms'),
  'paced-1000': pacedSection('1,000 streams, a chunk every 20 ms'),
  'stream-throughput': {
    title: 'Streams, 64 at once, chunks as fast as they go',
    columns: [
      ...cpuOf('chunk'),
      metric('chunks/s', 'perSecond'),
      metric('chunks a read', 'chunksPerRead'),
      metric('busy %', 'busyPercent'),
    ],
  },
  'first-token': {
    title: 'First token of a stream, one at a time',
    columns: [metric('p50 µs', 'p50Us'), addedUs, addedAgainstNginx, metric('p99 µs', 'p99Us'), addedP99Us],
  },
  memory: {
    title: 'Resident memory, MB',
    columns: [
      metric('at rest', 'startMb'),
      metric('plain requests answered', 'requests'),
      metric('most meanwhile', 'loadMb'),
      metric('after them', 'afterRequestsMb'),
      metric('of it its own share', 'afterRequestsShareMb'),
      metric('with 1,000 streams open', 'streamsMb'),
      metric('streams open together', 'streamsTogether'),
    ],
  },
  bodies: {
    title: '150 KB bodies, 1,500 at once',
    columns: [
      metric('most resident MB', 'peakMb'),
      metric('answered', 'answered'),
      metric('refused', 'refused'),
      metric('failed', 'failed'),
      metric('unfinished', 'unfinished'),
      metric('seconds', 'seconds'),
    ],
  },
  start: {
    title: 'Cold start',
    columns: [metric('first 200 after ms', 'startMs')],
  },
}

/**
 * Formats the section of one measure: a heading and a table with a row for each proxy with figures, in the given order.
 */
export function measureSection(
  measure: MeasureName,
  proxies: readonly string[],
  measurements: readonly Measurement[],
): string {
  const { title, columns } = sections[measure]
  const measured = proxies.filter((proxy) => measurements.some((one) => one.measure === measure && one.proxy === proxy))
  const rows = measured.map((proxy) => [
    proxy === serviceName ? `**${proxy}**` : proxy,
    ...columns.map((column) =>
      formatSummary(summarize(perRound(measure, measurements, (of) => column.figure(of, proxy)))),
    ),
  ])
  return `## ${title}\n\n${markdownTable(['', ...columns.map((column) => column.title)], rows)}`
}

/** Formats the table of targets and figures. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ target, summary, text }) => [
    target.title,
    `${target.limitIs === 'most' ? '≤' : '≥'} ${target.limit} ${target.unit}`,
    formatSummary(summary),
    text,
  ])
  return markdownTable(['Target', 'to reach', 'measured', 'verdict'], rows)
}
