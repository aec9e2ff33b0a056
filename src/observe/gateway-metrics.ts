import type { Usage } from '../formats/usage.ts'
import { freeApis } from '../prices/free-apis.ts'
import { usdOf } from '../prices/money.ts'
import { requestFields, wasSent, type RecordedAttempt, type RequestRecord } from './record.ts'
import {
  boundedLabel,
  registry,
  type Registry,
  type Counter,
  type Gauge,
  type Histogram,
  type MetricDescription,
  type MetricValues,
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
  /** Spans of requests that could not be exported. */
  spansDropped?(): number
  /** Resident memory of all processes. Default: of this process. */
  residentBytes?(): number
  /** CPU time of all processes since their start. Default: of this process. */
  cpuSeconds?(): number
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
  /** The present values of all series. */
  read(): readonly MetricValues[]
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
  readonly cachedTokens: Counter | undefined
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

/** Counters and histograms of requests and attempts. */
function countersOf(all: Registry) {
  const requests = all.counter(
    'svc_requests_total',
    'Ended requests, by model, provider, HTTP status sent to the caller, error code (ok without one) and format',
    ['model', 'provider', 'status', 'class', 'api'],
  )
  const attempts = all.counter('svc_attempts_total', 'Attempts at providers, by outcome: ok or the class of failure', [
    'provider',
    'model',
    'outcome',
  ])
  const adapted = all.counter(
    'svc_adapted_requests_total',
    'Requests that were sent once more in another form, since a refusal had named a trait of the model',
    ['provider', 'model', 'trait'],
  )
  const others = all.counter(
    'svc_other_model_total',
    'Answers that name another model than was asked for, also those that were given up',
    ['provider', 'model'],
  )
  const attemptSeconds = all.histogram(
    'svc_attempt_seconds',
    'Time from the start of an attempt to its outcome, a stream to its first meaningful event',
    ['provider'],
    secondsBounds,
  )
  const times = requestFields.flatMap(({ seconds, of }) =>
    seconds === undefined
      ? []
      : [
          {
            ...seconds,
            of,
            all: all.histogram(
              seconds.name,
              seconds.help,
              seconds.isByProvider ? ['provider'] : [],
              seconds.bounds ?? secondsBounds,
            ),
          },
        ],
  )
  const tokens = all.counter(
    'svc_tokens_total',
    'Tokens reported by providers, by kind: prompt or completion. Without estimates',
    ['provider', 'model', 'kind'],
  )
  const cached = all.counter(
    'svc_cached_tokens_total',
    'Prompt tokens that providers had in their cache: a part of the prompt tokens',
    ['provider', 'model'],
  )
  const costs = all.counter(
    'svc_cost_usd_total',
    'Cost of answers in USD, by source: reported by the provider, priced by svc, or estimated without counts',
    ['provider', 'model', 'source'],
  )
  const unpriced = all.counter(
    'svc_unpriced_total',
    'Answers whose cost is not known: the model has no price, or its units were not reported',
    ['provider', 'model'],
  )
  return { requests, attempts, adapted, others, attemptSeconds, times, tokens, cached, costs, unpriced }
}

/** CPU time of this process since its start, in seconds. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Adds what is asked for when the metrics are read. @param upstreams models that may be labels of breakers */
function observeProcesses(all: Registry, options: GatewayMetricsOptions, upstreams: ReadonlySet<string>): void {
  const {
    breakers,
    logLinesDropped,
    recordsDropped,
    ledgerRowsDropped,
    spansDropped,
    residentBytes = () => process.memoryUsage.rss(),
    cpuSeconds = ownCpuSeconds,
    workersReady,
    workerRestarts,
  } = options
  all.observed(
    'gauge',
    'svc_breaker_open',
    'Whether the circuit breaker is open (1): the provider, or one model of it, is skipped',
    ['provider', 'model'],
    () => (breakers === undefined ? [] : breakerSamples(breakers(), (model) => upstreams.has(model))),
  )
  all.observed('gauge', 'svc_build_info', 'Always 1; version of svc and of Bun', ['version', 'bun'], () => [
    { labels: [options.version, Bun.version], value: 1 },
  ])
  const startSeconds = (Date.now() - process.uptime() * 1000) / 1000
  const values: readonly (readonly [
    'counter' | 'gauge',
    name: string,
    help: string,
    value: () => number | undefined,
  ])[] = [
    [
      'counter',
      'svc_log_lines_dropped_total',
      'Log lines lost because they could not be written',
      () => logLinesDropped?.(),
    ],
    [
      'counter',
      'svc_records_dropped_total',
      'Requests missing in these metrics because the primary process did not receive their records',
      () => recordsDropped?.(),
    ],
    [
      'counter',
      'svc_ledger_rows_dropped_total',
      'Requests without a row in requests.db, since it could not be written. Their sums are in svc.db',
      () => ledgerRowsDropped?.(),
    ],
    ['counter', 'svc_spans_dropped_total', 'Spans of requests that could not be exported', () => spansDropped?.()],
    ['gauge', 'svc_workers', 'Worker processes that are ready; 0 without --workers', () => workersReady?.()],
    [
      'counter',
      'svc_worker_restarts_total',
      'Worker processes started to replace one that died',
      () => workerRestarts?.(),
    ],
    ['counter', 'process_cpu_seconds_total', 'CPU time of all processes, in seconds', cpuSeconds],
    ['gauge', 'process_resident_memory_bytes', 'Resident memory of all processes, in bytes', residentBytes],
    ['gauge', 'process_start_time_seconds', 'Start of the process, Unix seconds', () => startSeconds],
  ]
  for (const [kind, name, help, value] of values)
    all.observed(kind, name, help, [], () => [{ labels: [], value: value() ?? 0 }])
}

/**
 * Makes the metrics of a gateway. Only listed models, at most 500, have series of their own, so callers cannot create
 * series.
 */
export function gatewayMetrics(options: GatewayMetricsOptions): GatewayMetrics {
  const all = registry()
  const { requests, attempts, adapted, others, attemptSeconds, times, tokens, cached, costs, unpriced } =
    countersOf(all)
  const streamsOpen = all.gauge('svc_streams_open', 'Streams being sent to clients').with()
  const reloads = all.counter('svc_config_reloads_total', 'Reloads of the configuration: ok or failed', ['result'])
  const reloadCounters = { ok: reloads.with('ok'), failed: reloads.with('failed') }
  const upstreams = new Set<string>()
  observeProcesses(all, options, upstreams)
  const boundModel = boundedLabel(modelsMax)
  const boundProvider = boundedLabel(labelsMax)
  const boundClass = boundedLabel(labelsMax)
  const boundTrait = boundedLabel(labelsMax)
  // By model. Each has few series, so searching them costs less than making a key of their labels.
  const requestSeries = new Map<string, RequestSeries[]>()
  const attemptSeries = new Map<string, AttemptSeries[]>()

  /** The label of a model. Its names become known as labels of breakers, too. */
  function modelOf(listedAs: string | undefined, upstream: string | undefined): string {
    if (listedAs === undefined) return 'other'
    if (upstreams.size < modelsMax) {
      upstreams.add(listedAs)
      if (upstream !== undefined) upstreams.add(upstream)
    }
    return boundModel(listedAs)
  }

  function requestSeriesOf(
    { api, status, error }: Pick<RequestRecord, 'api' | 'status' | 'error'>,
    model: string,
    provider: string | undefined,
  ): RequestSeries {
    const kind = error === undefined ? 'ok' : boundClass(error)
    const ofModel = listOf(requestSeries, model)
    const known = ofModel.find(
      (each) => each.provider === provider && each.status === status && each.kind === kind && each.api === api,
    )
    if (known !== undefined) return known
    const made: RequestSeries = {
      api,
      status,
      kind,
      provider,
      requests: requests.with(model, provider ?? 'none', String(status), kind, api),
      times: times.map(({ isByProvider, all: each }) =>
        isByProvider ? (provider === undefined ? undefined : each.with(provider)) : each.with(),
      ),
      promptTokens: provider === undefined ? undefined : tokens.with(provider, model, 'prompt'),
      completionTokens: provider === undefined ? undefined : tokens.with(provider, model, 'completion'),
      cachedTokens: provider === undefined ? undefined : cached.with(provider, model),
      costs: {},
    }
    ofModel.push(made)
    return made
  }

  function recordAttempt(attempt: RecordedAttempt, model: string): void {
    const provider = boundProvider(attempt.name)
    const outcome = attempt.failure === undefined ? 'ok' : boundClass(attempt.failure)
    const ofModel = listOf(attemptSeries, model)
    let series = ofModel.find((each) => each.provider === provider && each.outcome === outcome)
    if (series === undefined) {
      const counter = attempts.with(provider, model, outcome)
      series = { provider, outcome, attempts: counter, seconds: attemptSeconds.with(provider) }
      ofModel.push(series)
    }
    series.attempts.add()
    for (const trait of attempt.adapted ?? []) adapted.with(provider, model, boundTrait(trait)).add()
    if (attempt.isOtherModel === true) others.with(provider, model).add()
    if (wasSent(attempt)) series.seconds.observe(attempt.ms / 1000)
    if (attempt.tokens?.promptTokens !== undefined)
      tokens.with(provider, model, 'prompt').add(attempt.tokens.promptTokens)
    if (attempt.tokens?.completionTokens !== undefined)
      tokens.with(provider, model, 'completion').add(attempt.tokens.completionTokens)
  }

  function recordCost(
    { api, cost, usage }: RequestRecord,
    model: string,
    { provider, costs: known }: RequestSeries,
  ): void {
    if (provider === undefined) return
    if (cost === undefined) {
      if (!freeApis.has(api)) (known.unknown ??= unpriced.with(provider, model)).add()
      return
    }
    const source = usage?.isEstimated === true ? 'estimated' : cost.source === 'reported' ? 'reported' : 'priced'
    const counter = (known[source] ??= costs.with(provider, model, source))
    counter.add(usdOf(cost.nanoUsd))
  }

  return {
    record(record) {
      const { listedAs, upstream, provider, trail, usage } = record
      const model = provider === undefined && trail.length === 0 ? 'unknown' : modelOf(listedAs, upstream)
      const series = requestSeriesOf(record, model, provider === undefined ? undefined : boundProvider(provider))
      series.requests.add()
      for (const [index, { of }] of times.entries()) observe(series.times[index], of(record))
      if (usage !== undefined && usage.isEstimated !== true) addTokens(series, usage)
      recordCost(record, model, series)
      for (const attempt of trail) recordAttempt(attempt, model)
    },
    streamsOpen,
    reloaded(result) {
      reloadCounters[result].add()
    },
    text: all.text,
    read: all.read,
    metrics: all.metrics,
  }
}

/** Counts that are not known are ignored. */
function addTokens(
  { promptTokens, completionTokens, cachedTokens }: RequestSeries,
  { promptTokens: prompt = NaN, completionTokens: completion = NaN, cachedTokens: cached = NaN }: Usage,
): void {
  promptTokens?.add(prompt)
  completionTokens?.add(completion)
  cachedTokens?.add(cached)
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
