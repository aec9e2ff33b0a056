import { freeApis } from '../prices/free-apis.ts'
import { usdOf } from '../prices/money.ts'
import { requestFields, wasSent, type RecordedAttempt, type RequestRecord } from './record.ts'
import {
  boundedLabel,
  registry,
  type Counter,
  type Gauge,
  type Histogram,
  type MetricDescription,
  type Registry,
  type Sample,
} from './registry.ts'

/** A circuit breaker's state. */
export interface BreakerState {
  readonly provider: string
  /** The upstream's name of the model; empty for the whole provider. */
  readonly model: string
  readonly isOpen: boolean
}

/** Options of {@link gatewayMetrics}. The functions are called when the metrics are read. */
export interface GatewayMetricsOptions {
  readonly version: string
  breakers?(): Iterable<BreakerState>
  logLinesDropped?(): number
  /** Records that workers could not send to the primary process. */
  recordsDropped?(): number
  /** Requests whose rows the ledger lost. Their sums are kept. */
  ledgerRowsDropped?(): number
  /** Resident memory of all processes. Default: of this process. */
  residentBytes?(): number
  /** Worker processes that are ready. */
  workersReady?(): number
  /** Worker processes started to replace one that died. */
  workerRestarts?(): number
}

/** The metrics of docs/observability.md. */
export interface GatewayMetrics {
  /** Counts one request that has ended. Costs less than a microsecond. */
  record(record: RequestRecord): void
  /** Number of streams being sent to clients: add 1 when one begins, -1 when it ends. */
  readonly streamsOpen: Gauge
  /** Counts a reload of the configuration. */
  reloaded(result: 'ok' | 'failed'): void
  /** Returns the metrics in Prometheus text format 0.0.4. */
  text(): string
  readonly metrics: readonly MetricDescription[]
}

const modelsMax = 500
const labelsMax = 200

/** Seconds, from a fast local model to the longest allowed request, 600 s. */
const secondsBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]

/** The series of requests to one model that ended alike. */
interface RequestSeries {
  readonly api: string
  readonly status: number
  readonly kind: string
  readonly provider: string | undefined
  readonly requests: Counter
  /** In the order of `times`. Absent: no provider answered. */
  readonly times: readonly (Histogram | undefined)[]
  readonly promptTokens: Counter | undefined
  readonly completionTokens: Counter | undefined
  /** By source; made when they are needed. */
  readonly costs: Partial<Record<'priced' | 'reported' | 'estimated' | 'unknown', Counter>>
}

/** The series of attempts for one model that ended alike. */
interface AttemptSeries {
  readonly provider: string
  readonly outcome: string
  readonly attempts: Counter
  readonly seconds: Histogram
}

/**
 * Makes the metrics of a gateway. Only listed models, at most 500, have series of their own, so callers cannot create
 * series.
 */
export function gatewayMetrics(options: GatewayMetricsOptions): GatewayMetrics {
  return new ServiceMetrics(options)
}

/** Metrics that requests count. */
function requestMetrics(all: Registry) {
  return {
    requests: all.counter(
      'svc_requests_total',
      'Ended requests, by model, provider, HTTP status sent to the caller, error code (ok without one) and format',
      ['model', 'provider', 'status', 'class', 'api'],
    ),
    attempts: all.counter('svc_attempts_total', 'Attempts at providers, by outcome: ok or the class of failure', [
      'provider',
      'model',
      'outcome',
    ]),
    adapted: all.counter(
      'svc_adapted_requests_total',
      'Requests that were sent once more in another form, since a refusal had named a trait of the model',
      ['provider', 'model', 'trait'],
    ),
    attemptSeconds: all.histogram(
      'svc_attempt_seconds',
      'Time from the start of an attempt to its outcome, a stream to its first meaningful event',
      ['provider'],
      secondsBounds,
    ),
    times: requestFields.flatMap(({ seconds, of }) => {
      if (seconds === undefined) return []
      const { name, help, isByProvider } = seconds
      return [{ of, isByProvider, all: all.histogram(name, help, isByProvider ? ['provider'] : [], secondsBounds) }]
    }),
    tokens: all.counter(
      'svc_tokens_total',
      'Tokens reported by providers, by kind: prompt or completion. Without estimates',
      ['provider', 'model', 'kind'],
    ),
    costs: all.counter(
      'svc_cost_usd_total',
      'Cost of answers in USD, by source: reported by the provider, priced by svc, or estimated without counts',
      ['provider', 'model', 'source'],
    ),
    unpriced: all.counter(
      'svc_unpriced_total',
      'Answers whose cost is not known: the model has no price, or its units were not reported',
      ['provider', 'model'],
    ),
  }
}

