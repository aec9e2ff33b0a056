import { boundedLabel, registry } from './metrics.ts'
import type { Counter, Gauge, Histogram, MetricDescription } from './metrics.ts'
import type { RecordedAttempt, RequestRecord } from './record.ts'

/** A circuit breaker's state. */
export interface BreakerState {
  readonly provider: string
  /** The upstream's name; empty when the whole provider is meant. */
  readonly model: string
  readonly isOpen: boolean
}

/** Where values come from that live elsewhere. They are read when the metrics are. */
export interface GatewayMetricsOptions {
  readonly version: string
  breakers?(): Iterable<BreakerState>
  logLinesDropped?(): number
  /** Requests that a worker could not tell the primary process of. */
  recordsDropped?(): number
  /** Bytes of all processes together. Default: of this one. */
  residentBytes?(): number
  /** Worker processes that are ready. */
  workersReady?(): number
  /** Worker processes started in the place of one that died. */
  workerRestarts?(): number
}

/** The metrics of docs/observability.md. */
export interface GatewayMetrics {
  /** Counts one request that has ended. Costs less than a microsecond. */
  record(record: RequestRecord): void
  /** Streams being sent to clients now: add 1 when one begins, -1 when it ends. */
  readonly streamsOpen: Gauge
  /** Counts a reload of the configuration. */
  reloaded(result: 'ok' | 'failed'): void
  /** Prometheus text format 0.0.4. */
  text(): string
  readonly metrics: readonly MetricDescription[]
}

const modelsMost = 500
const wordsMost = 200

/** Seconds: from a fast local model to the 600 s a request may take. */
const secondsBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]

interface RequestSeries {
  readonly requests: Counter
  readonly firstToken: Histogram | undefined
  readonly promptTokens: Counter | undefined
  readonly completionTokens: Counter | undefined
}

interface AttemptSeries {
  readonly attempts: Counter
  readonly seconds: Histogram
}

/**
 * The metrics of a gateway. At most 500 names of models are told apart, and those only that a provider was asked for: a
 * caller cannot make series up.
 */
