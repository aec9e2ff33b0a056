import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/fakes/databases.ts'
import { StoreUnavailable } from '../stores/store.ts'
import { ampleOptions, storeContract } from '../stores/testing.ts'
import { lastingStores } from './lasting-store.ts'
import { LedgerUnavailable, type Ledger } from './ledger.ts'

describe.each(databases)('values that last, in %s', (kind, make) => {
  let database: TestDatabase
  let ledger: Ledger
  beforeAll(async () => {
    database = await make()
    ledger = await database.open()
  })
  afterAll(() => database.remove())

  storeContract(
    kind,
    async (now) => ({ open: (name, options) => ledger.lasting(name, options, now), close: async () => undefined }),
    { many: 1_000, numRuns: 15 },
  )

  test('outlive the process that stored them', async () => {
    await ledger.lasting('a', ampleOptions, Date.now).set('key', 'value', 'owner')
    const other = await database.open()
    expect(await other.lasting('a', ampleOptions, Date.now).get('key')).toBe('value')
  })
})

test('values that last are unavailable while the database is', async () => {
  const away = () => Promise.reject(new LedgerUnavailable('away'))
  const store = lastingStores({ read: away, write: away })('a', ampleOptions, Date.now)
  await expect(store.get('key')).rejects.toBeInstanceOf(StoreUnavailable)
  await expect(store.set('key', 'value', 'owner')).rejects.toBeInstanceOf(StoreUnavailable)
})
