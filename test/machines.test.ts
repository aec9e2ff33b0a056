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
    'each machine learns by itself which provider fails, and its workers learn it together %p',
    async (flags: readonly string[]) => {
      const failing = faultUpstream((exchange) => exchange.write(errorReply(401, {}))),
        sound = faultUpstream(good())
      const start = () =>
        startService(
          { providers: [provider('failing', failing.url), provider('sound', sound.url)] },
          { flags: [...flags, '--store', redis.url] },
        )
      const triesFailing = async (url: string) =>
        (await chat(url, question(), { headers: { connection: 'close' } })).headers
          .get('x-svc-trail')
          ?.startsWith('failing')
      await using one = await start()
      await using other = await start()
      for (const [index, { url }] of [one, other].entries()) {
        // The third refusal starts the cool-down; a worker may send one more request before it receives the event.
        for (let round = 0; round < 10; round++) await triesFailing(url)
        expect(failing.hits.length).toBeGreaterThanOrEqual(3 * (index + 1))
        for (let round = 0; round < 4; round++) expect(await triesFailing(url)).toBe(false)
      }
      // Two workers without shared health would have sent three requests each.
      expect(failing.hits.length).toBeLessThanOrEqual(2 * (3 + Math.max(0, flags.length - 1)))
      failing.stop()
      sound.stop()
    },
    20_000,
  )

  test('while the store is away, chat goes on, and workers can be restarted', async () => {
    await using away = await startRedisServer()
    using well = faultUpstream(good())
    await using service = await startService(
      { providers: [provider('well', well.url)] },
      { flags: ['--workers', '2', '--store', away.url] },
    )
    await away.kill()
    service.signal('SIGUSR2')
    while (!/rolling restart (?:done|ends)/.test(service.output)) await Bun.sleep(10)
    expect(service.output).toContain('rolling restart done')
    expect((await chat(service.url, question())).status).toBe(200)
  }, 20_000)
})
