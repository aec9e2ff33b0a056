/** One time series of a counter. */
export interface Counter {
  /** Adds an amount. Negative and non-finite amounts are ignored. Default 1. */
  add(amount?: number): void
}

/** One time series of a gauge. */
export interface Gauge {
  add(amount: number): void
  set(value: number): void
}

/** One time series of a histogram. */
export interface Histogram {
  /** Adds a value. NaN is ignored. */
  observe(value: number): void
}

/**
 * The series of one metric, one for each combination of label values. Keep the result of `with` for frequent use.
 */
export interface Family<Series> {
  /** Returns the series with these label values, in the order of the labels. Makes it at the first call. */
  with(...values: readonly string[]): Series
}

/** A value that is read together with the metrics. */
export interface Sample {
  /** Label values, in the order of the labels. */
  readonly labels: readonly string[]
  readonly value: number
}

/** Metrics by name, and their text. */
export interface Registry {
  /** @param unit of the metric; absent: its name says it */
  counter(name: string, help: string, labels?: readonly string[], unit?: string): Family<Counter>
  gauge(name: string, help: string, labels?: readonly string[]): Family<Gauge>
  /** Adds a counter or gauge whose values are kept elsewhere. `read` must not throw. */
  observed(
    kind: 'counter' | 'gauge',
    name: string,
    help: string,
    labels: readonly string[],
    read: () => Iterable<Sample>,
  ): void
  /** @param bounds upper bounds of the buckets, ascending; `+Inf` is added */
  histogram(
    name: string,
    help: string,
    labels: readonly string[],
    bounds: readonly number[],
    unit?: string,
  ): Family<Histogram>
  /** All metrics in the order they were made, in Prometheus text format 0.0.4. */
  text(): string
  /** Names, kinds, labels and help, for documentation. */
  readonly metrics: readonly MetricDescription[]
  /** The metrics with the present values of their series. */
  read(): readonly MetricValues[]
}

/** A metric with the values of its series. */
export interface MetricValues extends MetricDescription {
  readonly series: readonly SeriesValue[]
}

/** The present value of a series. Label values are in the order of the labels. */
export type SeriesValue = { readonly labels: readonly string[] } & (
  | { readonly value: number }
  | { readonly bounds: readonly number[]; readonly counts: Float64Array; readonly sum: number }
)

/** The description of a metric. */
export interface MetricDescription {
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly unit?: string | undefined
}

interface Metric extends MetricDescription {
  lines(): string
  series(): readonly SeriesValue[]
}

export function registry(): Registry {
  const metrics: Metric[] = []

  function values(kind: 'counter' | 'gauge', name: string, help: string, labels: readonly string[], unit?: string) {
    const series = seriesOf(labels, () => ({ value: 0 }))
    // A metric without labels has one series, which exists from the beginning.
    if (labels.length === 0) series.with()
    metrics.push({
      name,
      kind,
      help,
      labels,
      unit,
      lines: () =>
        series
          .all()
          .map(([text, cell]) => `${name}${braces(text)} ${formatNumber(cell.value)}\n`)
          .join(''),
      series: () => series.all().map(([, { value }, values]) => ({ labels: values, value })),
    })
    return series
  }

  return {
    counter(name, help, labels = [], unit) {
      const cells = values('counter', name, help, labels, unit)
      const counters = seriesOf<Counter>(labels, (...texts) => {
        const cell = cells.with(...texts)
        return {
          add(amount = 1) {
            if (amount >= 0 && amount < Infinity) cell.value += amount
          },
        }
      })
      return { with: counters.with }
    },
    gauge(name, help, labels = []) {
      const cells = values('gauge', name, help, labels)
      const gauges = seriesOf<Gauge>(labels, (...texts) => {
        const cell = cells.with(...texts)
        return {
          add(amount) {
            cell.value += amount
          },
          set(value) {
            cell.value = value
          },
        }
      })
      return { with: gauges.with }
    },
    observed(kind, name, help, labels, read) {
      metrics.push({
        name,
        kind,
        help,
        labels,
        lines: () =>
          Array.from(
            read(),
            (sample) => `${name}${braces(labelText(labels, sample.labels))} ${formatNumber(sample.value)}\n`,
          ).join(''),
        series: () => [...read()],
      })
    },
    histogram(name, help, labels, bounds, unit) {
      const series = seriesOf(labels, () => histogramCells(bounds))
      metrics.push({
        name,
        kind: 'histogram',
        help,
        labels,
        unit,
        lines: () =>
          series
            .all()
            .map(([text, cells]) => cells.lines(name, text))
            .join(''),
        series: () => series.all().map(([, cells, values]) => ({ labels: values, bounds, ...cells.read() })),
      })
      return { with: series.with }
    },
    text: () =>
      metrics
        .map(
          (metric) =>
            `# HELP ${metric.name} ${escapeHelp(metric.help)}\n# TYPE ${metric.name} ${metric.kind}\n${metric.lines()}`,
        )
        .join(''),
    metrics,
    read: () => metrics.map((metric) => ({ ...metric, series: metric.series() })),
  }
}

