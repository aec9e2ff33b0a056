import { gunzipSync } from 'node:zlib'
import { isRecord } from '../../src/base/json-value.ts'
import { decodeOtlp, type OtlpMessage, type OtlpSignal } from './otlp-decoder.ts'

/** A message that a collector got. */
export interface CollectedMessage {
  readonly signal: OtlpSignal
  readonly headers: Headers
  /** Uncompressed. */
  readonly bytes: Uint8Array
  readonly message: OtlpMessage
}

/** A span, with its attributes by their names. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[]
  readonly code: number
  readonly flags: number
}

/** Answers a request. Absent: 200. */
export type CollectorAnswer = (message: CollectedMessage, count: number) => Response | Promise<Response>

/** A collector of OTLP over HTTP that checks what it gets. `await using` stops it. */
export interface Collector extends AsyncDisposable {
  readonly url: string
  readonly messages: readonly CollectedMessage[]
  /** Faults of messages. */
  readonly faults: readonly string[]
  spans(): readonly CollectedSpan[]
  /** Data points of a metric in the last message that has it. */
  points(metric: string): readonly Readonly<Record<string, unknown>>[]
  /** Waits until this holds. @throws after 10 s */
  until(condition: () => boolean): Promise<void>
}

const paths: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/v1/traces', 'traces'],
  ['/v1/metrics', 'metrics'],
])

/** Starts a collector on a free port. */
export function startCollector(answer: CollectorAnswer = () => taken()): Collector {
  const messages: CollectedMessage[] = []
  const faults: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 255,
    async fetch(request) {
      const signal = paths.get(new URL(request.url).pathname)
      const body = new Uint8Array(await request.arrayBuffer())
      const { headers, method } = request
      if (signal === undefined || method !== 'POST' || headers.get('content-type') !== 'application/x-protobuf') {
        faults.push(`${method} ${request.url} ${headers.get('content-type') ?? ''}`)
        return new Response(null, { status: 400 })
      }
      try {
        const bytes = headers.get('content-encoding') === 'gzip' ? new Uint8Array(gunzipSync(body)) : body
        const message = { signal, headers, bytes, message: decodeOtlp(signal, bytes) }
        messages.push(message)
        const count = messages.filter((each) => each.signal === signal).length
        return await answer(message, count)
      } catch (error) {
        faults.push(String(error))
        return new Response(null, { status: 400 })
      }
    },
  })
  const collector: Collector = {
    url: `http://127.0.0.1:${server.port}`,
    messages,
    get faults() {
      return [...faults, ...messages.flatMap(faultsOf)]
    },
    spans: () => messages.flatMap(({ message }) => spansOf(message)),
    points(metric) {
      const found = messages.flatMap(({ message }) => metricsOf(message)).findLast(({ name }) => name === metric)
      const data = found?.['sum'] ?? found?.['gauge'] ?? found?.['histogram']
      return listAt(data, 'dataPoints').map((point) => ({ ...point, attributes: attributesOf(point) }))
    },
    async until(condition) {
      for (const end = performance.now() + 10_000; !condition(); await Bun.sleep(10))
        if (performance.now() > end) throw new Error(`not in time: ${messages.length} messages, ${faults.join()}`)
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
  return collector
}

/** The answer to a message that was taken whole. */
export function taken(): Response {
  return new Response(null, { headers: { 'content-type': 'application/x-protobuf' } })
}

function listAt(value: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isRecord(value) ? value[name] : undefined
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function metricsOf(message: OtlpMessage): readonly Readonly<Record<string, unknown>>[] {
  return listAt(message, 'resourceMetrics')
    .flatMap((each) => listAt(each, 'scopeMetrics'))
    .flatMap((each) => listAt(each, 'metrics'))
}

function attributesOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(listAt(value, 'attributes').map(({ key, value: inner }) => [String(key), plain(inner)]))
}

function plain(any: unknown): unknown {
  if (!isRecord(any)) return undefined
  const { arrayValue, ...others } = any
  return arrayValue === undefined ? Object.values(others)[0] : listAt(arrayValue, 'values').map(plain)
}

/** The resource of each message, for its attributes. */
export function resourceOf({ message }: CollectedMessage): Readonly<Record<string, unknown>> {
  const [first] = [...listAt(message, 'resourceSpans'), ...listAt(message, 'resourceMetrics')]
  return attributesOf(first?.['resource'])
}

function spansOf(message: OtlpMessage): readonly CollectedSpan[] {
  return listAt(message, 'resourceSpans')
    .flatMap((each) => listAt(each, 'scopeSpans'))
    .flatMap((each) => listAt(each, 'spans'))
    .map((span) => {
      const { traceId, spanId, parentSpanId, traceState, name, kind, flags, status } = span
      return {
        ...{ traceId: String(traceId), spanId: String(spanId), name: String(name), kind: Number(kind) },
        ...(parentSpanId === undefined ? {} : { parentSpanId: String(parentSpanId) }),
        ...(traceState === undefined ? {} : { traceState: String(traceState) }),
        start: BigInt(String(span['startTimeUnixNano'] ?? 0)),
        end: BigInt(String(span['endTimeUnixNano'] ?? 0)),
        attributes: attributesOf(span),
        events: listAt(span, 'events').map((event) => ({
          name: String(event['name']),
          attributes: attributesOf(event),
        })),
        code: isRecord(status) ? Number(status['code']) : 0,
        flags: Number(flags),
      }
    })
}

/** What a strict collector objects to in a message: ids, times, and parents that are in none of its spans. */
function faultsOf({ message }: CollectedMessage): readonly string[] {
  const spans = spansOf(message)
  const known = new Map(spans.map((span) => [`${span.traceId} ${span.spanId}`, span]))
  return spans.flatMap((span) => {
    const { traceId, spanId, parentSpanId, name, kind, start, end } = span
    const parent = known.get(`${traceId} ${parentSpanId}`)
    const isServer = kind === 2
    const faults = {
      'trace id': !/^[0-9a-f]{32}$/.test(traceId) || /^0+$/.test(traceId),
      'span id': !/^[0-9a-f]{16}$/.test(spanId) || /^0+$/.test(spanId),
      kind: kind !== 2 && kind !== 3,
      name: name === '',
      times: start === 0n || end < start,
      parent: !isServer && parent === undefined,
      'times within the parent': parent !== undefined && (start < parent.start || end > parent.end),
    }
    return Object.entries(faults).flatMap(([what, isFaulty]) => (isFaulty ? [`${name}: ${what}`] : []))
  })
}
