import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { startRedisServer, type RedisServer } from './fakes/redis-server.ts'
import { errorReply } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { needs } from './needs.ts'

const hasRedis = needs('redis-server') !== undefined

describe.skipIf(!hasRedis)('several machines with one store', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedisServer()
  })
  afterAll(() => redis.kill())

  test.each([[[]], [['--workers', '2']]])(
    'a provider that one finds sick the others leave alone, and so does one that comes later %p',
    async (flags: readonly string[]) => {
      // A name of its own: what others of this file know of their providers is in the same store.
      const id = `sick-${crypto.randomUUID().slice(0, 8)}`
      const sick = faultUpstream((exchange) => exchange.write(errorReply(500, {}))),
        well = faultUpstream(good())
      const start = () =>
        startService(
          { providers: [provider(id, sick.url), provider('well', well.url)] },
          { flags: [...flags, '--store', redis.url] },
        )
      const ask = async (url: string) =>
        (await chat(url, question(), { headers: { connection: 'close' } })).headers.get('x-svc-trail')?.startsWith(id)
      await using one = await start()
      await using other = await start()
      for (let round = 0; round < 10; round++) await ask(one.url)
      const found = sick.hits.length
      expect(found).toBeGreaterThanOrEqual(5)
      // News take a moment, but no worker finds it out by itself.
      expect(found).toBeLessThan(10)
      // Told, not asked for: it may be on its way.
      for (let round = 0; round < 100 && (await ask(other.url)) === true; round++) await Bun.sleep(5)
      const before = sick.hits.length
      await using later = await start()
      for (let round = 0; round < 100 && (await ask(later.url)) === true; round++) await Bun.sleep(5)
      for (const url of [one.url, other.url, later.url])
        for (let round = 0; round < 4; round++) expect(await ask(url)).toBe(false)
      // Alone it would have taken five.
      expect(before - found).toBeLessThan(5)
      sick.stop()
      well.stop()
    },
    20_000,
  )

  test('while the store is away, chat goes on, and workers can be restarted', async () => {
    await using away = await startRedisServer()
    const well = faultUpstream(good())
    await using service = await startService(
      { providers: [provider('well', well.url)] },
      { flags: ['--workers', '2', '--store', away.url] },
    )
    await away.kill()
    service.signal('SIGUSR2')
    while (!/rolling restart (?:done|ends)/.test(service.output)) await Bun.sleep(10)
    expect(service.output).toContain('rolling restart done')
    expect((await chat(service.url, question())).status).toBe(200)
    well.stop()
  }, 20_000)

  test('a provider that answers one of them again is asked by the others, too, before its time is over', async () => {
    const id = `back-${crypto.randomUUID().slice(0, 8)}`,
      { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>(),
      answer = good()
    let isFirst = true
    const back = faultUpstream(async (exchange) => {
        if (!isFirst) return await exchange.write(errorReply(401, {}))
        isFirst = false
        await mayAnswer
        await answer(exchange)
      }),
      well = faultUpstream(good())
    const start = () =>
      startService(
        { providers: [provider(id, back.url), provider('well', well.url)] },
        { flags: ['--store', redis.url] },
      )
    const trail = async (url: string) => (await chat(url, question())).headers.get('x-svc-trail') ?? ''
    await using one = await start()
    await using other = await start()
    const arrival = back.nextHit(),
      first = trail(one.url)
    await arrival
    // The third leaves it alone for a minute.
    for (let round = 0; round < 3; round++) expect(await trail(one.url)).toStartWith(id)
    while ((await trail(other.url)).startsWith(id)) await Bun.sleep(5)
    letAnswer()
    expect(await first).toStartWith(id)
    while (!(await trail(other.url)).startsWith(id)) await Bun.sleep(5)
    back.stop()
    well.stop()
  }, 20_000)

  test('a provider of another address, or another key, is not believed to be sick for having the same id', async () => {
    const id = `same-${crypto.randomUUID().slice(0, 8)}`
    const refuse = faultUpstream((exchange) => exchange.write(errorReply(401, {}))),
      sound = faultUpstream(good()),
      well = faultUpstream(good())
    const start = (url: string, key: string) =>
      startService(
        { providers: [provider(id, url, ['m'], { api_key: key }), provider('well', well.url)] },
        { flags: ['--workers', '1', '--store', redis.url] },
      )
    const trail = async (url: string) => (await chat(url, question())).headers.get('x-svc-trail') ?? ''
    await using sick = await start(refuse.url, 'one')
    await using same = await start(refuse.url, 'one')
    await using elsewhere = await start(sound.url, 'one')
    await using otherAccount = await start(refuse.url, 'two')
    for (let round = 0; round < 3; round++) expect(await trail(sick.url)).toStartWith(id)
    // Who means the same has heard of it; the others were told at the same time.
    while ((await trail(same.url)).startsWith(id)) await Bun.sleep(5)
    expect([await trail(elsewhere.url), await trail(otherAccount.url)]).toEqual([
      expect.stringContaining(`${id};status=200`),
      expect.stringContaining(`${id};status=401`),
    ])
    await using later = await start(sound.url, 'one')
    expect(await trail(later.url)).toStartWith(`${id};status=200`)
    for (const upstream of [refuse, sound, well]) upstream.stop()
  }, 20_000)
})
