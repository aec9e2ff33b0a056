import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encode } from '../../bytes/text.ts'
import type { Config } from '../../config/config.ts'
import { parseConfig } from '../../config/file/parse-config.ts'
import { parseChatRequest } from '../../formats/chat/request.ts'
import { priceBook } from '../../prices/price-book.ts'
import { unlimitedAnswerBudget } from '../../service/answer-budget.ts'
import { healthBook } from '../../service/health/health.ts'
import { headerBlock } from '../../transport/header-block.ts'
import { httpClient } from '../../transport/http-client.ts'
import { assembleGateway } from '../assemble.ts'
import { drillFailures, drillTransport, type DrillFailure } from './drill-transport.ts'
import { drill, type DrillOptions, type ModelDrill } from './drill.ts'

type Entry = Readonly<Record<string, unknown>>

const environment = { A_KEY: 'key-a', B_KEY: 'key-b' }

function configOf(providers: readonly Entry[], more: Entry = {}): Config {
  const completed = providers.map((entry, index) => ({
    base_url: `https://${String(entry['id'])}.example/v1`,
    api_key: `key-${index}`,
    ...entry,
  }))
  return parseConfig(JSON.stringify({ providers: completed, ...more }), { file: 'providers.json', environment })
}

async function drillOf(config: Config, model = 'm', options: Partial<DrillOptions> = {}): Promise<ModelDrill> {
  const [drilled] = await drill([model], {
    ...{
      config,
      lists: new Map(),
      prices: priceBook(() => undefined),
      down: () => new Set<string>(),
      failures: drillFailures,
    },
    ...{ together: [], depth: 1, ...options },
  })
  if (drilled === undefined) throw new Error('nothing was drilled')
  return drilled
}

/** What a drill says of a configuration, in one text. */
function said({ rows, notes, survives }: ModelDrill): string {
  const lines = rows.map(
    ({ failing, failure, servedBy, lost }) =>
      `${failing.join('+')} ${failure ?? 'none'} > ${servedBy ?? 'none'}: ${lost.join('; ')}`,
  )
  return [...lines, ...notes, survives ? 'survives' : 'does not survive'].join('\n')
}

const facts = {
  name: 'm',
  context: 128_000,
  max_output: 8_000,
  input: ['text', 'image'],
  price: { input: 1, output: 2 },
}
const first = { id: 'a', models: [facts] }
const spare = (model: Entry, more: Entry = {}) => [first, { id: 'b', models: [{ ...facts, ...model }], ...more }]

