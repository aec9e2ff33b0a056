import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import { sentBy } from '../../people/testing.ts'
import { storableKey } from '../testing.ts'
import { batchOf, usedRequest } from './testing.ts'
import { useAsker } from './use-asker.ts'
import type { UseQuestion } from './use-question.ts'
import type { UseReader } from './use-reader.ts'

describe.each(databases)('the use of %s', (kind, make) => {
  let place: TestDatabase
  let reader: UseReader
  const now = Date.UTC(2026, 10, 23, 12)
  const hour = 3_600_000
  const ann = sentBy({ user: 'ann', userId: 'id:1' })

  beforeEach(async () => {
    place = await make()
    const ledger = await place.open()
    const { id } = await ledger.keys.add(storableKey({ name: 'old name' }))
    await ledger.keys.replace(id, storableKey({ name: 'indexer', made: 1_900_000_000_000 }), 1_900_000_000_000)
    const store = place.useStore()
    const records = [
      usedRequest({ time: now, ...ann }),
      usedRequest({ time: now - hour, ...ann, listedAs: 'GPT-5', cost: { nanoUsd: 5_000, source: 'reported' } }),
      usedRequest({
        time: now - 24 * hour,
        line: 1,
        user: 'key:old name',
        team: 'search',
        provider: 'b',
        listedAs: 'b/Llama',
      }),
      usedRequest({ time: now - 200 * 24 * hour, line: 1, user: 'key:old name', cost: undefined }),
    ]
    await store.write([batchOf(1, records)])
    await store.close()
    reader = await place.useReader()
  }, 30_000)
  afterEach(() => place.remove())

  const question: UseQuestion = { unit: 'day', by: 'all', from: 0, to: 99_999_999, rowsMax: 100 }

  async function read(more: Partial<UseQuestion> = {}) {
    const { rows } = await reader.read({ ...question, ...more })
    return rows.map(({ time, name, counters }) => `${time} ${name}: ${counters.requests} ${counters.cost}`)
  }

  describe('use', () => {
    test('is grouped by days and each name', async () => {
      expect(await read()).toEqual(['20260507 : 1 0', '20261122 : 1 1000', '20261123 : 2 6000'])
      expect(await read({ from: 20261122, by: 'model' })).toEqual([
        '20261122 b/Llama: 1 1000',
        '20261123 GPT-5: 1 5000',
        '20261123 m: 1 1000',
      ])
      expect(await read({ from: 20261122, by: 'provider' })).toEqual(['20261122 b: 1 1000', '20261123 a: 2 6000'])
      expect(await read({ from: 20261122, by: 'person' })).toEqual(['20261122 : 1 1000', '20261123 ann: 2 6000'])
    })

    test('is grouped by teams, in which each person counts once', async () => {
      const teams = [
        { name: 'none', people: [], userIds: ['id:9'], userNames: [] },
        { name: 'core', people: [], userIds: [], userNames: ['ANN'] },
        { name: 'all', people: [], userIds: ['id:1'], userNames: ['ann'] },
      ]
      expect(await read({ from: 20261122, by: 'team', teams })).toEqual(['20261122 : 1 1000', '20261123 core: 2 6000'])
      expect(await read({ from: 20261122, by: 'team' })).toEqual(['20261122 : 1 1000', '20261123 : 2 6000'])
    })

    test('of the keys of a team is of this team', async () => {
      const teams = ['ads', 'search'].map((name) => ({ name, people: [], userIds: [], userNames: [] }))
      const rows = await read({ from: 20261122, by: 'team', teams })
      expect(rows).toEqual(['20261122 search: 1 1000', '20261123 : 2 6000'])
    })

    test('of a line of keys has the name of its newest key', async () => {
      expect(await read({ from: 20261122, by: 'key' })).toEqual(['20261122 indexer: 1 1000', '20261123 : 2 6000'])
    })

    test('is read by hours, too', async () => {
      const rows = await read({ unit: 'hour', from: now - hour, to: now })
      expect(rows).toEqual([`${now - hour} : 1 5000`, `${now} : 1 1000`])
    })

    test('is limited to one person, key, provider or models', async () => {
      const sum = async (more: Partial<UseQuestion>) => (await reader.read({ ...question, ...more })).rows.length
      expect(await Promise.all([{ people: ['id:1'] }, { people: ['ann'] }, { people: [] }].map(sum))).toEqual([1, 0, 0])
      expect(await Promise.all([['ANN'], ['bob']].map((userNames) => sum({ userIds: [], userNames })))).toEqual([1, 0])
      expect(await Promise.all([{ team: 'search' }, { team: 'ads' }].map(sum))).toEqual([1, 0])
      // What counts in the limits of a team: the use of its members, and that of its keys.
      expect(await Promise.all(['search', 'ads'].map((team) => sum({ team, userIds: ['id:1'] })))).toEqual([2, 1])
      expect(await Promise.all([{ line: 1 }, { line: 2 }, { provider: 'b' }].map(sum))).toEqual([2, 0, 1])
      expect(await Promise.all([{ models: ['gpt-5'] }, { models: ['gpt*'] }, { models: ['x'] }].map(sum))).toEqual([
        1, 1, 0,
      ])
      expect(await Promise.all([['llama'], ['ll*'], ['b/*'], ['b']].map((models) => sum({ models })))).toEqual([
        1, 1, 1, 0,
      ])
    })

    test('of hostile names is nothing, and only the case of ASCII letters does not matter', async () => {
      const hostile = ["'); DROP TABLE label; --", '\0', '\ud800', '%', '$1', '?']
      for (const more of [{ people: hostile }, { userIds: hostile, userNames: hostile }, { models: hostile }])
        expect(await read(more)).toEqual([])
      for (const name of hostile) expect(await read({ team: name, provider: name })).toEqual([])
      await place.tamper("UPDATE person SET name = 'Änn' WHERE name = 'ann'")
      const count = async (name: string) => (await read({ userIds: [], userNames: [name] })).length
      expect([await count('ÄNN'), await count('änn')]).toEqual([1, 0])
    })

    test('beyond the limit of rows is cut, and says so', async () => {
      expect(await reader.read({ ...question, rowsMax: 2 })).toMatchObject({ isCut: true, rows: [{}, {}] })
      expect(await reader.read(question)).toMatchObject({
        isCut: false,
        timeZone: 'UTC',
        writtenAt: expect.any(Number),
      })
    })
  })

  test('the cost since a time is the sum of its hours, or of days if it is long ago', async () => {
    const since = (time: number, more = {}) => reader.costSince(more, time, now)
    expect(await since(Date.UTC(2026, 10, 23))).toBe(6_000)
    expect(await since(Date.UTC(2026, 10, 22))).toBe(7_000)
    expect(await since(Date.UTC(2026, 10, 22), { line: 1 })).toBe(1_000)
    expect(await since(Date.UTC(2026, 0, 1))).toBe(7_000)
    expect(await since(0, { people: ['id:1'], models: ['gpt-5'] })).toBe(5_000)
    expect(await since(now + hour)).toBe(0)
  })

  describe('the thread that reads', () => {
    test('answers many questions, ends when idle, and begins again', async () => {
      const asker = useAsker({ place: place.place, idleMs: 1 })
      for (let round = 0; round < 3; round += 1) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => asker.read(question)))
        expect(answers.map(({ rows }) => rows.length)).toEqual(answers.map(() => 3))
        expect(await asker.costSince({}, 0)).toBe(7_000)
        await Bun.sleep(20)
      }
      asker.close()
    })

    test('says why a database cannot be read', async () => {
      const none =
        place.place.kind === 'file'
          ? { kind: 'file' as const, path: join(tmpdir(), 'none.db') }
          : { ...place.place, url: place.place.url.replace(/\w+$/, 'none') }
      const asker = useAsker({ place: none })
      await expect(asker.read(question)).rejects.toThrow(
        kind === 'SQLite' ? 'none.db cannot be opened' : /none at 127.0.0.1:\d+ does not exist/,
      )
      asker.close()
    })
  })
})
