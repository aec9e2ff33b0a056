import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/fakes/databases.ts'
import { LedgerFull, type KeyPerson, type KeyTable, type NewKey, type StoredKey } from './ledger.ts'
import { storableKey } from './testing.ts'

describe.each(databases)('keys in %s', (_name, make) => {
  let place: TestDatabase
  let keys: KeyTable
  beforeEach(async () => {
    place = await make()
    keys = (await place.open()).keys
  }, 30_000)
  afterEach(() => place.remove())

  const now = 1_800_000_000_000

  function stored(key: StoredKey | string): StoredKey {
    if (typeof key === 'string') throw new Error(key)
    return key
  }

  test('a key is found as it was added, with an id and a line of its own', async () => {
    const given = storableKey({ expires: now + 5 })
    expect(await keys.add(given)).toEqual({ ...given, id: 1, line: 1 })
    expect(await keys.add(storableKey())).toMatchObject({ id: 2, line: 2 })
    expect(await keys.find(1)).toEqual({ ...given, id: 1, line: 1 })
    expect(await keys.find(3)).toBeUndefined()
  })

  test('a hash cannot be stored twice', async () => {
    const key = storableKey()
    await keys.add(key)
    await expect(keys.add(key)).rejects.toThrow(/unique/i)
  })

  test('a list begins after an id, and has a limit', async () => {
    for (let count = 0; count < 5; count += 1) await keys.add(storableKey())
    expect((await keys.list(2, 2)).map(({ id }) => id)).toEqual([3, 4])
  })

  test('last uses are found by ids', async () => {
    await keys.add(storableKey())
    await keys.nameLine(-7, 'ci')
    await keys.noteUses(new Map([[-7, 60_000]]))
    expect(await keys.uses([1, -7, 9])).toEqual(new Map([[-7, 60_000]]))
    expect(await keys.uses([])).toEqual(new Map())
  })

  test('a change of no key is not taken for the next one', async () => {
    await keys.add(storableKey())
    await keys.end(9, { at: now, by: 'ann' })
    const before = keys.stamp()
    await keys.end(1, { at: now, by: 'ann' })
    const ended = keys.stamp()
    expect(ended).not.toBe(before)
    // Nothing to end, and no successor.
    await keys.end(1, { at: now, by: 'ann' })
    expect(await keys.replace(1, storableKey(), now)).toBe('over')
    const refused = keys.stamp()
    await keys.add(storableKey())
    expect(keys.stamp()).not.toBe(refused)
  })

  test('a key ends once', async () => {
    await keys.add(storableKey())
    expect(await keys.end(1, { at: now, by: 'ann' })).toMatchObject({ ended: now, endedBy: 'ann' })
    expect(await keys.end(1, { at: now + 9, by: 'bob' })).toMatchObject({ ended: now, endedBy: 'ann' })
    expect(await keys.end(2, { at: now, by: 'ann' })).toBeUndefined()
  })

  test('a successor is of the same line, and the old key expires with the overlap, or earlier', async () => {
    await keys.add(storableKey({ expires: now + 50 }))
    const second = stored(await keys.replace(1, storableKey({ made: now }), now + 90))
    expect([second.id, second.line, (await keys.find(1))?.expires]).toEqual([2, 1, now + 50])
    const third = stored(await keys.replace(2, storableKey({ made: now }), now + 10))
    expect([third.id, third.line, (await keys.find(2))?.expires]).toEqual([3, 1, now + 10])
  })

  test('there is no successor of an unknown, ended, expired or replaced key', async () => {
    const replace = (id: number) => keys.replace(id, storableKey({ made: now }), now)
    await keys.add(storableKey())
    await keys.add(storableKey())
    await keys.end(2, { at: now, by: 'ann' })
    await keys.add(storableKey({ expires: now }))
    await replace(1)
    const before = await keys.list(0, 99)
    expect(await Promise.all([9, 2, 3, 1].map(replace))).toEqual(['unknown', 'over', 'over', 'over'])
    await keys.add(storableKey())
    await keys.replace(5, storableKey({ made: now }), now + 9)
    expect(await replace(5)).toBe('replaced')
    expect(await keys.list(0, before.length)).toEqual(before)
  })

  test('changes after a state are those since then, and the last state of each', async () => {
    await keys.add(storableKey())
    const first = await keys.changes()
    expect(first).toMatchObject({ isWhole: true, keys: [{ id: 1 }] })
    expect(await keys.changes(first.mark)).toEqual({ mark: first.mark, isWhole: false, keys: [] })
    await keys.add(storableKey())
    await keys.end(1, { at: 5, by: 'ann' })
    expect(await keys.changes(first.mark)).toMatchObject({ isWhole: false, keys: [{ id: 1, ended: 5 }, { id: 2 }] })
  })

  test('times of use only grow, and are no change', async () => {
    await keys.add(storableKey())
    const before = keys.stamp()
    await keys.noteUses(new Map([[1, 600]]))
    await keys.noteUses(
      new Map([
        [1, 540],
        [7, 1],
      ]),
    )
    expect([(await keys.find(1))?.used, keys.stamp()]).toEqual([600, before])
  })

  const ann: KeyPerson = { id: 'p1', name: 'ann', accountId: '1', isCaseless: true, seen: now }

  test('the name of a line in access.json has a row and no key, and is no change', async () => {
    const { id } = await keys.add(storableKey())
    const { mark } = await keys.changes()
    for (const name of ['ci', 'other']) await keys.nameLine(-7, name)
    await keys.noteUses(new Map([[-7, 60_000]]))
    expect((await keys.changes(mark)).keys).toEqual([])
    expect((await keys.list(0, 9)).map((key) => key.id)).toEqual([id])
    expect(await keys.list(Number.MIN_SAFE_INTEGER, 1)).toEqual([
      expect.objectContaining({ id: -7, line: -7, name: 'ci', kind: 'line', used: 60_000 }),
    ])
    // Ids go on where they were.
    expect((await keys.add(storableKey())).id).toBe(id + 1)
  })

  test('keys of a person have that person, are listed newest first, and learn when the person was there', async () => {
    const given = storableKey({ person: ann })
    expect(await keys.add(given)).toEqual({ ...given, id: 1, line: 1 })
    const nameless = { id: 'p2', name: 'eve', seen: now }
    await keys.add(storableKey({ person: nameless }))
    await keys.add(storableKey({ person: ann }))
    await keys.end(3, { at: now, by: 'ann' })
    const before = keys.stamp()
    await keys.notePerson({ ...ann, name: 'anna', seen: now + 5 })
    expect(keys.stamp()).not.toBe(before)
    expect((await keys.listOf({ person: 'p1' }, 5)).map(({ id, person }) => [id, person?.name, person?.seen])).toEqual([
      [3, 'ann', now],
      [1, 'anna', now + 5],
    ])
    expect((await keys.listOf({ person: 'p1' }, 1)).map(({ id }) => id)).toEqual([3])
    expect((await keys.find(2))?.person).toEqual(nameless)
  })

  test('a person has at most so many keys in use, and makes at most 100 in a day', async () => {
    const add = (made: number, most?: number) => keys.add(storableKey({ person: ann, made, expires: made + 5 }), most)
    await add(now, 1)
    await expect(add(now + 4, 1)).rejects.toThrow(LedgerFull)
    await keys.add(storableKey({ person: { ...ann, id: 'p2' } }), 1)
    for (let count = 1; count < 100; count += 1) await add(now + count * 5, 1)
    await expect(add(now + 500, 1)).rejects.toThrow('100 new keys in a day')
    await add(now + 86_400_000, 1)
  })

  test('a team has keys of its own, with ceilings of its own, and so have their successors', async () => {
    const ofTeam = (more: Partial<NewKey> = {}) => storableKey({ team: 'search', ...more })
    expect(await keys.add(ofTeam(), 1)).toMatchObject({ id: 1, team: 'search' })
    await expect(keys.add(ofTeam(), 1)).rejects.toThrow('a team may have 1 keys')
    await keys.add(ofTeam({ team: 'ads' }), 1)
    await keys.add(storableKey({ person: { ...ann, id: 'search' } }), 1)
    // Owners have no ceiling.
    await keys.add(ofTeam())
    await keys.end(4, { at: now, by: 'ann' })
    // Both work for a time, and count.
    await expect(keys.replace(1, ofTeam({ made: now }), now + 5, 1)).rejects.toThrow('a team may have 1 keys')
    expect((await keys.find(1))?.expires).toBeUndefined()
    await keys.replace(1, ofTeam({ made: now }), now, 1)
    expect((await keys.listOf({ team: 'search' }, 9)).map(({ id, line }) => [id, line])).toEqual([
      [5, 1],
      [4, 4],
      [1, 1],
    ])
    expect(String((await place.query('SELECT after FROM audit'))[0]?.['after'])).toContain('"team":"search"')
  })

  test('a key of a person gets no successor', async () => {
    await keys.add(storableKey({ person: ann }))
    expect(await keys.replace(1, storableKey(), now)).toBe('personal')
  })
})
