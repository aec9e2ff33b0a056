import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Post } from '../observe/deliver.ts'
import type { Logger } from '../observe/log.ts'
import { Exporter } from '../observe/otlp/exporter.ts'
import type { SignalSettings, TelemetrySettings } from '../observe/otlp/settings.ts'
import type { RequestRecord } from '../observe/record.ts'
import type { MetricValues } from '../observe/registry.ts'
import { headerBlock } from '../transport/header-block.ts'
import { httpClient } from '../transport/http-client.ts'
import type { Transport } from '../transport/transport.ts'
import { httpPost } from './http-post.ts'
import { packageVersion } from './package.ts'

const compress = promisify(gzip)
/** Spans are repetitive: the fastest level makes them a quarter of their size. */
const fastest = { level: 1 }

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
    signal && collectorAt(signal, transport, environment)
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
  environment: TelemetryOptions['environment'],
): Post {
  const post = httpPost({ url, owner: 'telemetry', transport, environment, timeoutMs })
  const block = headerBlock({
    ...headers,
    'content-type': 'application/x-protobuf',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  })
  return async (body) => post(block, isCompressed ? [await compress(Buffer.concat(body), fastest)] : body)
}
