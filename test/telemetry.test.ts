import { afterAll, describe, expect, test } from 'bun:test'
import { isRecord } from '../src/base/json-value.ts'
import { chat, question } from './client.ts'
import { resourceOf, startCollector, type CollectedMessage, type CollectedSpan } from './fakes/collector.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { pythonPackage, runPython } from './fakes/python.ts'
import { reply } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'

const first = faultUpstream((exchange) => exchange.write(reply(429, '{"error":{"message":"hello? slow down"}}')))
const second = faultUpstream(good())
afterAll(() => {
  for (const upstream of [first, second]) upstream.stop()
})
const providers = [
  provider('first', first.url, ['m'], { trace: true }),
  provider('second', second.url, ['m'], { trace: true }),
]
const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const soon = { OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_METRIC_EXPORT_INTERVAL: '200' }

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan | undefined {
  return spans.find((span) => span.name === name)
}

/** Messages of the service, for the referee. */
const collected: CollectedMessage[] = []
const library = await pythonPackage('opentelemetry-proto==1.45.2', 'protobuf==7.36.2')

describe('telemetry over OTLP', () => {
  test('has a span for the request, the inference and each attempt, and metrics; nothing of the prompt', async () => {
    await using collector = startCollector()
    const environment = {
      ...soon,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'gateway',
    }
    await using service = await startService({ providers }, { environment })
    const headers = { traceparent: parent, tracestate: 'vendor=1' }
    await chat(service.url, question({ stream: true, temperature: 1, max_tokens: 9 }), { headers })
    await collector.until(() => collector.spans().length >= 4)
    const spans = collector.spans()
    const [request, inference] = [named(spans, 'POST /v1/chat/completions'), named(spans, 'chat m')]
    const attempts = spans.filter(({ name }) => name === 'POST')
    expect(request).toMatchObject({
      ...{ traceId: parent.slice(3, 35), parentSpanId: parent.slice(36, 52), traceState: 'vendor=1', kind: 2, code: 0 },
      attributes: { 'http.response.status_code': 200, 'svc.attempts': 2 },
    })
    expect(inference).toMatchObject({
      ...{ parentSpanId: request?.spanId, kind: 3, code: 0 },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'second',
        'gen_ai.request.model': 'm',
        'gen_ai.request.stream': true,
        'gen_ai.request.temperature': 1,
        'gen_ai.request.max_tokens': 9,
        'server.address': '127.0.0.1',
      },
      events: [{ name: 'gen_ai.client.inference.exception', attributes: { 'exception.type': 'rate_limit' } }],
    })
    expect(
      attempts.map(({ attributes, parentSpanId, code }) => [attributes['svc.provider'], parentSpanId, code]),
    ).toEqual([
      ['first', inference?.spanId, 2],
      ['second', inference?.spanId, 0],
    ])
    // Each upstream gets the span of its attempt.
    const sent = [first, second].map(({ hits }) => hits.at(-1)?.headers.get('traceparent'))
    expect(sent).toEqual(attempts.map(({ spanId }) => `00-${parent.slice(3, 35)}-${spanId}-01`))
    expect(second.hits.at(-1)?.headers.get('tracestate')).toBe('vendor=1')
    await collector.until(() => collector.points('gen_ai.client.inference.duration').length > 0)
    expect(collector.points('gen_ai.client.inference.duration')).toMatchObject([
      {
        count: '1',
        attributes: { 'gen_ai.provider.name': 'second', 'gen_ai.request.model': 'm', 'server.port': second.port },
      },
    ])
    expect(collector.points('svc_requests_total')).toMatchObject([{ asDouble: 1, attributes: { status: '200' } }])
    const [message] = collector.messages
    expect(message && resourceOf(message)).toMatchObject({
      'service.name': 'gateway',
      'deployment.environment.name': 'test',
    })
    expect(message?.headers.get('authorization')).toBe('Basic c2VjcmV0')
    expect(collector.messages.map(({ bytes }) => Buffer.from(bytes).toString('latin1')).join()).not.toMatch(
      /hello|good-/,
    )
    const isRequest = ({ message }: { readonly message?: unknown }): boolean => message === 'request'
    await collector.until(() => service.logs.some(isRequest))
    expect(service.logs.find(isRequest)).toMatchObject({ trace_id: parent.slice(3, 35) })
    expect(service.output).not.toContain('c2VjcmV0')
    expect(collector.faults).toEqual([])
    collected.push(...collector.messages)
  })

  test.skipIf(library === undefined)('is what the library of OpenTelemetry reads, too', async () => {
    expect(new Set(collected.map(({ signal }) => signal)).size).toBe(2)
    const input = collected.map(({ signal, bytes }) => ({ signal, bytes: Buffer.from(bytes).toString('base64') }))
    const read: unknown = JSON.parse(await runPython(library ?? '', referee, JSON.stringify(input)))
    expect(normal(read)).toEqual(normal(collected.map(({ message }) => message)))
  })

  test('is sent once with workers, by the process that has all their records', async () => {
    await using collector = startCollector()
    const environment = { ...soon, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const service = await startService({ providers }, { environment, flags: ['--workers', '2'] })
    await Promise.all(Array.from({ length: 8 }, () => chat(service.url, question())))
    await service.stop()
    const requests = collector.spans().filter(({ kind }) => kind === 2)
    expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(8)
    expect(requests).toHaveLength(8)
    const instances = new Set(collector.messages.map((message) => resourceOf(message)['service.instance.id']))
    expect(instances.size).toBe(1)
    expect(collector.points('svc_requests_total')).toMatchObject([{ asDouble: 8 }])
    expect(collector.faults).toEqual([])
  })

  test('names faulty variables at the start, and without an endpoint passes on the traces of callers', async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }
    await using service = await startService(
      { providers: [providers[1] ?? provider('second', second.url)] },
      { environment },
    )
    expect(service.logs).toContainEqual(
      expect.objectContaining({ level: 'warn', variable: expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT') }),
    )
    await chat(service.url, question(), { headers: { traceparent: parent } })
    expect(second.hits.at(-1)?.headers.get('traceparent')).toBe(parent)
    await chat(service.url, question(), { headers: { traceparent: 'hostile' } })
    expect(second.hits.at(-1)?.headers.get('traceparent')).toBeUndefined()
  })
})

const referee = `
import base64, json, sys
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
messages = []
for each in json.load(sys.stdin):
    message = ExportTraceServiceRequest() if each['signal'] == 'traces' else ExportMetricsServiceRequest()
    message.ParseFromString(base64.b64decode(each['bytes']))
    messages.append(MessageToDict(message, use_integers_for_enums=True))
print(json.dumps(messages))
`

const ids: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId'])

/** A message with numbers as text, ids in hexadecimal, and without counts of 0, which the library leaves out. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal)
  if (typeof value === 'number') return String(value)
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, each]) => {
    const isEncoded = ids.has(name) && typeof each === 'string' && each.endsWith('=')
    return [name, isEncoded ? Buffer.from(each, 'base64').toString('hex') : normal(each)] as const
  })
  return Object.fromEntries(members.filter(([name, each]) => !(name === 'count' && each === '0')))
}
