import { describe, expect, test } from 'bun:test'
import { ada, settingsForTests, signInUnderTest, type SignInUnderTest } from '../testing.ts'

const grace = { ...ada, userId: '1906', userName: 'grace' }
const path = '/api/sessions/end'
const end = (subject: SignInUnderTest, body: string) => subject.request(path, { method: 'POST', body })

describe('POST /api/sessions/end', () => {
  test('is for owners only, and not public', () => {
    const routes = signInUnderTest().contribution.routes ?? []
    expect(routes.find((route) => route.path === path)).toMatchObject({ isForOwners: true })
    expect(routes.filter(({ isForOwners }) => isForOwners)).toHaveLength(1)
    expect(routes.find((route) => route.path === path)?.isPublic).toBeUndefined()
  })

  test.each(['ada', '@ada', 'ADA', 'id:1815'])('ends all sessions of %s, and no others', async (user) => {
    const subject = signInUnderTest()
    const tokens = [await subject.signIn(), await subject.signIn(), await subject.signIn(grace)]
    expect(await (await end(subject, JSON.stringify({ user }))).json()).toEqual({ ended: 2 })
    const [, two, other] = tokens
    await expect(subject.pass('/v1/models', { headers: { 'x-session-token': two ?? '' } })).rejects.toMatchObject({
      code: 'invalid_session',
    })
    expect(await subject.pass('/v1/models', { headers: { 'x-session-token': other ?? '' } })).toMatchObject({
      user: 'grace',
    })
    expect(subject.host.lines.at(-1)).toEqual([
      'info',
      'sessions ended by an owner',
      { request: 'request-1', user, by: undefined, sessions: 2 },
    ])
  })

  test('compares names by case where the identity provider does', async () => {
    const subject = signInUnderTest({ ...settingsForTests, hasCaselessNames: false })
    await subject.signIn()
    expect(await (await end(subject, '{"user":"ADA"}')).json()).toEqual({ ended: 0 })
    expect(await (await end(subject, '{"user":"ada"}')).json()).toEqual({ ended: 1 })
  })

  test('ends those of every account that signed in under the name, including renamed ones', async () => {
    const subject = signInUnderTest()
    await subject.signIn()
    await subject.signIn({ ...ada, userName: 'grace' })
    await subject.signIn({ ...grace, userName: 'ada' })
    expect(await (await end(subject, '{"user":"ada"}')).json()).toEqual({ ended: 3 })
  })

  test('remembers the last 20 accounts of a name', async () => {
    const subject = signInUnderTest()
    for (let userId = 0; userId < 25; userId++) await subject.signIn({ ...ada, userId: String(userId) })
    expect(await (await end(subject, '{"user":"ada"}')).json()).toEqual({ ended: 20 })
    expect(subject.host.stores.get('names')?.entries.size).toBe(1)
  })

  test.each([
    ['', 'invalid_json'],
    ['[]', 'invalid_json'],
    ['{}', 'missing_required_parameter'],
    ['{"user":null}', 'missing_required_parameter'],
    ['{"user":1}', 'invalid_type'],
    ['{"user":""}', 'invalid_value'],
    ['{"user":"ada lovelace"}', 'invalid_value'],
    [`{"user":"${'a'.repeat(257)}"}`, 'invalid_value'],
  ])('refuses %p: %s', async (body, code) => {
    await expect(end(signInUnderTest(), body)).rejects.toMatchObject({ status: 400, code })
  })

  test('while the store is away is 503, and can be repeated', async () => {
    const subject = signInUnderTest()
    await subject.signIn()
    const stores = [...subject.host.stores.values()]
    for (const store of stores) store.isAway = true
    await expect(end(subject, '{"user":"ada"}')).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
    for (const store of stores) store.isAway = false
    expect(await (await end(subject, '{"user":"ada"}')).json()).toEqual({ ended: 1 })
  })
})
