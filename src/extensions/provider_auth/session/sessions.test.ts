import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { memoryStores } from '../../../stores/memory.ts'
import { fakeStore } from '../../testing.ts'
import { parseAllowList } from '../settings/restrict-to.ts'
import { ada } from '../testing.ts'
import {
  expiryOf,
  personCheck,
  profileOf,
  sessions,
  sessionStoreOptions,
  type Session,
  type SessionsOptions,
} from './sessions.ts'

const grace = { ...ada, userId: '1906', userName: 'grace' }
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

function subject(options: Partial<SessionsOptions> = {}) {
  const clock = { ms: 1_800_000_000_123 }
  const store = fakeStore<Session>()
  const all = {
    store,
    now: () => clock.ms,
    realm: 'https://id.test',
    restrictTo: undefined,
    names: fakeStore<readonly string[]>(),
    hasCaselessNames: true,
    ...options,
  }
  return {
    clock,
    store,
    sessions: sessions(all),
    with: (changed: Partial<SessionsOptions>) => sessions({ ...all, ...changed }),
  }
}

describe('a session', () => {
  test('is stored under the hash of its token, with the user data and without the token', async () => {
    const { sessions: under, store } = subject()
    const token = await under.begin({ ...ada, ...{ accessToken: 'of no use' } })
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const session = { ...ada, created: 1_800_000_000.123, realm: 'https://id.test' }
    expect([...store.entries]).toEqual([[sha256(token), { value: session, owner: 'https://id.test 1815' }]])
    expect(await under.find(token)).toEqual(session)
    expect(expiryOf(session)).toBe(1_800_086_400)
  })

  test('has a new token each time', async () => {
    const { sessions: under } = subject()
    expect(await under.begin(ada)).not.toBe(await under.begin(ada))
  })

  test.each([
    [0, true],
    [86_400_000, true],
    [86_400_001, false],
    [90_000_000, false],
    [365 * 86_400_000, false],
    [-300_000, true],
    [-300_001, false],
    [-86_400_000, false],
  ])('is found after %d ms: %p', async (ms, isFound) => {
    const { sessions: under, clock } = subject()
    const token = await under.begin(ada)
    clock.ms += ms
    expect((await under.find(token)) !== undefined).toBe(isFound)
  })

  test('ends on the same millisecond whenever it began', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 4_000_000_000_000 }), async (ms) => {
        const { sessions: under, clock } = subject()
        clock.ms = ms
        const token = await under.begin(ada)
        clock.ms = ms + 86_400_000
        expect(await under.find(token)).toBeDefined()
        clock.ms++
        expect(await under.find(token)).toBeUndefined()
      }),
      { examples: [[270_607_054_094]] },
    )
  })

  test('does not last longer for being used', async () => {
    const { sessions: under, clock } = subject()
    const token = await under.begin(ada)
    for (let hour = 0; hour < 24; hour++) {
      clock.ms += 3_600_000
      expect(await under.find(token)).toBeDefined()
    }
    clock.ms++
    expect(await under.find(token)).toBeUndefined()
  })

  test('is valid again when a clock that was far ahead is corrected', async () => {
    const { sessions: under, clock } = subject()
    const token = await under.begin(ada)
    clock.ms += 90_000_000
    await under.find(token)
    clock.ms -= 90_000_000
    expect(await under.find(token)).toBeDefined()
  })

  test('of a user removed from restrict_to is deleted', async () => {
    const { sessions: under, with: changed, store } = subject()
    const [adas, graces] = [await under.begin(ada), await under.begin(grace)]
    const restricted = changed({ restrictTo: parseAllowList(['GRACE'], true) })
    expect(await restricted.find(adas)).toBeUndefined()
    expect(await restricted.find(graces)).toMatchObject({ userName: 'grace' })
    expect([...store.entries.keys()]).toEqual([sha256(graces)])
    expect(await under.find(adas)).toBeUndefined()
  })

  test('of the same name at another identity provider is invalid', async () => {
    const { sessions: under, with: changed } = subject()
    const token = await under.begin(ada)
    expect(await changed({ realm: 'https://other.test' }).find(token)).toBeUndefined()
    expect(await under.find(token)).toBeDefined()
  })

  test('ends once, and is returned', async () => {
    const { sessions: under } = subject()
    const token = await under.begin(ada)
    expect(await under.end(token)).toMatchObject({ userName: 'ada' })
    expect(await under.end(token)).toBeUndefined()
    expect(await under.find(token)).toBeUndefined()
  })

  test('is not looked up for a text without the form of a token', async () => {
    const { sessions: under, store } = subject()
    for (const text of ['', '__proto__', 'x'.repeat(100_000), `${'a'.repeat(42)}=`, 'a'.repeat(44)]) {
      expect(await under.find(text)).toBeUndefined()
      expect(await under.end(text)).toBeUndefined()
    }
    expect(store.calls).toBe(0)
  })
})

describe('the store of sessions', () => {
  test('holds 20 sessions per user; the next one evicts the oldest of the same user', async () => {
    const { sessions: under } = subject({
      store: memoryStores(() => 1_800_000_000_123).open('sessions', sessionStoreOptions),
    })
    const other = await under.begin(grace)
    const tokens = await Promise.all(Array.from({ length: 21 }, () => under.begin(ada)))
    const found = await Promise.all([...tokens, other].map((token) => under.find(token)))
    expect(found.map((session) => session !== undefined)).toEqual([false, ...Array.from({ length: 21 }, () => true)])
  })

  test('parses a serialised session, and rejects other values', () => {
    const session = { ...ada, created: 1.5, realm: 'r' }
    expect(sessionStoreOptions.parse(JSON.parse(JSON.stringify(session)))).toEqual(session)
    expect(sessionStoreOptions.parse({ ...session, more: 1 })).toEqual(session)
    for (const broken of [null, 'x', [], {}, ...Object.keys(session).map((name) => ({ ...session, [name]: null }))])
      expect(sessionStoreOptions.parse(broken)).toBeUndefined()
  })
})

test('a person who signed in before may do so again at the same identity provider, while the list has them', () => {
  const person = { id: profileOf({ ...ada, realm: 'r' }).id, name: ada.userName, accountId: ada.userId }
  const onlyGrace = parseAllowList(['grace'], true)
  expect(personCheck('r', undefined)(person)).toBe(true)
  expect(personCheck('r', parseAllowList(['ADA'], true))(person)).toBe(true)
  expect(personCheck('r', parseAllowList([`id:${ada.userId}`], true))({ ...person, name: 'renamed' })).toBe(true)
  expect(personCheck('r', onlyGrace)(person)).toBe(false)
  expect(personCheck('another', undefined)(person)).toBe(false)
  // The id is of somebody else.
  expect(personCheck('r', onlyGrace)({ ...person, name: 'grace', accountId: grace.userId })).toBe(false)
  expect(personCheck('r', undefined)({ id: person.id, name: ada.userName })).toBe(false)
})
