import type { MetricValues, SeriesValue } from '../registry.ts'
import { attributeWriter } from './attributes.ts'
import type { ProtobufWriter } from './protobuf.ts'

/** Field of ScopeMetrics, and those of Metric and its data points (opentelemetry/proto/metrics/v1/metrics.proto). */
const metrics = 2
const metric = { name: 1, description: 2, unit: 3, gauge: 5, sum: 7, histogram: 9 }
const points = 1,
  temporality = 2,
  isMonotonic = 3
const cumulative = 2
const number = { start: 2, time: 3, double: 4, attributes: 7 }
const histogram = { start: 2, time: 3, count: 4, sum: 5, counts: 6, bounds: 7, attributes: 9 }

export interface MetricTimes {
  /** Unix milliseconds since which counters count. */
  readonly startMs: number
  readonly nowMs: number
}

/** Writes metrics, cumulative since the start. @returns the number of series */
export function writeMetrics(out: ProtobufWriter, all: readonly MetricValues[], times: MetricTimes): number {
  let count = 0
  for (const { name, kind, help, labels, unit = unitOf(name), series } of all) {
    if (series.length === 0) continue
    const start = out.begin(metrics)
    out.text(metric.name, name)
    out.text(metric.description, help)
    if (unit !== '') out.text(metric.unit, unit)
    const data = out.begin(kind === 'gauge' ? metric.gauge : kind === 'counter' ? metric.sum : metric.histogram)
    const writers = labels.map((label) => attributeWriter(label, label === 'server.port' ? 'whole' : 'text'))
    for (const each of series) {
      const point = out.begin(points)
      writeValue(out, each, times, kind === 'gauge')
      const field = 'value' in each ? number.attributes : histogram.attributes
      for (const [index, write] of writers.entries()) write(out, field, labelOf(labels[index], each.labels[index]))
      out.end(point)
    }
    if (kind !== 'gauge') out.varint(temporality, cumulative)
    if (kind === 'counter') out.varint(isMonotonic, 1)
    out.end(data)
    out.end(start)
    count += series.length
  }
  return count
}

/** An empty label means that there is none. */
function labelOf(name: string | undefined, value: string | undefined): unknown {
  if (value === '' || value === undefined) return undefined
  return name === 'server.port' ? Number(value) : value
}

function writeValue(out: ProtobufWriter, series: SeriesValue, { startMs, nowMs }: MetricTimes, isGauge: boolean): void {
  if ('value' in series) {
    if (!isGauge) out.nanoseconds(number.start, startMs)
    out.nanoseconds(number.time, nowMs)
    out.double(number.double, series.value)
    return
  }
  out.nanoseconds(histogram.start, startMs)
  out.nanoseconds(histogram.time, nowMs)
  out.fixed64(
    histogram.count,
    series.counts.reduce((sum, count) => sum + count, 0),
  )
  out.double(histogram.sum, series.sum)
  out.counts(histogram.counts, series.counts)
  out.doubles(histogram.bounds, series.bounds)
}

/** Names of Prometheus end in their unit. */
function unitOf(name: string): string {
  if (/_seconds(?:_total)?$/.test(name)) return 's'
  return name.endsWith('_bytes') ? 'By' : ''
}
