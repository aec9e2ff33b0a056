import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { parse } from 'jsonc-parser'
import schema from '../../../schema/providers.schema.json' with { type: 'json' }
import { defaultFailover, defaultLimits, defaultTimeouts } from '../defaults.ts'
import { reservedHeaders } from './rules.ts'
import { faultsOf, validatorOf } from './testing.ts'

const isValid = validatorOf(schema)
const examples = new URL('../../../examples/', import.meta.url).pathname

const isAccepted = (text: string): boolean => faultsOf(text).length === 0

function provider(members: object): object {
  return { providers: [{ id: 'a', base_url: 'https://a.test/v1', ...members }] }
}

const accepted: readonly unknown[] = [
  { providers: [] },
  { $schema: 'https://a.test', providers: [{ id: 'groq' }] },
  { providers: [{ id: 'mine', brand: 'groq' }, { id: 'e', protocol: 'echo' }, { id: 'echo' }] },
  { providers: [], limits: {}, failover: {}, aliases: {} },
  { providers: [], limits: { body_bytes: 1024, deadline_ms: 1, max_concurrent: 1, body_budget_bytes: 1024 } },
  {
    providers: [],
    limits: {
      body_budget_bytes: 1_099_511_627_776,
      body_bytes: 1_073_741_824,
      deadline_ms: 86_400_000,
      max_concurrent: 1_000_000,
    },
  },
  { providers: [], failover: { on_content_policy: 'next', on_cut: 'error', hold: 'none', retry_billed: true } },
  { providers: [], aliases: { 'a b': 'c/d', e: 'a b' } },
  { providers: [], owners: [] },
  { providers: [], name: 'Das Labor' },
  { providers: [], name: '<b>"x"</b> 👩‍🚀 مختبر' },
  { providers: [], name: 'x'.repeat(64) },
  { providers: [], owners: ['ann', '@Bob', 'c.d-e_f@g.test', '$OWNERS', 'x'.repeat(256)] },
  { providers: [], owners: Array.from({ length: 1_000 }, (_, index) => `u${index}`) },
  provider({ enabled: false, protocol: 'gemini', retries: 0, max_concurrent: 1 }),
  provider({ retries: 5, timeouts: { connect_ms: 1, first_token_ms: 1, idle_ms: 1, attempt_ms: 86_400_000 } }),
  provider({
    api_key: '$A_KEY',
    headers: { 'x-a': '$A', 'X-B': 'b c', authorization: 'Basic abc', 'x-price': 'costs $5' },
  }),
  ...['browser', 'server', { days: 1 }, { days: 36_500 }].map((history) => ({ providers: [], history })),
  provider({ base_url: '$A_URL' }),
  ...['keep', 'drop', 'reasoning', 'reasoning_content', 'required'].map((reasoning_history) =>
    provider({ reasoning_history }),
  ),
  provider({ formats: [] }),
  provider({ formats: ['responses'] }),
  provider({ base_url: 'http://[::1]:8080/v1/' }),
  provider({ base_url: 'https://a.test/a@b/v1' }),
  provider({ models: '*' }),
  provider({
    models: [
      'a',
      {
        name: 'b',
        upstream: 'c d',
        aliases: ['e'],
        context: 1,
        max_output: 1,
        input: ['text', 'image'],
        price: {
          input: 0,
          output: 0.5,
          cached_input: 0,
          cache_write: 1.25,
          cache_write_1h: 2,
          reasoning: 3,
          audio_input: 4,
          audio_output: 5,
          image_input: 1_000_000,
          image_output: 30,
          request: 0.01,
          search: 1_000,
          search_request: 0.035,
          tools: { file_search: 0.0025, maps: 0 },
          multiples: { fast: 2, us: 1.1 },
          above: [{ tokens: 200_000, input: 1, cached_input: 0.1 }, { tokens: 1 }],
          flex: { input: 0.25, above: [] },
          priority: { output: 1, above: [{ tokens: 272_000, output: 2 }] },
        },
      },
    ],
  }),
  provider({ overrides: { temperature: 0.5, stop: null, deep: { model: 'x', list: [1, 'a', true] } } }),
]

