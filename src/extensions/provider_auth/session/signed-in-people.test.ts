import { describe, expect, test } from 'bun:test'
import { ada, settingsForTests, signInUnderTest, type SignInUnderTest } from '../testing.ts'

const grace = { ...ada, userId: '1906', userName: 'grace' }

async function end({ contribution: { people } }: SignInUnderTest, user: string): Promise<number> {
  if (people === undefined) throw new Error('nothing offers its people')
  return people.endAll(user)
}

describe('ending sessions by a name', () => {
  test.each(['ada', '@ada', 'ADA', 'id:1815'])('ends all sessions of %s, and no others', async (user) => {
    const subject = signInUnderTest()
    const tokens = [await subject.signIn(), await subject.signIn(), await subject.signIn(grace)]
    expect(await end(subject, user)).toBe(2)
    const [, two, other] = tokens
    await expect(subject.pass('/v1/models', { headers: { 'x-session-token': two ?? '' } })).rejects.toMatchObject({
      code: 'invalid_session',
    })
    expect(await subject.pass('/v1/models', { headers: { 'x-session-token': other ?? '' } })).toMatchObject({
      user: 'grace',
    })
  })

  test('compares names by case where the identity provider does', async () => {
    const subject = signInUnderTest({ ...settingsForTests, hasCaselessNames: false })
    await subject.signIn()
    expect(await end(subject, 'ADA')).toBe(0)
    expect(await end(subject, 'ada')).toBe(1)
  })

  test('ends those of every account that signed in under the name, including renamed ones', async () => {
    const subject = signInUnderTest()
    await subject.signIn()
    await subject.signIn({ ...ada, userName: 'grace' })
    await subject.signIn({ ...grace, userName: 'ada' })
    expect(await end(subject, 'ada')).toBe(3)
  })

  test('remembers the last 20 accounts of a name', async () => {
    const subject = signInUnderTest()
    for (let userId = 0; userId < 25; userId++) await subject.signIn({ ...ada, userId: String(userId) })
    expect(await end(subject, 'ada')).toBe(20)
    expect(subject.host.stores.get('names')?.entries.size).toBe(1)
  })

  test('while the store is away is 503, and can be repeated', async () => {
    const subject = signInUnderTest()
    await subject.signIn()
    const stores = [...subject.host.stores.values()]
    for (const store of stores) store.isAway = true
    await expect(end(subject, 'ada')).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
    for (const store of stores) store.isAway = false
    expect(await end(subject, 'ada')).toBe(1)
  })
})