/** Adds metrics of single values, which are read when they are scraped. */
function addValues(all: Registry, options: GatewayMetricsOptions): void {
  const add = (kind: 'counter' | 'gauge', name: string, help: string, value: () => number | undefined): void =>
    all.observed(kind, name, help, [], () => [{ labels: [], value: value() ?? 0 }])
  add('counter', 'svc_log_lines_dropped_total', 'Log lines lost because they could not be written', () =>
    options.logLinesDropped?.(),
  )
  add(
    'counter',
    'svc_records_dropped_total',
    'Requests missing in these metrics because the primary process did not receive their records',
    () => options.recordsDropped?.(),
  )
  add(
    'counter',
    'svc_ledger_rows_dropped_total',
    'Requests without a row in requests.db, since it could not be written. Their sums are in svc.db',
    () => options.ledgerRowsDropped?.(),
  )
  add('gauge', 'svc_workers', 'Worker processes that are ready; 0 without --workers', () => options.workersReady?.())
  add('counter', 'svc_worker_restarts_total', 'Worker processes started to replace one that died', () =>
    options.workerRestarts?.(),
  )
  all.observed('gauge', 'svc_build_info', 'Always 1; version of svc and of Bun', ['version', 'bun'], () => [
    { labels: [options.version, Bun.version], value: 1 },
  ])
  add('gauge', 'process_resident_memory_bytes', 'Resident memory of all processes, in bytes', () =>
    options.residentBytes === undefined ? process.memoryUsage.rss() : options.residentBytes(),
  )
  const startSeconds = (Date.now() - process.uptime() * 1000) / 1000
  add('gauge', 'process_start_time_seconds', 'Start of the process, Unix seconds', () => startSeconds)
}

class ServiceMetrics implements GatewayMetrics {
  readonly streamsOpen: Gauge
  readonly #all = registry()
  readonly #of = requestMetrics(this.#all)
  readonly #reloads: Readonly<Record<'ok' | 'failed', Counter>>
  /** Names of models that may be labels of breakers. */
  readonly #upstreams = new Set<string>()
  readonly #boundModel = boundedLabel(modelsMax)
  readonly #boundProvider = boundedLabel(labelsMax)
  readonly #boundClass = boundedLabel(labelsMax)
  readonly #boundTrait = boundedLabel(labelsMax)
  // By model. Each has few series, so searching them costs less than making a key of their labels.
  readonly #requestSeries = new Map<string, RequestSeries[]>()
  readonly #attemptSeries = new Map<string, AttemptSeries[]>()

