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
  counter(name: string, help: string, labels?: readonly string[]): Family<Counter>
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
  histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Family<Histogram>
  /** All metrics in the order they were made, in Prometheus text format 0.0.4. */
  text(): string
  /** Names, kinds, labels and help, for documentation. */
  readonly metrics: readonly MetricDescription[]
}

/** The description of a metric. */
export interface MetricDescription {
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

interface Metric extends MetricDescription {
  lines(): string
}

export function registry(): Registry {
  const metrics: Metric[] = []

  function values(kind: 'counter' | 'gauge', name: string, help: string, labels: readonly string[]) {
    const series = seriesOf(labels, () => ({ value: 0 }))
    // A metric without labels has one series, which exists from the beginning.
    if (labels.length === 0) series.with()
    metrics.push({
      name,
      kind,
      help,
      labels,
      lines: () =>
        series
          .all()
          .map(([text, cell]) => `${name}${braces(text)} ${formatNumber(cell.value)}\n`)
          .join(''),
    })
    return series
  }

  return {
    counter(name, help, labels = []) {
      const cells = values('counter', name, help, labels)
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
      })
    },
    histogram(name, help, labels, bounds) {
      const series = seriesOf(labels, () => histogramCells(bounds))
      metrics.push({
        name,
        kind: 'histogram',
        help,
        labels,
        lines: () =>
          series
            .all()
            .map(([text, cells]) => cells.lines(name, text))
            .join(''),
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
  }
}

function histogramCells(bounds: readonly number[]): Histogram & { lines(name: string, labels: string): string } {
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
  /** All series with the text of their labels. */
  all(): readonly (readonly [string, Series])[]
}

function seriesOf<Series>(
  labels: readonly string[],
  make: (...values: readonly string[]) => Series,
): SeriesMap<Series> {
  const known = new Map<string, Series>()
  return {
    with(...values) {
      const key = labelText(labels, values)
      const found = known.get(key)
      if (found !== undefined) return found
      const made = make(...values)
      known.set(key, made)
      return made
    },
    all: () => [...known],
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