const refused: readonly unknown[] = [
  [],
  {},
  { providers: {} },
  { providers: [], other: 1 },
  { providers: [1] },
  { providers: [{}] },
  { providers: [{ id: 'unknown-brand' }] },
  { providers: [{ id: 'x', brand: 'unknown-brand' }] },
  { providers: [{ id: 'X', base_url: 'https://a.test' }] },
  { providers: [{ id: 'x'.repeat(65), base_url: 'https://a.test' }] },
  { providers: [], $schema: 1 },
  { providers: [], limits: { body_bytes: 1023 } },
  ...['disk', {}, { days: 0 }, { days: 36_501 }, { days: '90' }, { days: 1, place: 'server' }].map((history) => ({
    ...{ providers: [], history },
  })),
  { providers: [], limits: { body_bytes: 1_073_741_825 } },
  { providers: [], limits: { deadline_ms: 0 } },
  { providers: [], limits: { max_concurrent: 1.5 } },
  { providers: [], limits: { body_budget_bytes: 1023 } },
  { providers: [], limits: { body_budget_bytes: 1_099_511_627_777 } },
  { providers: [], limits: [] },
  { providers: [], failover: { on_cut: 'retry' } },
  { providers: [], failover: { on_content_policy: true } },
  { providers: [], failover: { retry_billed: 'yes' } },
  { providers: [], failover: { other: 1 } },
  { providers: [], aliases: { a: '*' } },
  { providers: [], aliases: { '*': 'a' } },
  { providers: [], aliases: { a: ' b' } },
  { providers: [], aliases: { a: 5 } },
  { providers: [], owners: 'ann' },
  { providers: [], name: '' },
  { providers: [], name: ' ' },
  { providers: [], name: '\u200d' },
  { providers: [], name: 'a\nb' },
  { providers: [], name: 'a\u202eb' },
  { providers: [], name: 'a\ud800' },
  { providers: [], name: 'x'.repeat(65) },
  { providers: [], name: 5 },
  { providers: [], owners: {} },
  { providers: [], owners: [1] },
  { providers: [], owners: [''] },
  { providers: [], owners: ['ann, bob'] },
  { providers: [], owners: ['ann bob'] },
  { providers: [], owners: ['$not-a-name'] },
  { providers: [], owners: ['${OWNERS}'] },
  { providers: [], owners: ['a\u0000b'] },
  { providers: [], owners: ['x'.repeat(257)] },
  { providers: [], owners: Array.from({ length: 1_001 }, (_, index) => `u${index}`) },
  provider({ enabled: 1 }),
  provider({ protocol: 'OpenAI' }),
  provider({ retries: 6 }),
  provider({ retries: -1 }),
  provider({ max_concurrent: 0 }),
  provider({ reasoning_history: 'all' }),
  provider({ reasoning_history: null }),
  provider({ formats: 'responses' }),
  provider({ formats: ['chat'] }),
  provider({ formats: [null] }),
  provider({ timeouts: { connect: 5 } }),
  provider({ timeouts: { connect_ms: 0 } }),
  provider({ timeouts: { connect_ms: 86_400_001 } }),
  provider({ base_url: 'a.test' }),
  provider({ base_url: 'ftp://a.test' }),
  provider({ base_url: 'https://me:pass@a.test' }),
  provider({ base_url: 'https://a.test/?a=b' }),
  provider({ base_url: 'https://a.test/#a' }),
  provider({ base_url: 'https://a.test/v1/chat/completions' }),
  provider({ base_url: '${A_URL}' }),
  provider({ api_key: '' }),
  provider({ api_key: 'two words' }),
  provider({ api_key: '$not-a-name' }),
  provider({ api_key: '${A_KEY}' }),
  provider({ api_key: 5 }),
  provider({ headers: { Host: 'a' } }),
  provider({ headers: { 'CONTENT-LENGTH': '1' } }),
  provider({ headers: { 'a b': 'c' } }),
  provider({ headers: { '': 'c' } }),
  provider({ headers: { a: 'b\r\nc: d' } }),
  provider({ headers: { a: 'Bearer $TOKEN' } }),
  provider({ headers: { a: 'Bearer ${TOKEN}' } }),
  provider({ headers: { a: ' b' } }),
  provider({ headers: { a: 'ü' } }),
  provider({ headers: { a: '' } }),
  provider({ headers: { a: 1 } }),
  provider({ models: [] }),
  provider({ models: 'a' }),
  provider({ models: [1] }),
  provider({ models: ['*'] }),
  provider({ models: [{}] }),
  provider({ models: [{ name: 'a', alias: 'b' }] }),
  provider({ models: [{ name: 'a', input: ['smell'] }] }),
  provider({ models: [{ name: 'a', context: 0 }] }),
  provider({ models: [{ name: 'a', price: { input: 1 } }] }),
  provider({ models: [{ name: 'a', price: { input: 1, output: -1 } }] }),
  ...[
    { request: 1_000.5 },
    { search: -1 },
    { cache_write: '1' },
    { above: {} },
    { above: [{ input: 1 }] },
    { above: [{ tokens: 0 }] },
    { above: [{ tokens: 1, above: [] }] },
    { flex: { flex: {} } },
    { priority: { input: 1_000_001 } },
    { batch: {} },
  ].map((price) => provider({ models: [{ name: 'a', price: { input: 1, output: 1, ...price } }] })),
  provider({ overrides: { model: 'a' } }),
  provider({ overrides: { messages: [] } }),
  provider({ overrides: { stream: false } }),
  provider({ overrides: 1 }),
  provider({ unknown: 1 }),
]

