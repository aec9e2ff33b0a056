import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { gatewayMetrics } from './gateway-metrics.ts'
import type { RequestRecord } from './record.ts'
import { parseMetrics } from './testing.ts'

const record: RequestRecord = {
  time: 0,
  id: 'request-1',
  model: 'gpt-4o-mini',
  listedAs: 'gpt-4o-mini',
  upstream: 'gpt-4o-mini-2024',
  api: 'chat',
  stream: true,
  status: 200,
  provider: 'openai',
  trail: [
    { name: 'groq', status: 429, failure: 'rate_limit', ms: 12 },
    { name: 'openai', status: 200, ms: 327 },
  ],
  firstTokenMs: 120,
  totalMs: 340,
  usage: { promptTokens: 12, completionTokens: 34, totalTokens: 46 },
}
const refused: RequestRecord = {
  time: 0,
  id: 'r',
  model: 'made-up',
  api: 'chat',
  stream: false,
  status: 404,
  error: 'model_not_found',
  trail: [],
  totalMs: 1,
}

describe('gatewayMetrics', () => {
  test('counts a request, its attempts, times and tokens', () => {
    const metrics = gatewayMetrics({ version: '1' })
    metrics.record(record)
    metrics.record(record)
    const text = metrics.text()
    for (const line of [
      'svc_requests_total{model="gpt-4o-mini",provider="openai",status="200",class="ok",api="chat"} 2',
      'svc_attempts_total{provider="groq",model="gpt-4o-mini",outcome="rate_limit"} 2',
      'svc_attempts_total{provider="openai",model="gpt-4o-mini",outcome="ok"} 2',
      'svc_attempt_seconds_bucket{provider="groq",le="0.05"} 2',
      'svc_attempt_seconds_count{provider="openai"} 2',
      'svc_first_token_seconds_bucket{provider="openai",le="0.1"} 0',
      'svc_first_token_seconds_bucket{provider="openai",le="0.25"} 2',
      'svc_request_seconds_sum 0.68',
      'svc_tokens_total{provider="openai",model="gpt-4o-mini",kind="prompt"} 24',
      'svc_tokens_total{provider="openai",model="gpt-4o-mini",kind="completion"} 68',
    ])
      expect(text).toContain(`\n${line}\n`)
    parseMetrics(text)
  })

  test('counts costs by their source, and answers without a known cost', () => {
    const metrics = gatewayMetrics({ version: '1' })
    const cost = { nanoUsd: 5_300_000, source: 'config' } as const
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, isEstimated: true } as const
    for (const more of [
      { cost },
      { cost: { nanoUsd: 0, source: 'catalogue' } },
      { cost: { nanoUsd: 1, source: 'reported' } },
      { cost, usage },
      {},
      { api: 'count_tokens' },
    ] as const)
      metrics.record({ ...record, ...more })
    metrics.record(refused)
    const labels = 'provider="openai",model="gpt-4o-mini"'
    for (const line of [
      `svc_cost_usd_total{${labels},source="priced"} 0.0053`,
      `svc_cost_usd_total{${labels},source="reported"} 1e-9`,
      `svc_cost_usd_total{${labels},source="estimated"} 0.0053`,
      `svc_unpriced_total{${labels}} 1`,
    ])
      expect(metrics.text()).toContain(`\n${line}\n`)
  })

  test('does not name a model when no provider was asked', () => {
    const metrics = gatewayMetrics({ version: '1' })
    metrics.record(refused)
    expect(metrics.text()).toContain(
      'svc_requests_total{model="unknown",provider="none",status="404",class="model_not_found",api="chat"} 1\n',
    )
    expect(metrics.text()).not.toContain('made-up')
  })

  test('limits the models to 500', () => {
    const metrics = gatewayMetrics({ version: '1' })
    for (let index = 0; index < 600; index++) metrics.record({ ...record, listedAs: `model-${index}` })
    const samples = parseMetrics(metrics.text()).get('svc_requests_total')?.samples
    expect(samples).toHaveLength(501)
    expect(samples?.at(-1)).toMatchObject({ labels: { model: 'other' }, value: 100 })
  })

  test('counts unlisted models as other, without using up the limit', () => {
    const metrics = gatewayMetrics({
      version: '1',
      breakers: () =>
        ['made-up-1', 'gpt-4o-mini-2024', 'made-up-2', ''].map((model) => ({ provider: 'a', model, isOpen: true })),
    })
    const { listedAs: _, ...unlisted } = record
    for (let index = 0; index < 600; index++) metrics.record({ ...unlisted, model: `made-up-${index}` })
    metrics.record(record)
    const families = parseMetrics(metrics.text())
    const modelsOf = (name: string) => families.get(name)?.samples.map(({ labels, value }) => [labels['model'], value])
    expect(modelsOf('svc_requests_total')).toEqual([
      ['other', 600],
      ['gpt-4o-mini', 1],
    ])
    expect(modelsOf('svc_breaker_open')).toEqual([
      ['other', 1],
      ['gpt-4o-mini-2024', 1],
      ['', 1],
    ])
  })

  test('reads external values when the metrics are read', () => {
    let isOpen = false
    let dropped = 0
    const metrics = gatewayMetrics({
      version: '1.2.3',
      breakers: () => [{ provider: 'groq', model: '', isOpen }],
      logLinesDropped: () => dropped,
    })
    isOpen = true
    dropped = 7
    metrics.streamsOpen.add(1)
    metrics.reloaded('failed')
    const families = parseMetrics(metrics.text())
    expect(families.get('svc_breaker_open')?.samples).toEqual([
      { name: 'svc_breaker_open', labels: { provider: 'groq', model: '' }, value: 1 },
    ])
    expect(families.get('svc_log_lines_dropped_total')?.samples[0]?.value).toBe(7)
    expect(families.get('svc_streams_open')?.samples[0]?.value).toBe(1)
    expect(
      families.get('svc_config_reloads_total')?.samples.map(({ labels, value }) => [labels['result'], value]),
    ).toEqual([
      ['ok', 0],
      ['failed', 1],
    ])
    expect(families.get('svc_build_info')?.samples[0]).toMatchObject({
      labels: { version: '1.2.3', bun: Bun.version },
      value: 1,
    })
    expect(families.get('process_resident_memory_bytes')?.samples[0]?.value).toBeGreaterThan(1e6)
    const start = families.get('process_start_time_seconds')?.samples[0]?.value ?? 0
    expect(Math.abs(start - (Date.now() / 1000 - process.uptime()))).toBeLessThan(2)
  })

  test('stays parseable for any records', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    const anything = fc.record({
      model: text,
      provider: text,
      error: text,
      name: text,
      failure: text,
      ms: fc.double(),
      status: fc.integer(),
    })
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), (all) => {
        const metrics = gatewayMetrics({ version: '1' })
        for (const { name, failure, ms, ...rest } of all)
          metrics.record({ ...record, ...rest, listedAs: rest.model, totalMs: ms, trail: [{ name, failure, ms }] })
        parseMetrics(metrics.text())
      }),
      { numRuns: 50 },
    )
  })
})

test('the tokens of a cut attempt count for its provider', () => {
  const metrics = gatewayMetrics({ version: '1' })
  metrics.record({
    time: 0,
    id: 'i',
    model: 'm',
    listedAs: 'm',
    api: 'chat',
    stream: true,
    status: 200,
    provider: 'b',
    totalMs: 1,
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    trail: [
      { name: 'a', status: 200, failure: 'cut', ms: 1, tokens: { promptTokens: 10, completionTokens: 20 } },
      { name: 'b', status: 200, ms: 1 },
    ],
  })
  const text = metrics.text()
  expect(text).toContain('svc_tokens_total{provider="a",model="m",kind="completion"} 20')
  expect(text).toContain('svc_tokens_total{provider="b",model="m",kind="completion"} 2')
})
