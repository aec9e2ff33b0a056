import { describe, expect, test } from 'bun:test'
import { settingsForTests, signInUnderTest, type RequestOptions, type SignInUnderTest } from '../testing.ts'

const forwarded = { address: '10.0.0.1', headers: { 'x-forwarded-for': '198.51.100.7' } }

/** Sends requests; returns the number of those that are not answered with 429. */
async function passed(
  subject: SignInUnderTest,
  requests: number,
  target: string,
  options?: RequestOptions,
): Promise<number> {
  let count = 0
  for (let request = 0; request < requests; request++) {
    const error: unknown = await subject.request(target, options).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (typeof error !== 'object' || error === null || Reflect.get(error, 'status') !== 429) count++
  }
  return count
}

describe('the rate limit of /auth', () => {
  test('applies to every route, and every route is public', () => {
    const routes = signInUnderTest().contribution.routes?.filter(({ path }) => path.startsWith('/auth'))
    expect(routes?.map(({ method, path, isPublic }) => [method, path, isPublic])).toEqual([
      ['GET', '/auth/provider', true],
      ['GET', '/auth/provider/callback', true],
      ['GET', '/auth', true],
      ['GET', '/auth/session', true],
      ['POST', '/auth/logout', true],
      ['GET', '/auth/', true],
      ['POST', '/auth/', true],
    ])
  })

  test('counts the requests of a client to all routes together', async () => {
    const subject = signInUnderTest({ ...settingsForTests, requestsPerMinute: 7 })
    for (const target of ['/auth', '/auth/session', '/auth/provider', '/auth/provider/callback', '/auth/nothing'])
      expect(await passed(subject, 1, target)).toBe(1)
    expect(await passed(subject, 1, '/auth/logout', { method: 'POST' })).toBe(1)
    expect(await passed(subject, 1, '/auth/nothing', { method: 'POST' })).toBe(1)
    await expect(subject.request('/auth')).rejects.toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'rate_limited',
      headers: { 'retry-after': '9' },
      advice: 'Try again in 9 seconds.',
    })
  })

  test('keeps a flood from filling the store, while another client signs in', async () => {
    const subject = signInUnderTest()
    expect(await passed(subject, 10_000, '/auth/provider')).toBe(120)
    expect(subject.host.stores.get('states')?.entries.size).toBe(120)
    expect(await passed(subject, 1, '/auth/provider', { address: '198.51.100.7' })).toBe(1)
  })

  test('allows requests again after the wait, and any number with 0', async () => {
    const subject = signInUnderTest()
    await passed(subject, 121, '/auth')
    subject.host.clock.ms += 1_000
    expect(await passed(subject, 5, '/auth')).toBe(2)
    expect(await passed(signInUnderTest({ ...settingsForTests, requestsPerMinute: 0 }), 1_000, '/auth')).toBe(1_000)
  })

  test('counts the clients of a trusted proxy apart, and warns once of an untrusted proxy', async () => {
    const behind = signInUnderTest({ ...settingsForTests, trustedProxies: ['10.0.0.0/8'] })
    await passed(behind, 200, '/auth', forwarded)
    expect(await passed(behind, 1, '/auth', { ...forwarded, headers: { 'x-forwarded-for': '198.51.100.8' } })).toBe(1)
    expect(behind.host.lines).toEqual([])
    const alone = signInUnderTest()
    expect(await passed(alone, 300, '/auth', forwarded)).toBe(120)
    expect(await passed(alone, 1, '/auth', { ...forwarded, headers: { 'x-forwarded-for': '198.51.100.8' } })).toBe(0)
    expect(alone.host.lines).toEqual([['warn', expect.stringContaining('trusted_proxies'), { address: '10.0.0.1' }]])
  })

  test('does not warn without X-Forwarded-For', async () => {
    const subject = signInUnderTest()
    await passed(subject, 300, '/auth')
    expect(subject.host.lines).toEqual([])
  })

  test('refuses before reading the session store', async () => {
    const subject = signInUnderTest()
    const headers = { 'x-session-token': await subject.signIn() }
    await passed(subject, 120, '/auth')
    for (const store of subject.host.stores.values()) store.isAway = true
    await expect(subject.request('/auth', { headers })).rejects.toMatchObject({ status: 429 })
  })

  test('does not apply to the chat', async () => {
    const subject = signInUnderTest()
    const headers = { 'x-session-token': await subject.signIn() }
    await passed(subject, 200, '/auth')
    for (let request = 0; request < 200; request++)
      expect(await subject.pass('/v1/models', { headers })).toMatchObject({ user: 'ada' })
  })
})
