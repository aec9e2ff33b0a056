import { withinMs } from '../../service/within.ts'
import type { RequestRecord } from '../record.ts'
import type { MetricValues } from '../registry.ts'
import { RandomIds } from '../trace.ts'
import { attributeWriter } from './attributes.ts'
import { deliver, type Post } from './deliver.ts'
import { InferenceMetrics } from './inference-metrics.ts'
import { writeMetrics } from './metrics.ts'
import { ProtobufWriter } from './protobuf.ts'
import type { TelemetrySettings } from './settings.ts'
import { isTraced, writeSpans } from './spans.ts'

/*
 * OTLP over HTTP, in Protocol Buffers (docs/decisions/0034-telemetry.md). The spans of a request are written into one
 * buffer when its record is made (`spans.ts`), by the table of facts of `../record.ts`; so no record waits. The buffer
 * is sent every 5 s, or at 512 spans (`deliver.ts`). While it is full, spans are dropped and counted. Metrics are those
 * of `/metrics` and those of the conventions (`inference-metrics.ts`), sent every 60 s.
 */

/** Bytes of spans that wait at most. */
const bufferBytesMax = 16 * 1024 * 1024
/** Between two lines of the log about what was lost. */
const logMs = 60_000
/** Time for the last messages. */
const closeMs = 3_000

/** Fields of the messages of a collector, ResourceSpans and ResourceMetrics, Resource and InstrumentationScope. */
const all = 1,
  resource = 1,
  scoped = 2,
  attributes = 1,
  scope = 1,
  scopeName = 1,
  scopeVersion = 2

export interface ExporterOptions {
  readonly settings: TelemetrySettings
  readonly posts: { readonly traces?: Post | undefined; readonly metrics?: Post | undefined }
  readonly version: string
  /** The metrics of `/metrics`. */
  readonly metrics: () => readonly MetricValues[]
  /** What was lost, at most once a minute. */
  readonly warn: (message: string, fields: Readonly<Record<string, string | number>>) => void
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Exports spans and metrics of requests. Nothing here waits for a collector, or throws. */
export class Exporter {
  readonly #options: ExporterOptions
  readonly #ids = new RandomIds()
  readonly #spans = new ProtobufWriter()
  readonly #inferences = new InferenceMetrics()
  readonly #startMs: number
  readonly #ending = new AbortController()
  readonly #metricsTimer: ReturnType<typeof setInterval> | undefined
  #spansTimer: ReturnType<typeof setTimeout> | undefined
  #waitingSpans = 0
  #sendingSpans: Promise<void> | undefined
  #sendingMetrics: Promise<void> | undefined
  #dropped = 0
  #unlogged = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#startMs = options.now()
    const { posts, settings } = options
    if (posts.metrics !== undefined)
      this.#metricsTimer = setInterval(() => this.#exportMetrics(), settings.metricsMs).unref()
  }

  /** Spans that were lost. */
  get dropped(): number {
    return this.#dropped
  }

  /** Writes the spans of a request that has ended, and counts it. */
  readonly record = (record: RequestRecord): void => {
    const { posts } = this.#options
    const { length } = this.#spans
    try {
      if (posts.metrics !== undefined) this.#inferences.add(record)
      if (posts.traces !== undefined && isTraced(record)) this.#addSpans(record)
    } catch (error) {
      // A fault here must not become one of the request.
      this.#spans.truncate(length)
      this.#lose(1, error instanceof Error ? error.message : 'internal error')
    }
  }

  /** Sends what waits, for at most 3 s. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#metricsTimer)
    clearTimeout(this.#spansTimer)
    this.#ending.abort()
    await withinMs(this.#flush(), closeMs)
    if (this.#unlogged > 0) this.#log('the service ends')
  }

  async #flush(): Promise<void> {
    await Promise.all([this.#sendingSpans, this.#sendingMetrics])
    this.#exportSpans()
    this.#exportMetrics()
    await Promise.all([this.#sendingSpans, this.#sendingMetrics])
  }

  #addSpans(record: Parameters<typeof writeSpans>[1]): void {
    const { spansMax, spansMs, batchSpans } = this.#options.settings
    if (this.#waitingSpans >= spansMax || this.#spans.length >= bufferBytesMax) {
      this.#lose(record.trail.length + 2, 'too many wait')
      return
    }
    this.#waitingSpans += writeSpans(this.#spans, record, this.#ids)
    if (this.#sendingSpans !== undefined) return
    if (this.#waitingSpans >= batchSpans) this.#exportSpans()
    else this.#spansTimer ??= setTimeout(() => this.#exportSpans(), spansMs).unref()
  }

  #exportSpans(): void {
    clearTimeout(this.#spansTimer)
    this.#spansTimer = undefined
    const { posts, settings } = this.#options
    const count = this.#waitingSpans
    if (count === 0 || posts.traces === undefined) return
    this.#waitingSpans = 0
    this.#sendingSpans = this.#send(posts.traces, this.#spans.take(), count).then(() => {
      this.#sendingSpans = undefined
      if (this.#waitingSpans >= settings.batchSpans) this.#exportSpans()
      else if (this.#waitingSpans > 0)
        this.#spansTimer ??= setTimeout(() => this.#exportSpans(), settings.spansMs).unref()
    })
  }

  #exportMetrics(): void {
    const { posts, metrics, now } = this.#options
    if (posts.metrics === undefined || this.#sendingMetrics !== undefined) return
    const out = new ProtobufWriter()
    writeMetrics(out, [...metrics(), ...this.#inferences.read()], { startMs: this.#startMs, nowMs: now() })
    // Values are cumulative: a message that is lost loses nothing but its moment.
    this.#sendingMetrics = this.#send(posts.metrics, out.take(), 0).then(() => {
      this.#sendingMetrics = undefined
    })
  }

  /** @param count of the spans in the message */
  async #send(post: Post, written: Uint8Array, count: number): Promise<void> {
    const { refused, reason = '' } = await deliver(this.#message(written), {
      post,
      ending: this.#ending.signal,
      wait: (ms) => sleepUntil(ms, this.#ending.signal),
    })
    if (refused === undefined) this.#lose(count, reason)
    else if (refused > 0) this.#lose(Math.min(refused, count), reason)
  }

  /** The message around what was written: of one resource, and one scope. */
  #message(written: Uint8Array): readonly Uint8Array[] {
    const { settings, version } = this.#options
    const head = new ProtobufWriter(1024)
    const named = head.begin(scope)
    head.text(scopeName, 'svc')
    head.text(scopeVersion, version)
    head.end(named)
    const scopeBytes = head.take()
    const described = head.begin(resource)
    for (const [name, value] of settings.resource) attributeWriter(name, 'text')(head, attributes, value)
    head.end(described)
    head.header(scoped, scopeBytes.length + written.length)
    const inner = head.take()
    head.header(all, inner.length + scopeBytes.length + written.length)
    return [head.take(), inner, scopeBytes, written]
  }

  #lose(spans: number, reason: string): void {
    this.#dropped += spans
    this.#unlogged += spans
    if (performance.now() - this.#loggedAt >= logMs) this.#log(reason)
  }

  #log(reason: string): void {
    this.#loggedAt = performance.now()
    this.#options.warn('telemetry was lost', { spans: this.#unlogged, reason })
    this.#unlogged = 0
  }
}

/** Resolves after this time, or when the signal aborts. */
function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms)
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