describe('a planted fault is found', () => {
  test.each<[string, readonly Entry[], RegExp, Entry?]>([
    ['no spare', [first], /a timeout > none[^]*does not survive/],
    ['a spare with a smaller context', spare({ context: 8_000 }), /a timeout > b: context 8000 instead of 128000/],
    ['a spare with shorter answers', spare({ max_output: 100 }), /> b: answers of 100 instead of 8000/],
    ['a spare without pictures', spare({ input: ['text'] }), /> b: no image/],
    ['a spare without tools', spare({ profile: { tools: 0 } }), /> b: no tools/],
    ['a dearer spare', spare({ price: { input: 4, output: 8 } }), /> b: 4\.0 × the price/],
    [
      'a spare that costs money',
      [
        { id: 'a', models: [{ ...facts, price: 0 }] },
        { id: 'b', models: [facts] },
      ],
      /> b: it costs money/,
    ],
    ['a spare without a price', spare({ price: undefined }), /> b: no price is known/],
    ['another model as the spare', spare({ upstream: 'other/model-9' }), /> b: another model: other\/model-9/],
    ['a spare to which requests are translated', spare({}, { protocol: 'anthropic' }), /> b: requests are translated/],
    [
      'the same host and key twice',
      spare({}, { base_url: 'https://a.example/v1', api_key: 'key-0' }),
      /a\+b credential > none[^]*one is no spare of the other/,
    ],
    [
      'the same host with two keys',
      spare({}, { base_url: 'https://a.example/v1' }),
      /a\+b timeout > none[^]*a credential > b[^]*have the same host\n/,
    ],
    ['the same key at two hosts', spare({}, { api_key: 'key-0' }), /have the same key at different hosts/],
    [
      'one proxy for both',
      [
        { ...first, proxy: 'http://p:1' },
        { id: 'b', proxy: 'http://p:1', models: [facts] },
      ],
      /reached through the same proxy/,
    ],
    [
      'a spare that is off',
      spare({}, { enabled: false }),
      /a cut > none[^]*b offers it, but is off[^]*does not survive/,
    ],
    [
      'a spare without its key',
      spare({}, { api_key: '$NOT_SET' }),
      /b offers it, but is unavailable: NOT_SET is not set[^]*does not survive/,
    ],
    ['a spare with another name for the model', spare({ name: 'M2' }), /a rate_limit > none[^]*does not survive/],
    [
      'cut streams that are not continued',
      spare({}),
      /a cut > none[^]*does not survive/,
      { failover: { on_cut: 'error' } },
    ],
    [
      'a spare after the deadline',
      [
        { ...first, timeouts: { first_token_ms: 60_000 } },
        { id: 'b', models: [facts] },
      ],
      /a timeout > none: the request ends at its deadline of 20000 ms before b is asked/,
      { limits: { deadline_ms: 20_000 } },
    ],
    ['a spare whose models are not known', [first, { id: 'b' }], /a timeout > none[^]*the models of b are not known/],
  ])('%s', async (_name, providers, expected, more) => {
    expect(said(await drillOf(configOf(providers, more)))).toMatch(expected)
  })

  test('a spare that does not answer, as a live question shows', async () => {
    const drilled = await drillOf(configOf(spare({})), 'm', { down: () => new Set(['b']) })
    expect(said(drilled)).toMatch(/a timeout > none[^]*b did not answer[^]*does not survive/)
  })

  test('an alias of a model that no provider offers', async () => {
    expect(said(await drillOf(configOf(spare({}), { aliases: { n: 'gone' } }), 'n'))).toContain('does not survive')
  })
})

describe('a drill', () => {
  test('of a sound pair finds nothing', async () => {
    const text = said(await drillOf(configOf(spare({}))))
    expect(text).toEndWith('survives')
    expect(text).not.toMatch(/> none|: ./)
  })

  test.each(['openai', 'anthropic', 'gemini'])(
    'continues a cut stream from and to the protocol %s',
    async (protocol) => {
      const pair = [
        { ...first, protocol },
        { id: 'b', models: [facts] },
      ]
      expect(said(await drillOf(configOf(pair)))).toContain('a cut > b')
      expect(said(await drillOf(configOf(pair.toReversed())))).toContain('b cut > a')
    },
  )

  test('lets pairs fail, and those that are named together', async () => {
    const three = configOf([...spare({}), { id: 'c', models: [facts] }])
    expect(said(await drillOf(three, 'm', { depth: 2 }))).toContain('a+b timeout > c')
    expect(said(await drillOf(three, 'm', { together: ['a', 'c'] }))).toContain('a+c credential > b')
  })
})

/** Real servers, one for each host of the random configurations, with strict answers. */
const answers = { failing: new Map<string, DrillFailure>() }
const servers = new Map(
  ['h0', 'h1', 'h2', 'h3'].map((host) => [
    host,
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const key =
          request.headers.get('authorization') ??
          request.headers.get('x-api-key') ??
          request.headers.get('x-goog-api-key') ??
          ''
        const failure = answers.failing.get(key.replace('Bearer ', ''))
        if (failure === 'rate_limit')
          return Response.json({ error: { message: 'rate limit reached' } }, { status: 429 })
        if (failure === 'credential') return Response.json({ error: { message: 'invalid API key' } }, { status: 401 })
        const whole = streamFor(new URL(request.url).pathname)
        if (failure !== 'cut') return new Response(whole, { headers: { 'content-type': 'text/event-stream' } })
        return new Response(whole.slice(0, Math.floor(whole.length * 0.45)), {
          headers: { 'content-type': 'text/event-stream' },
        })
      },
    }),
  ]),
)
afterAll(async () => {
  for (const server of servers.values()) await server.stop(true)
})

