import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import { needs } from '../../../test/needs.ts'
import { sentBy } from '../../people/testing.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { findPerson } from '../people/find-person.ts'
import { forgetPerson } from '../people/forget-person.ts'
import { rowRetentionDefault } from '../use/rows-file.ts'
import { batchOf, usedRequest } from '../use/testing.ts'
import type { UseStore } from '../use/use-store.ts'
import { OutcomeUnknown, postgresClient, type PostgresClient } from './postgres-client.ts'
import { serverUseStore, type ServerUseOptions } from './server-use.ts'

describe.skipIf(needs('postgres') === undefined)('the use in PostgreSQL', () => {
  let place: TestDatabase
  const open: UseStore[] = []
  beforeEach(async () => {
    const [, make] = databases.find(([name]) => name === 'PostgreSQL') ?? []
    if (make === undefined) throw new Error('there is no PostgreSQL')
    place = await make()
    await place.open()
  }, 30_000)
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close()
    await place.remove()
  })

  function client(): PostgresClient {
    return postgresClient({ url: place.place.kind === 'server' ? place.place.url : '' })
  }

  function storeAt(more: Partial<ServerUseOptions> = {}): UseStore {
    const store = serverUseStore({ client: client(), zone: 'UTC', ...more })
    open.push(store)
    return store
  }

  const one = async (expression: string, table: string) =>
    (await place.query(`SELECT ${expression} AS value FROM ${table}`))[0]?.['value']

  test('of several machines at the same time is all added', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `m-${index}`)
    await Promise.all(
      Array.from({ length: 4 }, async (_machine, machine) => {
        const store = storeAt()
        for (let number = 1; number <= 8; number += 1) {
          // Each machine sends the same names in another order.
          const shifted = names.map((_name, index) => names[(index * (machine + 2) + number) % 9] ?? '')
          const records = shifted.map((listedAs) => usedRequest({ listedAs, user: `p-${listedAs}` }))
          expect(await store.write([batchOf(number, records, `machine ${machine}`)])).toEqual({})
        }
      }),
    )
    expect(await one('sum(requests)', 'usage_hour')).toBe(4 * 8 * 9)
    expect(await one('count(*)', 'request')).toBe(4 * 8 * 9)
    expect(await one('count(*)', `label WHERE kind = 'model'`)).toBe(9)
    expect(await one('count(*)', 'person')).toBe(9)
  }, 20_000)

  test('of a person who is forgotten while it is written is that of a new person', async () => {
    const real = client()
    let isDue = false
    const forgetting: PostgresClient = {
      ...real,
      async transaction(work, options) {
        if (isDue) {
          isDue = false
          const people = await (await place.open()).people()
          await forgetPerson(people, await findPerson(people, { by: 'name', text: 'ann' }), 5)
          await people.close()
        }
        return real.transaction(work, options)
      },
    }
    const store = storeAt({ client: forgetting })
    await store.prepare()
    for (const number of [1, 2]) {
      isDue = true
      expect(await store.write([batchOf(number, [usedRequest(sentBy({ user: 'ann', userId: 'u1' }))])])).toEqual({})
    }
    expect(await place.query('SELECT person, requests FROM usage_day ORDER BY person')).toEqual([
      { person: 2, requests: 1 },
      { person: 3, requests: 1 },
    ])
    expect(await one('name', 'person WHERE id = 3')).toBe('ann')
  })

  test('counts once when the answer to COMMIT is lost, and the batch is sent again', async () => {
    const real = client()
    let losses = 1
    const lossy: PostgresClient = {
      ...real,
      async transaction(work, options) {
        const value = await real.transaction(work, options)
        if (losses-- === 1) throw new OutcomeUnknown('no answer')
        return value
      },
    }
    // The first transaction makes the partitions.
    const store = storeAt({ client: { ...lossy, perform: real.perform } })
    losses = 2
    await store.prepare()
    const batch = batchOf(1, [usedRequest()])
    expect(await store.write([batch])).toEqual({ sumsProblem: 'no answer', isUnknown: true })
    expect(await store.write([batch])).toEqual({})
    expect([await one('sum(requests)', 'usage_hour'), await one('count(*)', 'request')]).toEqual([1, 1])
  })

  test('of many batches is written in parts; what a failure leaves written counts once', async () => {
    const real = client()
    let transactions = 0
    const failing: PostgresClient = {
      ...real,
      transaction: async (work, options) => {
        transactions += 1
        // The partitions, then two parts of five.
        if (transactions === 4) throw new LedgerUnavailable('away')
        return await real.transaction(work, options)
      },
    }
    const store = storeAt({ client: failing })
    const batches = Array.from({ length: 10 }, (_, index) => batchOf(index + 1, Array(500).fill(usedRequest())))
    expect(await store.write(batches)).toEqual({ sumsProblem: 'away', isUnknown: true })
    expect(await one('sum(requests)', 'usage_hour')).toBe(2_000)
    expect(await store.write(batches)).toEqual({})
    expect([await one('sum(requests)', 'usage_hour'), await one('count(*)', 'request')]).toEqual([5_000, 5_000])
    expect(transactions).toBe(9)
  })

  test('rows that cannot be stored do not keep the sums', async () => {
    const store = storeAt()
    await store.prepare()
    await place.tamper('ALTER TABLE request ADD CONSTRAINT none CHECK (false)')
    expect(await store.write([batchOf(1, [usedRequest()])])).toEqual({
      rowsProblem: expect.stringContaining('violates check constraint'),
      areRowsLost: true,
    })
    expect([await one('sum(requests)', 'usage_hour'), await one('count(*)', 'request')]).toEqual([1, 0])
  })

  test('while another program locks it says so, and nothing is written', async () => {
    const store = storeAt({
      client: postgresClient({ url: place.place.kind === 'server' ? place.place.url : '', deadlineMs: 200 }),
    })
    await store.prepare()
    const other = client()
    await other.transaction(async (query) => {
      await query('LOCK TABLE usage_hour')
      expect((await store.write([batchOf(1, [usedRequest()])])).sumsProblem).toMatch(/is locked|gave no answer/)
    })
    await other.close()
    await Bun.sleep(1_000)
    expect(await store.write([batchOf(1, [usedRequest()])])).toEqual({})
    expect(await one('sum(requests)', 'usage_hour')).toBe(1)
  })

  describe('retention', () => {
    const dayMs = 86_400_000
    const weeks = async () =>
      (await place.query(`SELECT relname FROM pg_class WHERE relname ~ '^request_[0-9]{8}$' ORDER BY 1`)).length

    test('drops whole weeks of rows after 30 days, hours after 100; days stay', async () => {
      // Two weeks apart at least, so that none has a partition that another one made.
      for (const [index, days] of [99, 60, 40, 20, 0].entries()) {
        const clockOffsetMs = -days * dayMs
        const time = Date.now() + clockOffsetMs - 2 * dayMs
        const store = storeAt({ clockOffsetMs })
        expect(await store.write([batchOf(index + 1, [usedRequest({ time })])])).toEqual({})
      }
      expect([await one('count(*)', 'request'), await weeks()]).toEqual([5, 10])
      const store = storeAt()
      while (await store.sweep());
      expect(await one('count(*)', 'request')).toBe(2)
      expect([await one('count(*)', 'usage_hour'), await one('count(*)', 'usage_day')]).toEqual([4, 5])
      expect(await storeAt().write([batchOf(9, [usedRequest()])])).toEqual({})
    })

    test('by size drops the oldest weeks, but never this one', async () => {
      for (const [index, days] of [14, 7, 0].entries())
        await storeAt({ clockOffsetMs: -days * dayMs }).write([batchOf(index + 1, [usedRequest()])])
      await storeAt({ retention: { ...rowRetentionDefault, bytes: 1 } }).sweep()
      expect(await one('count(*)', 'request')).toBe(1)
    })

    test('leaves the clock of this machine out of account', async () => {
      const store = storeAt()
      await store.write([batchOf(1, [usedRequest({ time: 0 }), usedRequest({ time: 8.64e15 - 1e6 })])])
      await store.sweep()
      expect(await one('count(*)', 'request')).toBe(2)
    })
  })
})
