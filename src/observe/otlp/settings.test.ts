import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readTelemetrySettings } from './settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.test/base/' }

describe('settings of telemetry', () => {
  test('have the usual values', () => {
    const { traces, metrics, resource, ...others } = readTelemetrySettings(endpoint, '1.2.3')
    expect([traces, metrics].map((signal) => signal?.url.href)).toEqual([
      'https://otel.test/base/v1/traces',
      'https://otel.test/base/v1/metrics',
    ])
    expect(traces).toMatchObject({ headers: {}, timeoutMs: 10_000, isCompressed: false })
    expect(Object.fromEntries(resource)).toMatchObject({ 'service.name': 'svc', 'service.version': '1.2.3' })
    expect(others).toEqual({
      sampler: { followsCaller: true, share: 1 },
      ...{ metricsMs: 60_000, spansMs: 5_000, spansMax: 2_048, batchSpans: 512, faults: [] },
    })
  })

  test('of one signal stand before those of all, and its address is taken as it is', () => {
    const { traces, metrics } = readTelemetrySettings(
      {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/otel?x=1',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'Authorization=Basic%20eA==, b = 2',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      },
      '1',
    )
    expect(metrics).toBeUndefined()
    expect(traces).toMatchObject({
      headers: { authorization: 'Basic eA==', b: '2' },
      timeoutMs: 500,
      isCompressed: true,
    })
    expect(traces?.url.href).toBe('http://127.0.0.1:4318/otel?x=1')
  })

  test.each([
    ['always_off', undefined, { followsCaller: false, share: 0 }],
    ['traceidratio', '0.25', { followsCaller: false, share: 0.25 }],
    ['parentbased_traceidratio', undefined, { followsCaller: true, share: 1 }],
    ['parentbased_always_off', '0.5', { followsCaller: true, share: 0 }],
  ])('choose traces with the sampler %s of %p', (name, share, sampler) => {
    const given = { ...endpoint, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }
    expect(readTelemetrySettings(given, '1')).toMatchObject({ sampler, faults: [] })
  })

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://u:s3cret@otel.test'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 's3cret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%s3cret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1%0d%0as3cret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'host=s3cret'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '0'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a'],
  ])('name the faulty %s, and go on: %p', (name, value) => {
    const { faults } = readTelemetrySettings({ ...endpoint, [name]: value }, '1')
    expect(faults).toEqual([expect.stringContaining(`${name}: allowed: `)])
    expect(faults.join()).not.toContain('s3cret')
  })

  test('never throw, whatever the variables have', () => {
    const variables = fc.record({
      OTEL_EXPORTER_OTLP_ENDPOINT: fc.oneof(fc.webUrl(), fc.string()),
      OTEL_EXPORTER_OTLP_HEADERS: fc.string(),
      OTEL_RESOURCE_ATTRIBUTES: fc.string(),
      OTEL_TRACES_SAMPLER: fc.constantFrom('traceidratio', 'x'),
      OTEL_TRACES_SAMPLER_ARG: fc.string(),
    })
    fc.assert(
      fc.property(variables, (environment) => {
        const { sampler, traces } = readTelemetrySettings(environment, '1')
        expect(sampler.share >= 0 && sampler.share <= 1).toBe(true)
        for (const value of Object.values(traces?.headers ?? {})) expect(value).toMatch(/^[\x20-\x7e]*$/)
      }),
    )
  })
})