  constructor(options: GatewayMetricsOptions) {
    this.streamsOpen = this.#all.gauge('svc_streams_open', 'Streams being sent to clients').with()
    this.#all.observed(
      'gauge',
      'svc_breaker_open',
      'Whether the circuit breaker is open (1): the provider, or one model of it, is skipped',
      ['provider', 'model'],
      () => breakerSamples(options.breakers?.() ?? [], (model) => this.#upstreams.has(model)),
    )
    const reloads = this.#all.counter('svc_config_reloads_total', 'Reloads of the configuration: ok or failed', [
      'result',
    ])
    this.#reloads = { ok: reloads.with('ok'), failed: reloads.with('failed') }
    addValues(this.#all, options)
  }

  get metrics(): readonly MetricDescription[] {
    return this.#all.metrics
  }

  record(record: RequestRecord): void {
    const { listedAs, upstream, provider, trail, usage } = record
    const model = provider === undefined && trail.length === 0 ? 'unknown' : this.#modelOf(listedAs, upstream)
    const series = this.#requestSeriesOf(
      record,
      model,
      provider === undefined ? undefined : this.#boundProvider(provider),
    )
    series.requests.add()
    for (const [index, { of }] of this.#of.times.entries()) observe(series.times[index], of(record))
    const counted = usage?.isEstimated === true ? undefined : usage
    if (counted?.promptTokens !== undefined) series.promptTokens?.add(counted.promptTokens)
    if (counted?.completionTokens !== undefined) series.completionTokens?.add(counted.completionTokens)
    this.#recordCost(record, model, series)
    for (const attempt of trail) this.#recordAttempt(attempt, model)
  }

  reloaded(result: 'ok' | 'failed'): void {
    this.#reloads[result].add()
  }

  text(): string {
    return this.#all.text()
  }

  /** The label of a model. Its names become known as labels of breakers, too. */
  #modelOf(listedAs: string | undefined, upstream: string | undefined): string {
    if (listedAs === undefined) return 'other'
    if (this.#upstreams.size < modelsMax) {
      this.#upstreams.add(listedAs)
      if (upstream !== undefined) this.#upstreams.add(upstream)
    }
    return this.#boundModel(listedAs)
  }

  #requestSeriesOf(
    { api, status, error }: Pick<RequestRecord, 'api' | 'status' | 'error'>,
    model: string,
    provider: string | undefined,
  ): RequestSeries {
    const kind = error === undefined ? 'ok' : this.#boundClass(error)
    const ofModel = listOf(this.#requestSeries, model)
    const known = ofModel.find(
      (each) => each.provider === provider && each.status === status && each.kind === kind && each.api === api,
    )
    if (known !== undefined) return known
    const { requests, times, tokens } = this.#of
    const made: RequestSeries = {
      ...{ api, status, kind, provider },
      requests: requests.with(model, provider ?? 'none', String(status), kind, api),
      times: times.map(({ isByProvider, all }) =>
        isByProvider ? (provider === undefined ? undefined : all.with(provider)) : all.with(),
      ),
      promptTokens: provider === undefined ? undefined : tokens.with(provider, model, 'prompt'),
      completionTokens: provider === undefined ? undefined : tokens.with(provider, model, 'completion'),
      costs: {},
    }
    ofModel.push(made)
    return made
  }

  #recordAttempt(attempt: RecordedAttempt, model: string): void {
    const { attempts, attemptSeconds, adapted, tokens } = this.#of
    const provider = this.#boundProvider(attempt.name)
    const outcome = attempt.failure === undefined ? 'ok' : this.#boundClass(attempt.failure)
    const ofModel = listOf(this.#attemptSeries, model)
    let series = ofModel.find((each) => each.provider === provider && each.outcome === outcome)
    if (series === undefined) {
      const counter = attempts.with(provider, model, outcome)
      series = { provider, outcome, attempts: counter, seconds: attemptSeconds.with(provider) }
      ofModel.push(series)
    }
    series.attempts.add()
    for (const trait of attempt.adapted ?? []) adapted.with(provider, model, this.#boundTrait(trait)).add()
    if (wasSent(attempt)) series.seconds.observe(attempt.ms / 1000)
    const { promptTokens, completionTokens } = attempt.tokens ?? {}
    if (promptTokens !== undefined) tokens.with(provider, model, 'prompt').add(promptTokens)
    if (completionTokens !== undefined) tokens.with(provider, model, 'completion').add(completionTokens)
  }

  #recordCost({ api, cost, usage }: RequestRecord, model: string, { provider, costs: known }: RequestSeries): void {
    if (provider === undefined) return
    const { costs, unpriced } = this.#of
    if (cost === undefined) {
      if (!freeApis.has(api)) (known.unknown ??= unpriced.with(provider, model)).add()
      return
    }
    const source = usage?.isEstimated === true ? 'estimated' : cost.source === 'reported' ? 'reported' : 'priced'
    const counter = (known[source] ??= costs.with(provider, model, source))
    counter.add(usdOf(cost.nanoUsd))
  }
}

/** @param ms a fact in milliseconds, if there is one */
function observe(histogram: Histogram | undefined, ms: unknown): void {
  if (typeof ms === 'number') histogram?.observe(ms / 1000)
}

/** The list at a key, which is made at the first call. */
function listOf<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const known = lists.get(key)
  if (known !== undefined) return known
  const made: Item[] = []
  lists.set(key, made)
  return made
}

/** Samples of breakers. Models without a known name share one sample for each provider. */
function breakerSamples(breakers: Iterable<BreakerState>, isKnown: (model: string) => boolean): readonly Sample[] {
  const samples = new Map<string, Sample>()
  for (const { provider, model, isOpen } of breakers) {
    const label = model === '' || isKnown(model) ? model : 'other'
    const key = `${provider}\n${label}`
    const value = Math.max(isOpen ? 1 : 0, samples.get(key)?.value ?? 0)
    samples.set(key, { labels: [provider, label], value })
  }
  return [...samples.values()]
}