const sse = (events: readonly object[]) =>
  events
    .map((event) => `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')

function streamFor(path: string): string {
  const words = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ']
  if (path.endsWith('/messages'))
    return sse([
      {
        type: 'message_start',
        message: {
          id: 'x',
          type: 'message',
          role: 'assistant',
          model: 'u',
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 6 } },
      { type: 'message_stop' },
    ])
  if (path.includes('GenerateContent'))
    return sse(
      words.map((text, index) => ({
        candidates: [
          { index: 0, content: { role: 'model', parts: [{ text }] }, ...(index === 5 ? { finishReason: 'STOP' } : {}) },
        ],
      })),
    )
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'u',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const chunks = [chunk({ role: 'assistant', content: '' }), ...words.map((content) => chunk({ content }))]
  return `${sse([...chunks, chunk({}, 'stop')])}data: [DONE]

`
}

const entry = fc.record({
  protocol: fc.constantFrom('openai', 'openai', 'anthropic', 'gemini'),
  names: fc.subarray(['m', 'n', 'M'], { minLength: 1 }),
  isAlias: fc.boolean(),
  enabled: fc.constantFrom(true, true, false),
})

describe('for random configurations', () => {
  test('it says what the service does at real servers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        fc.record({ on_cut: fc.constantFrom('resume', 'error'), on_content_policy: fc.constantFrom('stop', 'next') }),
        fc.constantFrom('m', 'n', 'alias', 'p1/m'),
        fc.constantFrom<DrillFailure>('rate_limit', 'credential', 'cut'),
        async (entries, failover, model, failure) => {
          const providers = entries.map(({ protocol, names, isAlias, enabled }, index) => ({
            id: `p${index}`,
            protocol,
            base_url: `http://127.0.0.1:${servers.get(`h${index}`)?.port}/${protocol === 'gemini' ? 'v1beta' : 'v1'}`,
            api_key: `key-${index}`,
            enabled,
            models: isAlias
              ? [{ name: `x${index}`, upstream: 'u', aliases: names }]
              : names.map((name) => ({ name, upstream: 'u' })),
          }))
          const config = configOf(providers, { failover, aliases: { alias: 'm' } })
          const drilled = await drillOf(config, model, { failures: [failure] })
          for (const { failing, servedBy } of drilled.rows)
            expect(await servedReally(config, model, failing, failure)).toBe(servedBy)
        },
      ),
      { numRuns: 200 },
    )
  }, 60_000)

  async function servedReally(
    config: Config,
    model: string,
    failing: readonly string[],
    failure: DrillFailure,
  ): Promise<string | undefined> {
    answers.failing = new Map(failing.map((id) => [`key-${id.slice(1)}`, failure]))
    const transport = httpClient()
    const gateway = assembleGateway(config, {
      ...{ transport, health: healthBook(() => performance.now()), answerBudget: unlimitedAnswerBudget },
      log: { debug: () => undefined, warn: () => undefined },
    })
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'go' }], stream: true })
    try {
      const served = await gateway.answer(parseChatRequest(encode(body)), {
        signal: new AbortController().signal,
        trail: [],
      })
      if (served.reply.kind === 'stream')
        for (let parts = await served.reply.read(); parts !== undefined;) parts = await served.reply.read()
      return served.provider
    } catch {
      return undefined
    } finally {
      gateway.close()
      transport.close()
    }
  }
})

test('the fake sends nothing, and has no lists of models', async () => {
  const transport = drillTransport(() => undefined)
  const origin = { secure: true, hostname: 'nowhere.example', port: 443, owner: 'a' }
  const request = { origin, path: '/v1/models', body: [], connectMs: 1, bodyBytesMax: 1, method: 'GET' as const }
  const config = configOf([{ id: 'a' }])
  expect(config.providers[0]?.models).toBe('*')
  expect(transport.request({ ...request, headers: headerBlock({}) }, new AbortController().signal)).rejects.toThrow(
    'no connection',
  )
})
