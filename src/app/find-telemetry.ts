import type { Config } from '../config/config.ts'
import { errorFields, type Logger } from '../observe/log.ts'
import type { TelemetrySettings } from '../observe/otlp/settings.ts'
import { Traces, type Tracer } from '../observe/trace.ts'
import { packageVersion } from './package.ts'
import type { Telemetry } from './telemetry.ts'

type Environment = Readonly<Record<string, string | undefined>>

const endpoints = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
]

/**
 * The settings of telemetry; `undefined` without an endpoint. Nothing of it is loaded then.
 *
 * @param warn names faulty variables
 */
async function findSettings(
  environment: Environment,
  warn: Logger['warn'] = () => undefined,
): Promise<TelemetrySettings | undefined> {
  const isDisabled = environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true'
  if (isDisabled || endpoints.every((name) => !environment[name])) return undefined
  const { readTelemetrySettings } = await import('../observe/otlp/settings.ts')
  const settings = readTelemetrySettings(environment, packageVersion())
  for (const fault of settings.faults) warn('a variable of telemetry is not used', { variable: fault })
  return settings.traces === undefined && settings.metrics === undefined ? undefined : settings
}

/** The exporter; `undefined` without an endpoint. */
export async function findTelemetry(
  environment: Environment,
  log: Pick<Logger, 'warn'>,
): Promise<Telemetry | undefined> {
  const settings = await findSettings(environment, log.warn)
  if (settings === undefined) return undefined
  const { startTelemetry } = await import('./telemetry.ts')
  try {
    return startTelemetry({ settings, environment, log })
  } catch (error) {
    log.warn('nothing is exported', errorFields(error))
    return undefined
  }
}

/** Traces requests for the exporter; `undefined` without one. */
export async function findTracer(environment: Environment): Promise<Tracer | undefined> {
  const settings = await findSettings(environment)
  if (settings === undefined) return undefined
  const { traces, sampler } = settings
  return new Traces({ sampler: traces === undefined ? undefined : sampler, hasOwn: true })
}

/**
 * The tracer of a request: that of the exporter, else one for providers that want the traces of callers.
 *
 * @param own that of the exporter
 */
export function tracerFor(own: Tracer | undefined, active: { readonly config: Config }): () => Tracer | undefined {
  if (own !== undefined) return () => own
  const passing = new Traces({ hasOwn: false })
  let known: Config | undefined
  let current: Tracer | undefined
  return () => {
    if (known !== active.config) {
      known = active.config
      current = known.providers.some(({ trace }) => trace === true) ? passing : undefined
    }
    return current
  }
}
