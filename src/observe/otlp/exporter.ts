import { withinMs } from '../../service/within.ts'
import { deliver, Losses, type Post } from '../deliver.ts'
import type { RequestRecord } from '../record.ts'
import type { MetricValues } from '../registry.ts'
import { RandomIds } from '../trace.ts'
import { attributeWriter } from './attributes.ts'
import { InferenceMetrics } from './inference-metrics.ts'
import { writeMetrics } from './metrics.ts'
import { ProtobufWriter, readProtobuf } from './protobuf.ts'
import type { TelemetrySettings } from './settings.ts'
import { isTraced, writeSpans } from './spans.ts'

/*
 * OTLP over HTTP, in Protocol Buffers (docs/decisions/0034-telemetry.md). The spans of a request are written into one
 * buffer when its record is made (`spans.ts`), by the table of facts of `../record.ts`; so no record waits. The buffer
 * is sent every 5 s, or at 512 spans (`../deliver.ts`). While it is full, spans are dropped and counted. Metrics are
 * those of `/metrics` and of the conventions (`inference-metrics.ts`), sent every 60 s.
 */

/** Bytes of spans that wait at most. */
const bufferBytesMax = 16 * 1024 * 1024
/** Time for the last messages. */
const closeMs = 3_000
/** Statuses after which a message is sent again (OTLP, "Failures"). */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504])

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
  readonly #losses: Losses

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#losses = new Losses((spans, reason) => options.warn('telemetry was lost', { spans, reason }))
    this.#startMs = options.now()
    const { posts, settings } = options
    if (posts.metrics !== undefined)
      this.#metricsTimer = setInterval(() => this.#exportMetrics(), settings.metricsMs).unref()
  }

  /** Spans that were lost. */
  get dropped(): number {
    return this.#losses.total
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
      this.#losses.add(1, error instanceof Error ? error.message : 'internal error')
    }
  }

  /** Sends what waits, for at most 3 s. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#metricsTimer)
    clearTimeout(this.#spansTimer)
    this.#ending.abort()
    await withinMs(this.#flush(), closeMs)
    this.#losses.flush('the service ends')
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
      this.#losses.add(record.trail.length + 2, 'too many wait')
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
    const { taken, reason = refusedInPart } = await deliver(this.#message(written), {
      post,
      isTransient: (status) => transient.has(status),
      ending: this.#ending.signal,
    })
    const lost = taken === undefined ? count : Math.min(refusedSpans(taken.body), count)
    if (lost > 0) this.#losses.add(lost, reason)
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
}

const refusedInPart = 'refused by the collector'

/** Reads the partial success of an answer: the spans of a taken message that are refused. They are not sent again. */
function refusedSpans(body: Uint8Array | undefined): number {
  for (const { value } of fieldsOf(body, 1))
    for (const { value: count } of value instanceof Uint8Array ? fieldsOf(value, 1) : [])
      if (typeof count === 'number' && count > 0) return count
  return 0
}

function fieldsOf(bytes: Uint8Array | undefined, wanted: number) {
  return bytes === undefined ? [] : [...readProtobuf(bytes)].filter(({ field }) => field === wanted)
}
