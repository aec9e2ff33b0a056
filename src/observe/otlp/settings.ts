import type { Sampler } from '../trace.ts'

/*
 * The settings of the exporter are the variables that programs with OpenTelemetry share
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). A faulty one is named at the
 * start and counts as not set, since telemetry must not keep a service from starting.
 */

type Environment = Readonly<Record<string, string | undefined>>

/** Where a signal goes. */
export interface SignalSettings {
  readonly url: URL
  /** Names in lower case. May hold secrets. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly isCompressed: boolean
}

export interface TelemetrySettings {
  /** Absent: not exported. */
  readonly traces?: SignalSettings | undefined
  readonly metrics?: SignalSettings | undefined
  readonly sampler: Sampler
  readonly resource: ReadonlyMap<string, string>
  /** Milliseconds between two exports of metrics. */
  readonly metricsMs: number
  /** Most milliseconds that spans wait. */
  readonly spansMs: number
  /** Most spans that wait; further ones are dropped. */
  readonly spansMax: number
  /** Spans that are sent at once. */
  readonly batchSpans: number
  /** Names of faulty variables, and what is allowed. */
  readonly faults: readonly string[]
}

type Signal = 'traces' | 'metrics'

const wholePattern = /^\d{1,9}$/
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const headerValue = /^[\x20-\x7e]*$/
/** Headers that the exporter sets. */
const ownHeaders: ReadonlySet<string> = new Set(['content-type', 'content-encoding', 'content-length', 'host'])
const resourceMax = 64

/** Reads the settings of the environment. @param version of this service */
export function readTelemetrySettings(environment: Environment, version: string): TelemetrySettings {
  const reader = new SettingsReader(environment)
  const traces = reader.signal('traces')
  const metrics = reader.signal('metrics')
  return {
    traces,
    metrics,
    sampler: reader.sampler(),
    resource: reader.resource(version),
    metricsMs: reader.whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 100),
    spansMs: reader.whole('OTEL_BSP_SCHEDULE_DELAY', 5_000, 10),
    spansMax: reader.whole('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1),
    batchSpans: reader.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1),
    faults: reader.faults,
  }
}

class SettingsReader {
  readonly faults: string[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** A value that is not empty. */
  #text(name: string): string | undefined {
    return this.#environment[name]?.trim() || undefined
  }

  /** The variable of the signal, else that of all signals. */
  #ofSignal(signal: Signal, what: string): { readonly name: string; readonly text: string | undefined } {
    const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${what}`
    const text = this.#text(own)
    const name = text === undefined ? `OTEL_EXPORTER_OTLP_${what}` : own
    return { name, text: text ?? this.#text(name) }
  }

  #fault(name: string, allowed: string): undefined {
    const fault = `${name}: allowed: ${allowed}`
    if (!this.faults.includes(fault)) this.faults.push(fault)
    return undefined
  }

  whole(name: string, fallback: number, min: number): number {
    const text = this.#text(name)
    if (text === undefined) return fallback
    if (wholePattern.test(text) && Number(text) >= min) return Number(text)
    this.#fault(name, `a whole number from ${min}`)
    return fallback
  }

  signal(signal: Signal): SignalSettings | undefined {
    const exporter = this.#text(`OTEL_${signal.toUpperCase()}_EXPORTER`) ?? 'otlp'
    if (exporter !== 'otlp' && exporter !== 'none') this.#fault(`OTEL_${signal.toUpperCase()}_EXPORTER`, 'otlp or none')
    const url = this.#url(signal)
    if (url === undefined || exporter === 'none') return undefined
    const protocol = this.#ofSignal(signal, 'PROTOCOL')
    if (protocol.text !== undefined && protocol.text !== 'http/protobuf')
      this.#fault(protocol.name, 'http/protobuf, which is sent in any case')
    const compression = this.#ofSignal(signal, 'COMPRESSION')
    if (![undefined, 'gzip', 'none'].includes(compression.text)) this.#fault(compression.name, 'gzip or none')
    const timeout = this.#ofSignal(signal, 'TIMEOUT')
    return {
      url,
      headers: this.#headers(signal),
      timeoutMs: this.whole(timeout.name, 10_000, 1),
      isCompressed: compression.text === 'gzip',
    }
  }

  #url(signal: Signal): URL | undefined {
    const { name, text } = this.#ofSignal(signal, 'ENDPOINT')
    if (text === undefined) return undefined
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
      return this.#fault(name, 'an http or https URL without a password, such as http://127.0.0.1:4318')
    url.hash = ''
    if (name === 'OTEL_EXPORTER_OTLP_ENDPOINT') url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal}`
    return url
  }

  #headers(signal: Signal): Readonly<Record<string, string>> {
    const { name, text } = this.#ofSignal(signal, 'HEADERS')
    const headers: Record<string, string> = {}
    for (const [key, value] of this.#pairs(name, text)) {
      const lowered = key.toLowerCase()
      if (!headerName.test(key) || !headerValue.test(value) || ownHeaders.has(lowered))
        this.#fault(name, 'headers such as authorization=Basic%20…, separated by commas (not shown)')
      else headers[lowered] = value
    }
    return headers
  }

  /** `a=b,c=d`, with percent signs in values decoded. */
  #pairs(name: string, text = ''): readonly (readonly [string, string])[] {
    return text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=')
      if (pair.trim() === '') return []
      try {
        if (at > 0) return [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const]
      } catch {
        // A percent sign that encodes nothing.
      }
      this.#fault(name, 'pairs such as name=value, separated by commas (not shown)')
      return []
    })
  }

  sampler(): Sampler {
    const name = this.#text('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on'
    const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
    if (kind === undefined) this.#fault('OTEL_TRACES_SAMPLER', '[parentbased_]always_on, always_off or traceidratio')
    const followsCaller = kind === undefined || parentBased !== undefined
    return { followsCaller, share: kind === 'always_off' ? 0 : kind === 'traceidratio' ? this.#share() : 1 }
  }

  #share(): number {
    const text = this.#text('OTEL_TRACES_SAMPLER_ARG')
    const share = Number(text ?? 1)
    if (share >= 0 && share <= 1) return share
    this.#fault('OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1')
    return 1
  }

  resource(version: string): ReadonlyMap<string, string> {
    const name = 'OTEL_RESOURCE_ATTRIBUTES'
    const given = this.#pairs(name, this.#text(name)).slice(0, resourceMax)
    const service = this.#text('OTEL_SERVICE_NAME')
    return new Map([
      ['service.name', 'svc'],
      ['service.version', version],
      ['service.instance.id', crypto.randomUUID()],
      ['telemetry.sdk.name', 'svc'],
      ['telemetry.sdk.language', 'nodejs'],
      ['telemetry.sdk.version', version],
      ...given,
      ...(service === undefined ? [] : [['service.name', service] as const]),
    ])
  }
}
