import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf } from '../client.ts'
import type { Answer } from '../client.ts'
import { goodText } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import type { Github } from '../fakes/identity/github.ts'
import { startRedis } from '../fakes/redis.ts'
import type { Redis } from '../fakes/redis.ts'
import { needs } from '../needs.ts'
import { freePort, register, startSignIn } from './rig.ts'
import type { SignInRig } from './rig.ts'

const redisServer = needs('redis-server')

/** Two services that share one store, as behind one address. */
describe.skipIf(redisServer === undefined)('--store redis://…', () => {
  const port = freePort()
  let redis: Redis, one: SignInRig<Github>, two: SignInRig<Github>
  const stops: (() => PromiseLike<void>)[] = []

  /** The first one's identity provider, which stays its own. */
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

  // What was started, even when the next thing was not.
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  test('signed in at one › known at the other, and signed out at the other, at both', async () => {
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

  test('a flow begun at one › ends at the other, once', async () => {
    const browser = one.browser(),
      callback = new URL(await one.approach(browser))
    const atTwo = `${two.service.url}${callback.pathname}${callback.search}`
    const backs = await Promise.all([browser.visit(callback.href), browser.visit(atTwo)])
    expect(backs.map(({ status }) => status).toSorted()).toEqual([302, 400])
  })

  test('nothing that lets anybody in lies there: neither tokens nor states', async () => {
    const browser = one.browser(),
      callback = new URL(await one.approach(browser))
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

  test('a service that starts again › knows who was signed in', async () => {
    const { token } = await one.signIn()
    await using three = await startSignIn(lent, {
      registration: one.registration,
      flags: ['--store', redis.url],
      port: 0,
    })
    expect((await three.ask({ 'x-session-token': token })).status).toBe(200)
    three.remember(token)
  })

  test('Redis is gone › 503 with Retry-After, and nothing is open; back › all goes on', async () => {
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

  test('Redis is gone › who chatted just before chats on, and nobody else; signing out is the end of it', async () => {
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

  test('Redis hangs › one waits for it, the others do not; it goes on › all is well', async () => {
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

  /** The first answer that is not about the store. */
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
])('a store %s › exit 2, and nothing of it is told', async (_, url) => {
  const failure = await startSignIn(startGithub, { flags: ['--store', url] }).then(() => 'it started', String)
  expect(failure).toContain('exited with 2')
  expect(failure).not.toContain('zq-password')
})

test('a store where nobody answers, at the start › no start, rather than one that forgets', async () => {
  const failure = await startSignIn(startGithub, {
    flags: ['--store', `redis://:zq-password@127.0.0.1:${freePort()}`],
  }).then(() => 'it started', String)
  expect(failure).toContain('exited with 1')
  expect(failure).not.toContain('zq-password')
})
