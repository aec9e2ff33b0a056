import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf, chat, parseJson, pick, question, type Answer } from './client.ts'
import { faultUpstream, type Script } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { metered, price } from './fakes/metered.ts'
import { chunk, event, framed, reply, streamHead } from './fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

const nanoPerUsd = 1e9

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

function upstreamOf(script: Script): string {
  const upstream = faultUpstream(script)
  stops.push(() => upstream.stop())
  return upstream.url
}

function access(...limits: readonly object[]): string {
  return JSON.stringify({ limits })
}

async function until(claim: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !(await claim()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error('it never came true')
}

describe('a server of your own without a price, before a paid one', () => {
  const listing: Script = (exchange) =>
    exchange.hit.path.endsWith('/models')
      ? exchange.write(reply(200, JSON.stringify({ data: [{ id: 'm' }] })))
      : good({ name: 'own' })(exchange)
  const startWith = (own: object, limit: object) =>
    startService(
      JSON.stringify({
        providers: [
          { id: 'own', base_url: upstreamOf(listing), ...own },
          { id: 'paid', base_url: upstreamOf(good({ name: 'paid' })), models: [{ name: 'm', price }] },
        ],
      }),
      { files: { 'access.json': access({ for: 'everyone', usd: 5, per: 'day', ...limit }) } },
    )
  const trailOf = async ({ url }: ServiceUnderTest) => {
    await until(async () => (await fetch(`${url}/v1/models/own/m`)).status === 200)
    return (await chat(url, question({ max_tokens: 5 }))).headers.get('x-svc-trail')?.replaceAll(/ms=\d+/g, 'ms')
  }
  const warningsOf = ({ logs }: ServiceUnderTest) =>
    logs.filter(({ message }) => String(message).startsWith('no price is known for m at own'))

  test('is asked behind it, which the log and the page say', async () => {
    await using service = await startWith({}, {})
    await until(() => warningsOf(service).length === 1)
    expect(await trailOf(service)).toBe('own;class=no_price;ms, paid;status=200;ms')
    const answer: unknown = await (await fetch(`${service.url}/api/providers`)).json()
    const entries = pick(answer, 'providers')
    expect(Array.isArray(entries) && entries.map((entry) => pick(entry, 'unpriced'))).toEqual([
      { models: ['m'], areRefused: false },
      undefined,
    ])
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('svc_attempts_total{provider="own",model="m",outcome="no_price"} 1\n')
    // It was not asked, which took no time.
    expect(metrics).toContain('svc_attempt_seconds_count{provider="own"} 0\n')
  })

  test.each([
    ['"price": 0 says that it costs nothing', { price: 0 }, {}],
    ['"unpriced": "ask" lets it answer', {}, { unpriced: 'ask' }],
  ])('answers first, without a warning: %s', async (_name, own, limit) => {
    await using service = await startWith(own, limit)
    expect(await trailOf(service)).toBe('own;status=200;ms')
    expect(warningsOf(service)).toEqual([])
  })
})

test('a client that asks for very many answers and leaves does not use up the budget of all', async () => {
  let hits = 0
  const script: Script = (exchange) => ((hits += 1) === 1 ? exchange.hang() : good()(exchange))
  const models = [{ name: 'm', price }]
  await using service = await startService(
    { providers: [{ ...provider('a', upstreamOf(script)), models }] },
    { files: { 'access.json': access({ for: 'everyone', usd: 2, per: 'total' }) } },
  )
  const leaving = new AbortController()
  const left = chat(service.url, question({ max_tokens: 1e9, n: 1_000_000 }), { signal: leaving.signal })
  await until(() => hits === 1)
  leaving.abort()
  await expect(left).rejects.toThrow()
  // Until the service knows that the client left, the request holds all of it.
  await until(async () => (await chat(service.url, question({ max_tokens: 50 }))).status === 200)
}, 15_000)

const codeOf = (answer: Answer): string => `${answer.status} ${String(pick(answer.json, 'error', 'code'))}`
const startMs = 30_000

describe('with limits of money', () => {
  const free = { input: 0, output: 0 }
  const broken: Script = (exchange) => exchange.write(reply(500, '{}'))
  const everyone = { for: 'everyone', per: 'total' }
  const limits = [
    { for: 'everyone', usd: 0.00005, per: 'day', models: ['used*'] },
    { ...everyone, usd: 0, models: ['none', 'other/*', 'gated', 'open', 'listed'] },
    { ...everyone, usd: 5, models: ['unpriced', 'priced-later'] },
    { ...everyone, usd: 5, models: ['unpriced-hard'], hard: true },
    { for: 'provider:first', usd: 0.00001, per: 'day' },
  ]
  let service: ServiceUnderTest

  beforeAll(async () => {
    const entry = (id: string, script: Script, ...models: readonly (readonly [name: string, price?: object])[]) => ({
      ...provider(id, upstreamOf(script)),
      models: models.map(([name, own]) => (own === undefined ? name : { name, price: own })),
    })
    const providers = [
      entry('broken', broken, ['gated', free]),
      entry('unpriced', good(), ['unpriced'], ['unpriced-hard'], ['priced-later'], ['unlimited']),
      entry('first', good({ name: 'first' }), ['passed', price]),
      entry(
        'paid',
        good({ name: 'paid' }),
        ...['used', 'none', 'gated', 'open', 'passed', 'priced-later'].map((name) => [name, price] as const),
      ),
      entry('free', good({ name: 'free' }), ['open', free]),
      { ...provider('far', upstreamOf(good())), models: [{ name: 'listed', upstream: 'far-1', price }] },
    ]
    service = await startService(
      { providers, aliases: { nothing: 'none', renamed: 'listed' } },
      { files: { 'access.json': access(...limits) } },
    )
  }, startMs)
  afterAll(() => service[Symbol.asyncDispose]())

  const ask = (model: string, more: object = {}) => chat(service.url, question({ model, max_tokens: 50, ...more }))

  test('a used budget answers 429, with the limit and its window, without retry-after', async () => {
    expect((await ask('used')).status).toBe(200)
    const refused = await ask('used')
    expect(refused.status).toBe(429)
    expect(refused.json).toEqual({
      error: {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
        param: null,
        message: expect.stringMatching(
          /^The budget for everyone, a day for used\*, is used up .*; it begins again at [\d-]{10} 00:00 \(UTC\)$/,
        ),
      },
    })
    expect(refused.headers.get('retry-after')).toBeNull()
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('x-svc-trail')).toBe('paid;class=budget;ms=0')
  })

  test.each([
    [
      '/v1/chat/completions',
      { model: 'none', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
      429,
      'insufficient_quota',
    ],
    [
      '/v1/messages',
      { model: 'none', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
      402,
      'billing_error',
    ],
    ['/v1/responses', { model: 'none', input: 'Hi' }, 429, 'insufficient_quota'],
    ['/v1beta/models/none:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }, 429, 'RESOURCE_EXHAUSTED'],
  ] as const)('it answers in the shape of %s', async (path, body, status, type) => {
    const response = await fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) })
    const answer = answerOf(response, await response.text())
    expect(answer.status).toBe(status)
    expect([pick(answer.json, 'error', 'type'), pick(answer.json, 'error', 'status')]).toContain(type)
  })

  test.each(['none', 'paid/none', 'nothing', 'NONE', 'listed', 'far/LISTED', 'renamed'])(
    'no other name of a model evades its limit: %s',
    async (model) => {
      expect(codeOf(await ask(model))).toBe('429 insufficient_quota')
    },
  )

  test('a provider budget passes the provider over in its turn, and the next one answers', async () => {
    expect((await ask('passed')).headers.get('x-svc-provider')).toBe('first')
    const second = await ask('passed')
    expect(second.content).toStartWith('paid-0')
    expect(second.headers.get('x-svc-trail')).toMatch(/^first;class=budget;ms=0, paid;status=200;ms=\d+$/)
  })

  describe('complaint: a free model falls back to a paid one behind the gate', () => {
    test('is not so: money is held for each attempt, at the price of its provider', async () => {
      const answer = await ask('gated')
      expect(answer.headers.get('x-svc-trail')).toMatch(
        /^broken;status=500;class=server_error;ms=\d+, paid;class=budget;ms=0$/,
      )
      expect(codeOf(answer)).toBe('502 provider_error')
    })

    test('nor are free models blocked: one answers when the paid one is passed over', async () => {
      expect((await ask('open')).content).toStartWith('free-0')
    })
  })

  describe('complaint: unknown, stale, confused prices', () => {
    test('are asked under a budget if no other can answer, and the trail says why they were not first', async () => {
      const answer = await ask('unpriced')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-svc-trail')).toMatch(/^unpriced;class=no_price;ms=0, unpriced;status=200;ms=\d+$/)
    })

    test('are refused under a hard limit, and the error names the field that sets one', async () => {
      const answer = await ask('unpriced-hard')
      expect(codeOf(answer)).toBe('403 model_price_unknown')
      expect(pick(answer.json, 'error', 'message')).toContain(
        'set "price" of the model or the provider in providers.json',
      )
      expect(answer.headers.get('x-should-retry')).toBe('false')
    })

    test('are passed over when another provider has one', async () => {
      expect((await ask('priced-later')).content).toStartWith('paid-0')
    })

    test('do not matter without a budget', async () => {
      expect((await ask('unlimited')).status).toBe(200)
    })
  })

  test('a changed amount counts from the next request on, and a provider that was passed over is healthy', async () => {
    await service.write(
      'access.json',
      access({ ...everyone, usd: 9, models: ['none'] }, { for: 'provider:first', usd: 1, per: 'day' }),
    )
    await until(async () => (await ask('none')).status === 200)
    expect((await ask('passed')).headers.get('x-svc-provider')).toBe('first')
  })

  test.each([
    [{ for: 'provider:fist', usd: 1, per: 'day' }, 'did you mean'],
    [{ ...everyone, usd: 1, per: 'minute' }, 'limits[0].per: found'],
  ])('a limit that cannot be kept is a fault, and the others stay in force: %j', async (limit, fault) => {
    await service.write('access.json', access(limit))
    await until(() => service.output.includes(fault))
    expect((await ask('none')).status).toBe(200)
  })
})

