import { afterEach, describe, expect, test } from 'bun:test'
import type { Post, PostAnswer } from '../deliver.ts'
import type { RequestRecord } from '../record.ts'
import { Traces } from '../trace.ts'
import { Exporter } from './exporter.ts'
import { ProtobufWriter } from './protobuf.ts'
import { readTelemetrySettings } from './settings.ts'

const traces = new Traces({ sampler: { followsCaller: true, share: 1 }, hasOwn: true })
const settings = readTelemetrySettings(
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel.test',
    OTEL_BSP_MAX_QUEUE_SIZE: '30',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '6',
  },
  '1',
)

/** A record of a request with one attempt: three spans. */
function traced(): RequestRecord {
  const trace = traces.begin(new Headers(), 0, true)
  const span = trace?.begin({ system: 'openai', address: 'api.openai.com', port: 443 })
  return {
    ...{ time: 1_000, id: 'r', api: 'chat', model: 'm', listedAs: 'm', stream: false, status: 200 },
    ...{ provider: 'openai', upstream: 'm', totalMs: 9, trace: trace?.facts },
    trail: [{ name: 'openai', status: 200, ms: 5, ...(span && { span: { ...span, afterMs: 1 } }) }],
  }
}

const open: Exporter[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
})

function exporting(post: Post, warned: unknown[] = []): Exporter {
  const exporter = new Exporter({
    ...{ settings, posts: { traces: post }, version: '1', metrics: () => [], now: Date.now },
    warn: (message, fields) => void warned.push([message, fields]),
  })
  open.push(exporter)
  return exporter
}

describe('the exporter', () => {
  test('drops and counts what does not fit while a collector is slow, and logs it once a minute', async () => {
    const answer = Promise.withResolvers<PostAnswer>()
    const warned: unknown[] = []
    const exporter = exporting(() => answer.promise, warned)
    // Six spans are sent at once; then thirty wait.
    for (let request = 0; request < 20; request += 1) exporter.record(traced())
    expect(exporter.dropped).toBe(60 - 6 - 30)
    expect(warned).toEqual([['telemetry was lost', { spans: 3, reason: 'too many wait' }]])
    answer.resolve({ status: 200 })
    await exporter.close()
    expect(exporter.dropped).toBe(24)
    expect(warned).toHaveLength(2)
  })

  test('counts spans that the collector refuses, of the whole message or a part', async () => {
    const partial = new ProtobufWriter()
    const inner = partial.begin(1)
    partial.varint(1, 2)
    partial.text(2, 'too old')
    partial.end(inner)
    const body = partial.take()
    const answers = [{ status: 400 }, { status: 200, body }, { status: 200, body: new Uint8Array([0xff, 0xff]) }]
    for (const [index, answer] of answers.entries()) {
      const exporter = exporting(async () => answer)
      exporter.record(traced())
      await exporter.close()
      expect(exporter.dropped).toBe([3, 2, 0][index] ?? 0)
    }
  })

  test('ends in time although the collector never answers', async () => {
    const exporter = exporting(() => new Promise(() => undefined))
    exporter.record(traced())
    const began = performance.now()
    await exporter.close()
    expect(performance.now() - began).toBeLessThan(4_000)
  })

  test('writes no spans of requests that are not sampled', async () => {
    let count = 0
    const exporter = exporting(async () => ({ status: (count += 1) && 200 }))
    const { trace, ...others } = traced()
    exporter.record(others)
    exporter.record({ ...others, trace: { id: '', ...trace, isSampled: false } })
    await exporter.close()
    expect(count).toBe(0)
  })
})