interface HistogramCells extends Histogram {
  lines(name: string, labels: string): string
  read(): { readonly counts: Float64Array; readonly sum: number }
}

function histogramCells(bounds: readonly number[]): HistogramCells {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    observe(value) {
      if (Number.isNaN(value)) return
      let bucket = 0
      while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket++
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += value
    },
    read: () => ({ counts, sum }),
    lines(name, labels) {
      let total = 0
      let text = ''
      for (const [bucket, count] of counts.entries()) {
        total += count
        text += `${name}_bucket${braces(joined(labels, `le="${formatNumber(bounds[bucket] ?? Infinity)}"`))} ${total}\n`
      }
      return `${text}${name}_sum${braces(labels)} ${formatNumber(sum)}\n${name}_count${braces(labels)} ${total}\n`
    },
  }
}

interface SeriesMap<Series> extends Family<Series> {
  /** All series, with the text of their labels and their label values. */
  all(): readonly (readonly [text: string, Series, values: readonly string[]])[]
}

function seriesOf<Series>(
  labels: readonly string[],
  make: (...values: readonly string[]) => Series,
): SeriesMap<Series> {
  const known = new Map<string, readonly [text: string, Series, values: readonly string[]]>()
  return {
    with(...values) {
      const key = labelText(labels, values)
      const found = known.get(key)
      if (found !== undefined) return found[1]
      const made = make(...values)
      known.set(key, [key, made, values])
      return made
    },
    all: () => [...known.values()],
  }
}

function labelText(labels: readonly string[], values: readonly string[]): string {
  return labels.map((label, index) => `${label}="${escapeLabel(values[index] ?? '')}"`).join(',')
}

function braces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`
}

function joined(labels: string, more: string): string {
  return labels === '' ? more : `${labels},${more}`
}

function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}

function escapeLabel(text: string): string {
  return text.toWellFormed().replace(/[\\"\n]/g, (letter) => (letter === '\n' ? '\\n' : `\\${letter}`))
}

function escapeHelp(text: string): string {
  return text.toWellFormed().replace(/[\\\n]/g, (letter) => (letter === '\n' ? '\\n' : '\\\\'))
}

const labelLengthMax = 128

/**
 * Makes a function that limits the number of different label values: after `valuesMax` values, new ones become `other`.
 * Values are cut to 128 characters.
 */
export function boundedLabel(valuesMax: number): (value: string) => string {
  const known = new Set<string>()
  return function bound(value) {
    if (known.has(value)) return value
    const short = value.length > labelLengthMax ? value.slice(0, labelLengthMax) : value
    if (known.has(short)) return short
    if (known.size >= valuesMax) return 'other'
    known.add(short)
    return short
  }
}
