import { describe, expect, test } from 'bun:test'
import { fakeStore } from '../../testing.ts'
import { parseAllowList } from '../settings/restrict-to.ts'
import { ada, settingsForTests, signInUnderTest, type SignInUnderTest } from '../testing.ts'
import { sessionCache } from './session-cache.ts'
import { ownerOf, type Session } from './sessions.ts'

const chat = '/v1/chat/completions',
  unavailable = { status: 503, code: 'store_unavailable', headers: { 'retry-after': '1' } }

interface Rig {
  readonly subject: SignInUnderTest
  readonly headers: Readonly<Record<string, string>>
  setAway(isAway: boolean): void
}

/** Ada has signed in and, by default, her session is in the cache. */
async function signedIn({ isCached = true } = {}): Promise<Rig> {
  const subject = signInUnderTest()
  const headers = { 'x-session-token': await subject.signIn() }
  if (isCached) await subject.pass(chat, { headers })
  return {
    subject,
    headers,
    setAway: (isAway) => {
      for (const store of subject.host.stores.values()) store.isAway = isAway
    },
  }
}

describe('while the store is unavailable, a cached session', () => {
  test('of the last minute passes, by header or cookie; others are 503', async () => {
    const { subject, headers, setAway } = await signedIn(),
      other = await subject.signIn({ ...ada, userName: 'grace' })
    setAway(true)
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada', profile: { userName: 'ada' } })
    expect(
      await subject.pass('/v1/models', { headers: { cookie: `token=${headers['x-session-token']}` } }),
    ).toMatchObject({ user: 'ada' })
    await expect(subject.pass(chat, { headers: { 'x-session-token': other } })).rejects.toMatchObject(unavailable)
    await expect(subject.pass(chat)).rejects.toMatchObject({ status: 401 })
  })

  test.each([
    [60_000, true],
    [60_001, false],
    [200_000, false],
  ])('passes for a minute after the store last returned it: after %d ms %p', async (ms, passes) => {
    const { subject, headers, setAway } = await signedIn()
    setAway(true)
    subject.host.clock.elapsedMs += 30_000
    await subject.pass(chat, { headers })
    subject.host.clock.elapsedMs += ms - 30_000
    const passing = subject.pass(chat, { headers })
    if (passes) expect(await passing).toMatchObject({ user: 'ada' })
    else await expect(passing).rejects.toMatchObject(unavailable)
    setAway(false)
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada' })
    subject.host.clock.elapsedMs += 60_000
    setAway(true)
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada' })
  })

  test('passes when the wall clock jumps, but not after its expiry', async () => {
    const { subject, headers, setAway } = await signedIn()
    setAway(true)
    subject.host.clock.ms += 86_400_000
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada' })
    subject.host.clock.ms++
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject({ status: 401 })
  })

  test('does not pass after signing out, even if the store could not delete it', async () => {
    for (const isAwayAtLogout of [false, true]) {
      const { subject, headers, setAway } = await signedIn()
      setAway(isAwayAtLogout)
      const leaving = subject.request('/auth/logout', { method: 'POST', headers })
      if (isAwayAtLogout) await expect(leaving).rejects.toMatchObject(unavailable)
      else expect((await leaving).status).toBe(200)
      setAway(true)
      await expect(subject.pass(chat, { headers })).rejects.toMatchObject(unavailable)
    }
  })

  test('does not pass after the store has returned that it does not exist', async () => {
    const { subject, headers, setAway } = await signedIn()
    const entries = subject.host.stores.get('sessions')?.entries
    entries?.clear()
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject({ status: 401 })
    setAway(true)
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject(unavailable)
  })

  test('is 503 at /auth', async () => {
    const { subject, headers, setAway } = await signedIn()
    setAway(true)
    for (const target of ['/auth', '/auth/session', '/auth/provider'])
      await expect(subject.request(target, { headers })).rejects.toMatchObject(unavailable)
  })

  test('is cached only by the guard with the same settings', async () => {
    const { subject, headers, setAway } = await signedIn({ isCached: false })
    const other = subject.withSettings({ ...settingsForTests, restrictTo: parseAllowList(['grace'], true) })
    setAway(true)
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject(unavailable)
    await expect(other.pass(chat, { headers })).rejects.toMatchObject(unavailable)
  })
})

describe('the session cache', () => {
  const session: Session = { ...ada, created: 1, realm: 'realm' }

  test('holds a bounded number of sessions, the latest', async () => {
    const store = fakeStore<Session>(),
      { withFallback } = sessionCache(store, () => 0, ownerOf)
    for (let index = 0; index < 30_000; index++) {
      await store.set(`${index}`, session, '')
      await withFallback.get(`${index}`)
    }
    store.isAway = true
    const known = await Promise.all(
      Array.from({ length: 30_000 }, (_, index) =>
        withFallback.get(`${index}`).then(
          () => index,
          () => -1,
        ),
      ),
    )
    const remembered = known.filter((index) => index >= 0)
    expect([remembered.length <= 20_000, remembered.length >= 10_000, remembered.at(-1)]).toEqual([true, true, 29_999])
  })

  test('does not cache a session that ended during a concurrent read', async () => {
    const store = fakeStore<Session>(),
      found = Promise.withResolvers<Session>(),
      taken = Promise.withResolvers<Session>()
    const { direct, withFallback } = sessionCache(
      { ...store, get: () => (store.isAway ? store.get('') : found.promise), take: () => taken.promise },
      () => 0,
      ownerOf,
    )
    const reading = withFallback.get('key'),
      ending = direct.take('key')
    found.resolve(session)
    await reading
    taken.resolve(session)
    await ending
    store.isAway = true
    await expect(withFallback.get('key')).rejects.toThrow('away')
  })

  test('does not hide other errors than StoreUnavailable', async () => {
    const store = fakeStore<Session>()
    let isBroken = false
    const { withFallback } = sessionCache(
      {
        ...store,
        get: async () => {
          if (isBroken) throw new TypeError('broken')
          return session
        },
      },
      () => 0,
      ownerOf,
    )
    await withFallback.get('key')
    isBroken = true
    await expect(withFallback.get('key')).rejects.toThrow(TypeError)
  })
})
