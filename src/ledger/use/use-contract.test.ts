import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import { useOfPeople, useTeams } from '../../app/use-of-people.ts'
import { personIdAt } from '../../base/person-entry.ts'
import { sentBy } from '../../people/testing.ts'
import type { Ledger } from '../ledger.ts'
import { findPerson } from '../people/find-person.ts'
import { forgetPerson } from '../people/forget-person.ts'
import { batchOf, usedRequest } from './testing.ts'
import { charged } from './use-batch.ts'
import type { UseFilter } from './use-question.ts'
import { useSums } from './use-sums.ts'
import { zoneHours } from './zone-hours.ts'

describe.each(databases)('the use in %s', (_name, make) => {
  let place: TestDatabase
  let ledger: Ledger
  beforeEach(async () => {
    place = await make()
    ledger = await place.open()
  }, 30_000)
  afterEach(() => place.remove())

  const storeAt = (options?: Parameters<TestDatabase['useStore']>[0]) => place.useStore(options)
  const sums = (columns: string, table = 'usage_hour') => place.query(`SELECT ${columns} FROM ${table}`)
  const count = async (table: string) =>
    (await place.query(`SELECT count(*) AS count FROM ${table}`, 'requests.db'))[0]?.['count']
  const rowCount = () => count('request')

  describe('a batch', () => {
    test('is summed by hour and day, and has a row for each request', async () => {
      const store = storeAt()
      const person = sentBy({ user: 'ann', userId: 'github:1' })
      expect(await store.write([batchOf(1, [usedRequest(), usedRequest(person), usedRequest(person)])])).toEqual({})
      expect(await sums('hour, person, requests, input, output, cost', 'usage_hour ORDER BY person')).toEqual([
        { hour: Date.UTC(2026, 10, 23, 10), person: 0, requests: 1, input: 10, output: 4, cost: 1_000 },
        { hour: Date.UTC(2026, 10, 23, 10), person: 1, requests: 2, input: 20, output: 8, cost: 2_000 },
      ])
      expect(await sums('day, sum(requests) AS requests', 'usage_day GROUP BY day')).toEqual([
        { day: 20261123, requests: 3 },
      ])
      expect(await sums('subject, name', 'person')).toEqual([{ subject: 'github:1', name: 'ann' }])
      expect(await rowCount()).toBe(3)
    })

    test('that is sent again counts once, also after a restart', async () => {
      const batch = batchOf(1, [usedRequest()])
      const store = storeAt()
      await store.write([batch, batch])
      await store.write([batch])
      await storeAt().write([batch, batchOf(2, [usedRequest()]), batchOf(1, [usedRequest()], 'two')])
      expect([await sums('requests'), await rowCount()]).toEqual([[{ requests: 3 }], 3])
    })

    test('whose rows were given up is summed alike', async () => {
      const merged = useSums()
      const requests = [usedRequest(), usedRequest({ status: 499 })].map(charged)
      merged.add({ requests }, zoneHours('UTC'))
      const store = storeAt()
      await store.write([{ source: 'one', number: 7, sums: merged.totals() }])
      await store.write([batchOf(7, [usedRequest()])])
      expect(await sums('requests, left_early, cost')).toEqual([{ requests: 2, left_early: 1, cost: 2_000 }])
    })
  })

  test('sessions are summed with the cost of all attempts, and their requests are found', async () => {
    const failed = { name: 'other', status: 200, failure: 'cut', ms: 4, ambiguous: true, bookedNanoUsd: 70 } as const
    const answered = { name: 'groq', status: 200, ms: 5 } as const
    const store = storeAt()
    const ann = sentBy({ user: 'ann', userId: 'github:1' })
    await store.write([
      batchOf(1, [
        usedRequest({ id: 'one', session: 'ses_1' }),
        usedRequest({ id: 'two', session: 'ses_1', trail: [failed, answered] }),
        usedRequest({ id: 'three', session: 'ses_2', ...ann }),
        usedRequest({ id: 'four' }),
      ]),
    ])
    const reader = await place.useReader()
    const span = { unit: 'day', from: 20261123, to: 20261123, by: 'session', rowsMax: 10 } as const
    const read = async (filter: UseFilter = {}) =>
      (await reader.read({ ...span, ...filter })).rows.map(({ time, name, counters }) => [
        time,
        name,
        counters.requests,
        counters.cost,
      ])
    expect(await read()).toEqual([
      [20261123, 'ses_1', 2, 2_070],
      [20261123, 'ses_2', 1, 1_000],
    ])
    expect(await read({ people: ['github:1'] })).toEqual([[20261123, 'ses_2', 1, 1_000]])
    expect((await reader.read({ ...span, by: 'all' })).rows.map(({ counters }) => counters.cost)).toEqual([4_070])
    const page = await reader.requests.page({ scope: {}, filter: { session: 'ses_1' }, rowsMax: 10 })
    expect(page.requests.map(({ id, session }) => [id, session])).toEqual([
      ['two', 'ses_1'],
      ['one', 'ses_1'],
    ])
    await reader.close()
  })

  test('any text in names is stored, and found again', async () => {
    const hostile = ['a\0b', '\ud800', "'; DROP TABLE svc.key; --", '$1', '$rows', '\\', '"', 'ü😀', 'x'.repeat(9_999)]
    const records = hostile.map((text) =>
      usedRequest({
        id: text,
        listedAs: text,
        ...sentBy({ user: text }),
        provider: text,
        error: text,
        trail: [
          { name: text, failure: text, ms: 1 },
          { name: text, status: 200, ms: 1 },
        ],
      }),
    )
    const store = storeAt()
    for (const number of [1, 2]) expect(await store.write([batchOf(number, records)])).toEqual({})
    expect(await storeAt().write([batchOf(3, records)])).toEqual({})
    expect(await sums('sum(requests) AS requests', 'usage_day')).toEqual([{ requests: 27 }])
    expect(await sums('count(*) AS count', `label WHERE kind = 'model'`)).toEqual([{ count: 9 }])
    expect(await sums('count(*) AS count', 'person')).toEqual([{ count: 9 }])
    expect([await rowCount(), await count('attempt')]).toEqual([27, 54])
  })

  test('the name that a person had last is kept', async () => {
    const store = storeAt()
    const named = (user: string) => usedRequest(sentBy({ user, userId: 'u1', subject: 'first-provider-1' }))
    await store.write([batchOf(1, [named('ann'), named('anne')])])
    expect(await sums('subject, name', 'person')).toEqual([{ subject: 'first-provider-1', name: 'anne' }])
    await store.write([batchOf(2, [named('zoe')]), batchOf(3, [named('bea')])])
    expect(await sums('subject, name', 'person')).toEqual([{ subject: 'first-provider-1', name: 'bea' }])
    expect(await sums('person, requests')).toEqual([{ person: 1, requests: 4 }])
  })

  test('a person who is forgotten and comes back is a new one, also for a service that runs', async () => {
    const store = storeAt()
    const ann = usedRequest(sentBy({ user: 'ann', userId: 'u1' }))
    await store.write([batchOf(1, [ann])])
    const people = await ledger.people()
    await forgetPerson(people, await findPerson(people, { by: 'name', text: 'ann' }), 5)
    await people.close()
    expect(await store.write([batchOf(2, [ann, ann])])).toEqual({})
    expect(await sums('person, requests', 'usage_day ORDER BY person')).toEqual([
      { person: 1, requests: 1 },
      { person: 2, requests: 2 },
    ])
    expect(await sums('name', 'person WHERE id = 2')).toEqual([{ name: 'ann' }])
    expect(await place.query('SELECT person FROM request ORDER BY seq', 'requests.db')).toEqual([
      { person: 1 },
      { person: 2 },
      { person: 2 },
    ])
  })

  test('speed and failures add up over batches and services', async () => {
    const failed = usedRequest({
      ...{ status: 502, error: 'provider_error', provider: undefined, totalMs: 90 },
      trail: [{ name: 'a', failure: 'reset', ms: 5 }],
    })
    const batch = (number: number, source?: string) =>
      batchOf(number, [usedRequest(), usedRequest({ totalMs: 900, firstTokenMs: 40 }), failed], source)
    await storeAt().write([batch(1), batch(2)])
    await storeAt().write([batch(3), batch(1, 'two')])
    const reader = await place.useReader()
    const span = { from: 20261122, to: 20261124, unit: 'day', by: 'model' } as const
    for (const asked of [span, { ...span, from: 0, to: 8e12, unit: 'hour' } as const]) {
      const { groups, failures } = await reader.outcomes(asked)
      const sumOf = (buckets: readonly number[] = []) => buckets.reduce((all, more) => all + more, 0)
      expect(groups.map(({ name, first, total }) => [name, sumOf(first), sumOf(total)])).toEqual([['m', 4, 8]])
      expect(failures.map(({ failure, requests, attempts }) => [failure, requests, attempts])).toEqual([
        ['provider_error', 4, 0],
        ['reset', 0, 4],
      ])
    }
  })

  describe('people of two identity providers with the same user id', () => {
    const ann = { user: 'ann', userId: 'u1', subject: 'first-provider-1' }
    const bea = { user: 'bea', userId: 'u1', subject: 'other-provider-1' }
    /** Requests of a person, and the sum of their use. */
    async function seenBy(subject: string): Promise<readonly number[]> {
      const people = [subject]
      const reader = await place.useReader()
      const { requests } = await reader.requests.page({ scope: { people }, filter: {}, rowsMax: 9 })
      const span = { from: 20261122, to: 20261124, unit: 'day', by: 'all', rowsMax: 9 } as const
      const { rows } = await reader.read({ ...span, people })
      return [requests.length, rows[0]?.counters.requests ?? 0]
    }

    test('are two, and each sees the own use', async () => {
      await storeAt().write([
        batchOf(1, [usedRequest(sentBy(ann)), usedRequest(sentBy(bea)), usedRequest(sentBy(bea))]),
      ])
      expect(await sums('subject, user_id, name', 'person ORDER BY id')).toEqual([
        { subject: ann.subject, user_id: 'u1', name: 'ann' },
        { subject: bea.subject, user_id: 'u1', name: 'bea' },
      ])
      expect(await seenBy(ann.subject)).toEqual([1, 1])
      expect(await seenBy(bea.subject)).toEqual([2, 2])
      expect(await seenBy('third-provider-1')).toEqual([0, 0])
    })

    test('have each person budgets of their own, and limits of their id with or without the provider', async () => {
      const [one, other] = ['https://one.test', 'https://other.test'].map((provider) =>
        sentBy({ user: 'ann', userId: 'u1', subject: personIdAt(provider, 'u1') }),
      )
      await storeAt().write([batchOf(1, [usedRequest(one), usedRequest(other), usedRequest(other)])])
      const reader = await place.useReader()
      const costOf = (filter: UseFilter) => reader.costSince(filter, 0, Date.now())
      expect(await costOf({ people: [one?.person?.id ?? ''] })).toBe(1_000)
      expect(await costOf(useOfPeople(['id:u1']))).toBe(3_000)
      expect(await costOf(useOfPeople(['id:u1@https://other.test']))).toBe(2_000)
      const span = { from: 20261122, to: 20261124, unit: 'day', by: 'team', rowsMax: 9 } as const
      const teams = useTeams(new Map([['t', { leads: ['id:u1@https://other.test'], members: [] }]]))
      const { rows } = await reader.read({ ...span, teams })
      expect(rows.map(({ name, counters }) => [name, counters.requests])).toEqual([
        ['t', 2],
        ['', 1],
      ])
    })

    test('are found by long ids and names, which are stored in short', async () => {
      const long = { user: 'n'.repeat(200), userId: 'u'.repeat(200), subject: 'first-provider-2' }
      await storeAt().write([batchOf(1, [usedRequest(sentBy(long))])])
      const reader = await place.useReader()
      const span = { from: 20261122, to: 20261124, unit: 'day', by: 'all', rowsMax: 9 } as const
      for (const entry of [`id:${long.userId}`, long.user]) {
        const { rows } = await reader.read({ ...span, ...useOfPeople([entry]) })
        expect(rows[0]?.counters.requests).toBe(1)
        // The spending of a budget after a restart.
        expect(await reader.costSince(useOfPeople([entry]), 0, Date.now())).toBe(1_000)
      }
      const database = await ledger.people()
      expect(await findPerson(database, { by: 'id', text: long.userId })).toMatchObject({ personId: long.subject })
      await database.close()
    })

    test('count in limits of their id together', async () => {
      await storeAt().write([batchOf(1, [usedRequest(sentBy(ann)), usedRequest(sentBy(bea))])])
      const reader = await place.useReader()
      const span = { from: 20261122, to: 20261124, unit: 'day', by: 'all', rowsMax: 9 } as const
      const { rows } = await reader.read({ ...span, userIds: ['u1'], userNames: [] })
      expect(rows[0]?.counters.requests).toBe(2)
    })
  })

  describe('complaint: days doubled outside UTC', () => {
    test.each(['Asia/Kolkata', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Lord_Howe'])(
      'do not happen: in %s days sum to the total, over two changes of the clock',
      async (zone) => {
        const store = storeAt({ zone })
        const start = Date.UTC(2026, 2, 27)
        const records = Array.from({ length: 24 * 220 }, (_, index) =>
          usedRequest({ time: start + index * 3_600_000, totalMs: 0 }),
        )
        await store.write([batchOf(1, records)])
        const total = async (table: string) => (await sums('sum(requests) AS requests', table))[0]?.['requests']
        expect([await total('usage_hour'), await total('usage_day')]).toEqual([records.length, records.length])
        // 220 days begin and end within local days, unless local midnight is that of UTC.
        expect((await sums('day', 'usage_day')).length).toBe(221)
      },
    )

    test('a changed zone counts from then on', async () => {
      const store = storeAt()
      const late = usedRequest({ time: Date.UTC(2026, 10, 23, 20), totalMs: 0 })
      await store.write([batchOf(1, [late])])
      store.setZone('Asia/Kolkata')
      await store.write([batchOf(2, [late])])
      expect(await sums('day, requests', 'usage_day ORDER BY day')).toEqual([
        { day: 20261123, requests: 1 },
        { day: 20261124, requests: 1 },
      ])
    })

    test('a clock that is set back or forward an hour loses nothing', async () => {
      const store = storeAt()
      const time = Date.UTC(2026, 10, 23, 23, 50)
      const times = [time, time + 1_200_000, time - 3_600_000, time + 3_600_000]
      for (const [index, each] of times.entries())
        await store.write([batchOf(index + 1, [usedRequest({ time: each })])])
      expect(await sums('sum(requests) AS requests', 'usage_day')).toEqual([{ requests: 4 }])
    })
  })
})
