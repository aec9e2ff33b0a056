import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, type Answer } from '../client.ts'
import { goodText } from '../fakes/good.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { startRedis, type Redis } from '../fakes/redis.ts'
import { needs } from '../needs.ts'
import { freePort, register, startSignIn, type SignInRig } from './rig.ts'

const redisServer = needs('redis-server')

/** Two services with one store, as behind a load balancer. */
describe.skipIf(redisServer === undefined)('--store redis://…', () => {
  const port = freePort()
  let redis: Redis, one: SignInRig<Github>, two: SignInRig<Github>
  const stops: (() => PromiseLike<void>)[] = []

  /** Identity provider of the first service, which the second uses without stopping it. */
  const lent = (): Github => ({ ...one.provider, stop: () => Promise.resolve() })

  beforeAll(async () => {
    redis = await startRedis(port)
    stops.unshift(redis.stop)
    const registration = register()
    const flags = ['--store', redis.url]
    one = await startSignIn(startGithub, { registration, flags })
    stops.unshift(one[Symbol.asyncDispose])
    two = await startSignIn(lent, { registration, flags, port: 0 })
    stops.unshift(two[Symbol.asyncDispose])
    for (const rig of [one, two]) rig.remember(redis.password)
  })

  // Runs also if a later start failed.
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  test('a session of one service › is valid at the other, and ends at both', async () => {
    const { token } = await one.signIn()
    two.remember(token)
    expect([
      (await one.ask({ 'x-session-token': token })).status,
      (await two.ask({ authorization: `Bearer ${token}` })).status,
    ]).toEqual([200, 200])
    await fetch(`${two.service.url}/auth/logout`, { method: 'POST', headers: { 'x-session-token': token } })
    expect([
      (await one.ask({ 'x-session-token': token })).status,
      (await two.ask({ 'x-session-token': token })).status,
    ]).toEqual([401, 401])
  })

  test('a flow started at one › completes at the other, once', async () => {
    const browser = one.browser(),
      callback = new URL(await one.authorize(browser))
    const atTwo = `${two.service.url}${callback.pathname}${callback.search}`
    const backs = await Promise.all([browser.visit(callback.href), browser.visit(atTwo)])
    expect(backs.map(({ status }) => status).toSorted()).toEqual([302, 400])
  })

  test('the store holds neither tokens nor states', async () => {
    const browser = one.browser(),
      callback = new URL(await one.authorize(browser))
    const { token } = await one.signIn()
    const dump = await redis.dump()
    const secrets = [
      token,
      callback.searchParams.get('state') ?? '',
      callback.searchParams.get('code') ?? '',
      ...browser.jar.cookies(one.service.url).values(),
    ]
    expect(dump).toContain('ada')
    expect(secrets.filter((secret) => secret === '' || dump.includes(secret))).toEqual([])
  })

  test('a restarted service › keeps sessions', async () => {
    const { token } = await one.signIn()
    await using three = await startSignIn(lent, {
      registration: one.registration,
      flags: ['--store', redis.url],
      port: 0,
    })
    expect((await three.ask({ 'x-session-token': token })).status).toBe(200)
    three.remember(token)
  })

  test('Redis is down › 503 with Retry-After, and all routes stay closed; up again › all works', async () => {
    const { token, browser } = await one.signIn()
    await redis.kill()
    const gone = [
      await one.ask({ 'x-session-token': token }),
      await one.ask({ cookie: browser.jar.header(one.service.url) ?? '' }),
      await one.get('/auth/session', { 'x-session-token': token }),
      await one.get('/auth/provider'),
      await one.get('/v1/models', { 'x-session-token': token }),
    ]
    expect(
      gone.map((answer) => [answer.status, errorOf(answer)?.code, Number(answer.headers.get('retry-after')) > 0]),
    ).toEqual(Array.from({ length: 5 }, () => [503, 'store_unavailable', true]))
    expect([(await one.ask()).status, (await one.get('/health')).status, (await one.get('/')).status]).toEqual([
      401, 200, 200,
    ])
    await redis.start()
    await found(() => one.get('/auth/provider'))
    const again = await one.signIn()
    expect((await one.ask({ 'x-session-token': again.token })).status).toBe(200)
  }, 30_000)

  test('Redis is down › recently used sessions stay valid until signed out; others are 503', async () => {
    const { token } = await one.signIn(),
      { token: unseen } = await one.signIn()
    expect((await one.ask({ 'x-session-token': token })).status).toBe(200)
    await redis.kill()
    expect((await one.ask({ authorization: `Bearer ${token}` })).content).toBe(goodText())
    expect([
      (await one.ask({ 'x-session-token': unseen })).status,
      (await two.ask({ 'x-session-token': token })).status,
      (await one.get('/auth/session', { 'x-session-token': token })).status,
    ]).toEqual([503, 503, 503])
    expect(
      (await fetch(`${one.service.url}/auth/logout`, { method: 'POST', headers: { 'x-session-token': token } })).status,
    ).toBe(503)
    expect((await one.ask({ 'x-session-token': token })).status).toBe(503)
    await redis.start()
    await found(() => one.get('/auth/provider'))
    expect((await one.ask({ 'x-session-token': unseen })).status).toBe(401)
  }, 30_000)

  test('Redis hangs › one request waits, others fail at once; it continues › all works', async () => {
    const { token } = await one.signIn(),
      { token: unseen } = await one.signIn()
    await one.ask({ 'x-session-token': token })
    redis.pause()
    expect((await one.ask({ 'x-session-token': token })).status).toBe(200)
    const started = performance.now()
    for (let round = 0; round < 20; round++)
      expect([
        (await one.ask({ 'x-session-token': token })).status,
        (await one.ask({ 'x-session-token': unseen })).status,
      ]).toEqual([200, 503])
    expect(performance.now() - started).toBeLessThan(8_000)
    redis.resume()
    expect((await found(() => one.ask({ 'x-session-token': unseen }))).status).toBe(200)
  }, 30_000)

  /** Retries until the answer is not 503 of the store. */
  async function found(ask: () => Promise<Answer>): Promise<Answer> {
    for (let round = 0; round < 500; round++) {
      const answer = await ask()
      if (answer.status !== 503) return answer
      await Bun.sleep(10)
    }
    throw new Error(`the store was not found again:\n${one.service.output}`)
  }
})

test.each([
  ['of another kind', 'memcached://user:zq-password@127.0.0.1:1'],
  ['that is no URL', 'zq-password'],
  ['with more behind it', 'redis://:zq-password@127.0.0.1:1/0?tls=zq-password'],
])('a store %s › exit 2, without the password', async (_, url) => {
  const failure = await startSignIn(startGithub, { flags: ['--store', url] }).then(() => 'it started', String)
  expect(failure).toContain('exited with 2')
  expect(failure).not.toContain('zq-password')
})

test('an unreachable store at the start › no start', async () => {
  const failure = await startSignIn(startGithub, {
    flags: ['--store', `redis://:zq-password@127.0.0.1:${freePort()}`],
  }).then(() => 'it started', String)
  expect(failure).toContain('exited with 1')
  expect(failure).not.toContain('zq-password')
})
