import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { usualProxy } from '../config/file/resolve-proxy.ts'
import type { Logger } from '../observe/log.ts'
import type { CollectorAnswer, Post } from '../observe/otlp/deliver.ts'
import { Exporter } from '../observe/otlp/exporter.ts'
import type { SignalSettings, TelemetrySettings } from '../observe/otlp/settings.ts'
import type { RequestRecord } from '../observe/record.ts'
import type { MetricValues } from '../observe/registry.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import { httpClient } from '../transport/http-client.ts'
import type { HttpProxy, Transport } from '../transport/transport.ts'
import { namedWait } from '../upstream/retry-after.ts'
import { packageVersion } from './package.ts'

const connectMs = 5_000
const answerBytesMax = 64 * 1024
const compress = promisify(gzip)
/** Spans are repetitive: the fastest level makes them a quarter of their size. */
const fastest = { level: 1 }
const none: ReadonlyMap<string, string> = new Map()

export interface TelemetryOptions {
  readonly settings: TelemetrySettings
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Pick<Logger, 'warn'>
}

/** The exporter of this process, with its connections. */
export interface Telemetry {
  readonly record: (record: RequestRecord) => void
  readonly dropped: () => number
  /** Begins to export. @param metrics those of `/metrics` */
  start(metrics: () => readonly MetricValues[]): void
  close(): Promise<void>
}

/** Makes the exporter. @throws {Error} if a variable with a proxy has no usable address */
export function startTelemetry({ settings, environment, log }: TelemetryOptions): Telemetry {
  const transport = httpClient()
  const postTo = (signal: SignalSettings | undefined): Post | undefined =>
    signal && collectorAt(signal, transport, usualProxy(signal.url, environment))
  const posts = { traces: postTo(settings.traces), metrics: postTo(settings.metrics) }
  const version = packageVersion()
  let exporter: Exporter | undefined
  return {
    record: (record) => exporter?.record(record),
    dropped: () => exporter?.dropped ?? 0,
    start(metrics) {
      exporter ??= new Exporter({ settings, posts, version, metrics, warn: log.warn, now: Date.now })
    },
    async close() {
      await exporter?.close()
      transport.close()
    },
  }
}

/** Sends messages of a signal to its collector. */
function collectorAt(
  { url, headers, timeoutMs, isCompressed }: SignalSettings,
  transport: Transport,
  { proxy }: { readonly proxy?: HttpProxy },
): Post {
  const origin = { ...parseOrigin(url), owner: 'telemetry', ...(proxy && { proxy }) }
  const block = headerBlock({
    ...headers,
    'content-type': 'application/x-protobuf',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  })
  return async (body) => {
    const sent = isCompressed ? [await compress(Buffer.concat(body), fastest)] : body
    const request = {
      ...({ origin, method: 'POST', path: `${url.pathname}${url.search}`, headers: block, body: sent } as const),
      ...{ connectMs, bodyBytesMax: Number.POSITIVE_INFINITY },
    }
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await transport.request(request, signal)
    const { status } = response
    const waitMs = namedWait({ headers: response.headers, members: none, texts: [] }, Date.now())
    return { status, waitMs, body: await bodyOf(response.body, signal) }
  }
}

/** The body of an answer, if it is short and arrives in time: its status says enough. */
async function bodyOf(
  body: Awaited<ReturnType<Transport['request']>>['body'],
  signal: AbortSignal,
): Promise<CollectorAnswer['body']> {
  const cancel = (): void => body.cancel()
  let remaining = answerBytesMax
  const reservation = { reserve: (bytes: number) => (remaining -= bytes) >= 0 }
  signal.addEventListener('abort', cancel)
  try {
    return await body.readAll(reservation)
  } catch {
    return undefined
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