export function gatewayMetrics(options: GatewayMetricsOptions): GatewayMetrics {
  const all = registry()
  const requests = all.counter(
    'svc_requests_total',
    'Chat requests that have ended, by who served them, the status the caller saw and the error code (ok without one)',
    ['model', 'provider', 'status', 'class'],
  )
  const seconds = all
    .histogram('svc_request_seconds', 'Whole time of a chat request, streams to their end', [], secondsBounds)
    .with()
  const attempts = all.counter(
    'svc_attempts_total',
    'Attempts at providers, by what came of them: ok or a class of failure',
    ['provider', 'model', 'outcome'],
  )
  const attemptSeconds = all.histogram(
    'svc_attempt_seconds',
    'Time from the start of an attempt to its outcome, a stream to its first meaningful event',
    ['provider'],
    secondsBounds,
  )
  const firstTokens = all.histogram(
    'svc_first_token_seconds',
    'Time from a request to the first meaningful event of its stream, failed attempts included',
    ['provider'],
    secondsBounds,
  )
  const tokens = all.counter('svc_tokens_total', 'Tokens as reported by providers: prompt or completion', [
    'provider',
    'model',
    'kind',
  ])
  const streamsOpen = all.gauge('svc_streams_open', 'Streams being sent to clients now').with()
  const {
    breakers,
    logLinesDropped,
    recordsDropped,
    residentBytes = () => process.memoryUsage.rss(),
    workersReady,
    workerRestarts,
  } = options
  all.observed(
    'gauge',
    'svc_breaker_open',
    'Whether the circuit breaker is open (1): the provider, or one model of it, is skipped',
    ['provider', 'model'],
    () =>
      breakers === undefined
        ? []
        : Array.from(breakers(), ({ provider, model, isOpen }) => ({
            labels: [provider, model],
            value: isOpen ? 1 : 0,
          })),
  )
  const reloads = all.counter('svc_config_reloads_total', 'Reloads of the configuration: ok or failed', ['result'])
  const reloadCounters = { ok: reloads.with('ok'), failed: reloads.with('failed') }
  all.observed('counter', 'svc_log_lines_dropped_total', 'Log lines lost because nobody took them', [], () => [
    { labels: [], value: logLinesDropped?.() ?? 0 },
  ])
  all.observed(
    'counter',
    'svc_records_dropped_total',
    'Requests of workers that are not in these metrics because the primary process did not take their records',
    [],
    () => [{ labels: [], value: recordsDropped?.() ?? 0 }],
  )
  all.observed('gauge', 'svc_workers', 'Worker processes that are ready; 0 without --workers', [], () => [
    { labels: [], value: workersReady?.() ?? 0 },
  ])
  all.observed(
    'counter',
    'svc_worker_restarts_total',
    'Worker processes started in the place of one that died',
    [],
    () => [{ labels: [], value: workerRestarts?.() ?? 0 }],
  )
  all.observed('gauge', 'svc_build_info', 'Always 1; version of svc and of Bun', ['version', 'bun'], () => [
    { labels: [options.version, Bun.version], value: 1 },
  ])
  all.observed(
    'gauge',
    'process_resident_memory_bytes',
    'Resident memory in bytes, of all processes together',
    [],
    () => [{ labels: [], value: residentBytes() }],
  )
  const startSeconds = (Date.now() - process.uptime() * 1000) / 1000
  all.observed('gauge', 'process_start_time_seconds', 'Start of the process, Unix seconds', [], () => [
    { labels: [], value: startSeconds },
  ])

  const boundModel = boundedLabel(modelsMost)
  const boundProvider = boundedLabel(wordsMost)
  const boundClass = boundedLabel(wordsMost)
  const requestSeries = new Map<string, RequestSeries>()
  const attemptSeries = new Map<string, AttemptSeries>()

  function requestSeriesOf(
    model: string,
    provider: string | undefined,
    status: number,
    error: string | undefined,
  ): RequestSeries {
    const kind = error === undefined ? 'ok' : boundClass(error)
    const key = `${status}\n${kind}\n${provider ?? ''}\n${model}`
    const known = requestSeries.get(key)
    if (known !== undefined) return known
    const made: RequestSeries = {
      requests: requests.with(model, provider ?? 'none', String(status), kind),
      firstToken: provider === undefined ? undefined : firstTokens.with(provider),
      promptTokens: provider === undefined ? undefined : tokens.with(provider, model, 'prompt'),
      completionTokens: provider === undefined ? undefined : tokens.with(provider, model, 'completion'),
    }
    requestSeries.set(key, made)
    return made
  }

  function recordAttempt(attempt: RecordedAttempt, model: string): void {
    const provider = boundProvider(attempt.name)
    const outcome = attempt.failure === undefined ? 'ok' : boundClass(attempt.failure)
    const key = `${outcome}\n${provider}\n${model}`
    let series = attemptSeries.get(key)
    if (series === undefined) {
      series = { attempts: attempts.with(provider, model, outcome), seconds: attemptSeconds.with(provider) }
      attemptSeries.set(key, series)
    }
    series.attempts.add()
    series.seconds.observe(attempt.ms / 1000)
    if (attempt.tokens?.promptTokens !== undefined)
      tokens.with(provider, model, 'prompt').add(attempt.tokens.promptTokens)
    if (attempt.tokens?.completionTokens !== undefined)
      tokens.with(provider, model, 'completion').add(attempt.tokens.completionTokens)
  }

  return {
    record({ model: asked, provider, status, error, trail, firstTokenMs, totalMs, usage }) {
      const model = provider === undefined && trail.length === 0 ? 'unknown' : boundModel(asked)
      const series = requestSeriesOf(model, provider === undefined ? undefined : boundProvider(provider), status, error)
      series.requests.add()
      seconds.observe(totalMs / 1000)
      if (firstTokenMs !== undefined) series.firstToken?.observe(firstTokenMs / 1000)
      if (usage?.promptTokens !== undefined) series.promptTokens?.add(usage.promptTokens)
      if (usage?.completionTokens !== undefined) series.completionTokens?.add(usage.completionTokens)
      for (const attempt of trail) recordAttempt(attempt, model)
    },
    streamsOpen,
    reloaded(result) {
      reloadCounters[result].add()
    },
    text: all.text,
    metrics: all.metrics,
  }
}