describe('providers.schema.json', () => {
  test.each(accepted.map((value) => [JSON.stringify(value), value] as const))(
    'accepts, as the parser does, %s',
    (text, value) => {
      expect([isValid(value), isAccepted(text)]).toEqual([true, true])
    },
  )

  test.each(refused.map((value) => [JSON.stringify(value), value] as const))(
    'refuses, as the parser does, %s',
    (text, value) => {
      expect([isValid(value), isAccepted(text)]).toEqual([false, false])
    },
  )

  test('agrees with the parser that reserved headers cannot be set', () => {
    for (const name of reservedHeaders) {
      const value = provider({ headers: { [name]: 'a' } })
      expect([name, isValid(value), isAccepted(JSON.stringify(value))]).toEqual([name, false, false])
    }
  })

  test('states the actual defaults', () => {
    const { timeouts } = schema.$defs.provider.properties
    expect({
      connectMs: timeouts.properties.connect_ms.default,
      firstTokenMs: timeouts.properties.first_token_ms.default,
      idleMs: timeouts.properties.idle_ms.default,
      attemptMs: timeouts.properties.attempt_ms.default,
    }).toEqual(defaultTimeouts)
    const { limits, failover } = schema.properties
    expect({
      bodyBytes: limits.properties.body_bytes.default,
      deadlineMs: limits.properties.deadline_ms.default,
    }).toEqual(defaultLimits)
    expect({
      onContentPolicy: failover.properties.on_content_policy.default,
      onCut: failover.properties.on_cut.default,
      hold: failover.properties.hold.default,
      retryBilled: failover.properties.retry_billed.default,
    }).toEqual(defaultFailover)
  })

  test('describes every field', () => {
    expect(undescribed(schema, '')).toEqual([])
  })

  test.each([...new Glob('*.jsonc').scanSync(examples)].sort())(
    'accepts, as the parser does, examples/%s',
    async (name) => {
      const text = await Bun.file(examples + name).text()
      expect([isValid(parse(text, [], { allowTrailingComma: true })), isAccepted(text)]).toEqual([true, true])
    },
  )
})

/** Paths of the properties without a description. */
function undescribed(node: unknown, path: string): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  if (/\/anyOf/.test(path)) return []
  return Object.entries(node).flatMap(([key, value]) => {
    const own =
      path.endsWith('/properties') && !(typeof value === 'object' && value !== null && 'description' in value)
        ? [`${path}/${key}`]
        : []
    return key === 'enum' || key === 'default' ? [] : [...own, ...undescribed(value, `${path}/${key}`)]
  })
}