test('a hard budget lowers what is asked for, and ends a stream that goes on', async () => {
  let asked: unknown
  const endless: Script = async ({ hit, write }) => {
    asked = JSON.parse(new TextDecoder().decode(hit.body))
    await write(streamHead)
    for (let count = 0; count < 20_000; count += 1) await write(framed(event(chunk({ content: 'abcd' }))))
  }
  const models = [{ name: 'm', price: { input: 0, output: 10 } }]
  const usd = 0.02
  await using service = await startService(
    { providers: [{ ...provider('a', upstreamOf(endless)), models }] },
    { files: { 'access.json': access({ for: 'everyone', usd, per: 'total', hard: true }) } },
  )
  const answer = await chat(service.url, question({ stream: true, max_tokens: 100_000 }))
  // 2,000 tokens, of which a quarter is the margin.
  expect(asked).toMatchObject({ max_tokens: 1_600 })
  expect(answer.headers.get('x-svc-trail')).toMatch(/^a;status=200;max_tokens=1600;ms=/)
  expect(
    pick(
      parseJson(answer.events.findLast(({ data }) => data.includes('finish_reason":"'))?.data ?? ''),
      'choices',
      0,
      'finish_reason',
    ),
  ).toBe('length')
  expect(answer.content.length / 4).toBeLessThanOrEqual(2_001)
  expect(answer.events.at(-1)?.data).toBe('[DONE]')
  await until(() => service.output.includes('"ended_at_limit":true'))
  expect(codeOf(await chat(service.url, question({ max_tokens: 100 })))).toBe('429 insufficient_quota')
}, 20_000)

