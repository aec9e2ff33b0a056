import { describe, expect, test } from 'bun:test'
import { parseAllowList } from './restrict-to.ts'
import { seenSessions } from './seen-sessions.ts'
import type { Session } from './sessions.ts'
import { ada, fakeStore, settingsForTests, signInUnderTest, type SignInUnderTest } from './testing.ts'

const chat = '/v1/chat/completions',
  unavailable = { status: 503, code: 'store_unavailable', headers: { 'retry-after': '1' } }

interface Rig {
  readonly subject: SignInUnderTest
  readonly headers: Readonly<Record<string, string>>
  goAway(isAway: boolean): void
}

/** Ada has signed in and, unless told otherwise, been seen at the guard. */
async function signedIn({ wasSeen = true } = {}): Promise<Rig> {
  const subject = signInUnderTest()
  const headers = { 'x-session-token': await subject.signIn() }
  if (wasSeen) await subject.pass(chat, { headers })
  return {
    subject,
    headers,
    goAway: (isAway) => {
      for (const store of subject.host.stores.values()) store.isAway = isAway
    },
  }
}

describe('while the store is away, whoever was seen', () => {
  test('within the last minute passes, by header or cookie, and nobody else does', async () => {
    const { subject, headers, goAway } = await signedIn(),
      other = await subject.signIn({ ...ada, userName: 'grace' })
    goAway(true)
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
  ])('passes for a minute, counted from the last time the store knew them: after %d ms %p', async (ms, passes) => {
    const { subject, headers, goAway } = await signedIn()
    goAway(true)
    subject.host.clock.elapsedMs += 30_000
    await subject.pass(chat, { headers })
    subject.host.clock.elapsedMs += ms - 30_000
    const passing = subject.pass(chat, { headers })
    if (passes) expect(await passing).toMatchObject({ user: 'ada' })
    else await expect(passing).rejects.toMatchObject(unavailable)
    goAway(false)
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada' })
    subject.host.clock.elapsedMs += 60_000
    goAway(true)
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada' })
  })

  test('passes however the wall clock jumps, but not beyond the end of the session', async () => {
    const { subject, headers, goAway } = await signedIn()
    goAway(true)
    subject.host.clock.ms += 86_400_000
    expect(await subject.pass(chat, { headers })).toMatchObject({ user: 'ada' })
    subject.host.clock.ms++
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject({ status: 401 })
  })

  test('does not pass after signing out, also when that could not be told the store', async () => {
    for (const isAwayAtLogout of [false, true]) {
      const { subject, headers, goAway } = await signedIn()
      goAway(isAwayAtLogout)
      const leaving = subject.ask('/auth/logout', { method: 'POST', headers })
      if (isAwayAtLogout) await expect(leaving).rejects.toMatchObject(unavailable)
      else expect((await leaving).status).toBe(200)
      goAway(true)
      await expect(subject.pass(chat, { headers })).rejects.toMatchObject(unavailable)
    }
  })

  test('does not pass when the store had said before that the session is over', async () => {
    const { subject, headers, goAway } = await signedIn()
    const entries = subject.host.stores.get('sessions')?.entries
    entries?.clear()
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject({ status: 401 })
    goAway(true)
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject(unavailable)
  })

  test('is told nothing at /auth', async () => {
    const { subject, headers, goAway } = await signedIn()
    goAway(true)
    for (const target of ['/auth', '/auth/session', '/auth/provider'])
      await expect(subject.ask(target, { headers })).rejects.toMatchObject(unavailable)
  })

  test('was not seen by signing in alone, nor by other settings', async () => {
    const { subject, headers, goAway } = await signedIn({ wasSeen: false })
    const other = subject.withSettings({ ...settingsForTests, restrictTo: parseAllowList(['grace']) })
    goAway(true)
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject(unavailable)
    await expect(other.pass(chat, { headers })).rejects.toMatchObject(unavailable)
  })
})

describe('of sessions that were seen', () => {
  const session: Session = { ...ada, created: 1, realm: 'realm' }

  test('a bounded number is remembered: those of last', async () => {
    const store = fakeStore<Session>(),
      { lenient } = seenSessions(store, () => 0)
    for (let index = 0; index < 30_000; index++) {
      await store.set(`${index}`, session, '')
      await lenient.get(`${index}`)
    }
    store.isAway = true
    const known = await Promise.all(
      Array.from({ length: 30_000 }, (_, index) =>
        lenient.get(`${index}`).then(
          () => index,
          () => -1,
        ),
      ),
    )
    const remembered = known.filter((index) => index >= 0)
    expect([remembered.length <= 20_000, remembered.length >= 10_000, remembered.at(-1)]).toEqual([true, true, 29_999])
  })

  test('none comes back by an answer that was under way while it ended', async () => {
    const store = fakeStore<Session>(),
      found = Promise.withResolvers<Session>(),
      taken = Promise.withResolvers<Session>()
    const { strict, lenient } = seenSessions(
      { ...store, get: () => (store.isAway ? store.get('') : found.promise), take: () => taken.promise },
      () => 0,
    )
    const reading = lenient.get('key'),
      ending = strict.take('key')
    found.resolve(session)
    await reading
    taken.resolve(session)
    await ending
    store.isAway = true
    await expect(lenient.get('key')).rejects.toThrow('away')
  })

  test('an error that is none of the store is not hidden', async () => {
    const store = fakeStore<Session>()
    let mistake = false
    const { lenient } = seenSessions(
      {
        ...store,
        get: async () => {
          if (mistake) throw new TypeError('a mistake')
          return session
        },
      },
      () => 0,
    )
    await lenient.get('key')
    mistake = true
    await expect(lenient.get('key')).rejects.toThrow(TypeError)
  })
})
