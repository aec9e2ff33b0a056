import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { hashedKey } from '../src/limits/redis/peer.ts'
import { chat, pick, question, type Answer } from './client.ts'
import { faultUpstream, type FaultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { metered, price } from './fakes/metered.ts'
import { startRedisServer, type RedisServer } from './fakes/redis-server.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'
import { needs } from './needs.ts'

const nanoPerUsd = 1e9
/** Of the limit for the model `counted`. */
const countedKey = hashedKey('requests day ["everyone","",["counted"]]')
const paid = ['paid', 'lenient'].map((name) => ({ name, price }))
const access = JSON.stringify({
  limits: [
    { for: 'everyone', requests: 1_000_000, at_once: 1_000 },
    { for: 'everyone', models: ['slots'], at_once: 3 },
    { for: 'everyone', models: ['counted'], requests: 10, per: 'day' },
    { for: 'everyone', models: ['paid'], usd: 0.01, per: 'month' },
    { for: 'everyone', models: ['lenient'], usd: 1, per: 'month', when_away: 'open' },
  ],
})

async function until(claim: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + 8_000; !(await claim()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error('it never came true')
}

const codeOf = (answer: Answer): string => `${answer.status} ${String(pick(answer.json, 'error', 'code') ?? 'ok')}`

describe.skipIf(needs('redis-server') === undefined)('two machines with one store', () => {
  let redis: RedisServer
  let direct: RedisClient
  let upstream: FaultUpstream
  const { upstream: billing, bill } = metered()
  let one: ServiceUnderTest
  let other: ServiceUnderTest

  beforeAll(async () => {
    redis = await startRedisServer()
    direct = new RedisClient(redis.url, { autoReconnect: false })
    upstream = faultUpstream(good())
    const start = (...flags: readonly string[]) =>
      startService(
        {
          providers: [
            provider('sound', upstream.url, ['m', 'slots', 'counted']),
            { ...provider('metered', billing.url), models: paid },
          ],
        },
        { flags: ['--store', redis.url, ...flags], files: { 'access.json': access } },
      )
    ;[one, other] = await Promise.all([start(), start('--workers', '2')])
  }, 20_000)
  afterAll(async () => {
    await Promise.all([one, other].map((each) => each[Symbol.asyncDispose]()))
    for (const each of [upstream, billing]) each.stop()
    direct.close()
    await redis.kill()
  }, 20_000)

  function ask({ url }: ServiceUnderTest, model: string, more: object = {}): Promise<Answer> {
    return chat(url, question({ model, ...more }), { headers: { connection: 'close' } })
  }

  test('keep one limit of requests together, exactly', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, turn) => ask(turn % 2 ? one : other, 'counted')))
    const codes = answers.map(codeOf)
    expect(codes.filter((code) => code === '200 ok')).toHaveLength(10)
    expect(new Set(codes)).toEqual(new Set(['200 ok', '429 rate_limit_exceeded']))
  })

  test('keep a budget together: it is exceeded by one request at most, and used to its end', async () => {
    const limit = 0.01 * nanoPerUsd
    const round = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, turn) => ask(turn % 2 ? one : other, 'paid', { max_tokens: 50 })))
    const early = await round(60)
    while (bill.nano < limit) await round(1)
    // An answer may reach its client before its cost reaches the store.
    await until(async () => (await spentInStore()) >= bill.nano)
    const late = await round(40)
    expect(new Set(early.map(codeOf))).toEqual(new Set(['200 ok', '429 insufficient_quota']))
    expect(new Set(late.map(codeOf))).toEqual(new Set(['429 insufficient_quota']))
    expect(bill.nano).toBeWithin(limit, limit + bill.dearest + 1)
  })

  async function spentInStore(): Promise<number> {
    const keys = (await direct.keys('svc:limits:*')).filter((key) => !key.endsWith(':alive'))
    return Math.max(...(await Promise.all(keys.map(async (key) => Number(await direct.hget(key, 'spent'))))))
  }

  /** Opens requests that do not end; they end with their process. */
  async function occupy(service: ServiceUnderTest, count: number): Promise<void> {
    upstream.use(({ hang }) => hang())
    for (let open = 0; open < count;) {
      const arrived = upstream.nextHit().then(() => true)
      const asking = ask(service, 'slots')
      // Refused while the other machine returns a slot: its client may know first.
      if (await Promise.race([arrived, asking.then(() => false)])) open += 1
      asking.catch(() => undefined)
    }
    upstream.use(good())
  }

  /** Living processes answer again before anything is asked; the others have been silent for 10 s. */
  async function letTimePass(): Promise<void> {
    for (const [name, last] of Object.entries(await direct.hgetall('svc:limits:alive')))
      await direct.hset(
        'svc:limits:alive',
        name,
        last.replace(/^\d+/, (at) => String(Number(at) - 10_000_000)),
      )
  }

  test('keep slots together; those of a machine that was killed are free 10 s after its last word', async () => {
    await occupy(one, 2)
    expect(codeOf(await ask(other, 'slots'))).toBe('200 ok')
    await occupy(one, 1)
    expect(codeOf(await ask(other, 'slots'))).toBe('429 concurrency_limit_exceeded')
    one.signal('SIGKILL')
    await until(() =>
      fetch(one.url).then(
        () => false,
        () => true,
      ),
    )
    expect(codeOf(await ask(other, 'slots'))).toBe('429 concurrency_limit_exceeded')
    await letTimePass()
    const answers = await Promise.all(Array.from({ length: 3 }, () => ask(other, 'slots')))
    expect(answers.map(codeOf)).toEqual(['200 ok', '200 ok', '200 ok'])
  })

  test('go on alone while the store is away, and together when it is back, with what was counted alone', async () => {
    await redis.kill()
    expect(codeOf(await ask(other, 'm'))).toBe('200 ok')
    const unpaid = await ask(other, 'paid')
    expect([codeOf(unpaid), unpaid.headers.get('retry-after')]).toEqual(['503 store_unavailable', '1'])
    expect(codeOf(await ask(other, 'lenient'))).toBe('200 ok')
    // Both workers answer. Each may not have seen the others yet.
    const alone = await askInTurn(other, 'counted', 30)
    expect(alone).toBeWithin(3, 21)
    redis = await startRedisServer({ port: redis.port })
    direct = new RedisClient(redis.url, { autoReconnect: false })
    await until(async () => {
      await Promise.all([1, 2, 3, 4].map(() => ask(other, 'm')))
      return Number(await direct.hget(countedKey, 'used')) > alone - 0.5
    })
    expect(await askInTurn(other, 'counted', 22)).toBe(Math.max(0, 10 - alone))
    // The store has forgotten what was spent. The machine has not.
    expect(codeOf(await ask(other, 'paid'))).toBe('429 insufficient_quota')
  }, 15_000)

  /** @returns the number of requests that were answered */
  async function askInTurn(service: ServiceUnderTest, model: string, count: number): Promise<number> {
    let answered = 0
    for (let request = 0; request < count; request++) if ((await ask(service, model)).status === 200) answered += 1
    return answered
  }
})