describe('complaint: budgets overshot by concurrency', () => {
  test.each([
    ['one process', []],
    ['4 workers', ['--workers', '4']],
  ])(
    'are not: 256 callers and %s spend the limit and one request at most, and all of it is booked',
    async (_, flags) => {
      const { upstream, bill } = metered()
      stops.push(() => upstream.stop())
      const limit = 0.025 * nanoPerUsd
      const limitsOf = (nano: number, marker: string) =>
        access(
          { for: 'everyone', usd: nano / nanoPerUsd, per: 'total', models: ['m'] },
          { for: 'everyone', usd: 0, per: 'total', models: [marker] },
        )
      const markers = ['first', 'second'].map((name) => ({ name, price }))
      const providers = [
        { ...provider('a', upstream.url), models: [{ name: 'm', price }] },
        { ...provider('b', upstreamOf(good())), models: markers },
      ]
      const home = mkdtempSync(join(tmpdir(), 'svc-budgets-'))
      stops.push(() => rmSync(home, { recursive: true, force: true }))
      const own = (text: string) => writeFileSync(join(home, 'access.json'), text)
      own(limitsOf(limit, 'none'))
      await using service = await startService({ providers }, { environment: { SVC_HOME: home }, flags })
      let refusals = 0
      const callers = Array.from({ length: 256 }, async (__, caller) => {
        for (let turn = 0; turn < 4; turn++) {
          const max_tokens = 1 + Math.floor(Math.random() * 60)
          const answer = await chat(service.url, question({ max_tokens, stream: caller % 2 === 0 }))
          if (answer.status === 200) continue
          expect(codeOf(answer)).toBe('429 insufficient_quota')
          refusals += 1
        }
      })
      await Promise.all(callers)
      expect(refusals).toBeGreaterThan(100)
      expect(bill.nano).toBeGreaterThan(0.9 * limit)
      expect(bill.nano).toBeLessThanOrEqual(limit + bill.dearest)

      /** The answer under another limit, when all workers have it: they refuse the model of the marker, too. */
      const limitedTo = async (nano: number, marker: string) => {
        own(limitsOf(nano, marker))
        const isRefused = async () =>
          (await chat(service.url, question({ model: marker, max_tokens: 1 }))).status === 429
        await until(async () => (await Promise.all(Array.from({ length: 32 }, isRefused))).every(Boolean))
        return codeOf(await chat(service.url, question({ max_tokens: 1 })))
      }
      // The booked sum equals the bill: a limit of that amount refuses, one nano-USD more admits.
      const spent = bill.nano
      expect(await limitedTo(spent, 'first')).toBe('429 insufficient_quota')
      expect(await limitedTo(spent + 1, 'second')).toBe('200 undefined')
      await service.stop()
      const ledger = new Database(join(home, 'svc.db'), { readonly: true })
      const sums = ledger
        .query<{ cost: number }, []>(
          `SELECT sum(cost) AS cost FROM usage_hour JOIN label ON label.id = provider WHERE label.text = 'a'`,
        )
        .all()
      ledger.close()
      expect(sums).toEqual([{ cost: bill.nano }])
    },
    60_000,
  )
})
