import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { databases, type TestDatabase } from '../../test/fakes/databases.ts'
import { needs } from '../../test/needs.ts'
import { UsageError } from '../base/start-errors.ts'
import { verifyChain } from '../ledger/audit-chain.ts'
import { openLedger } from '../ledger/open-ledger.ts'
import { storableKey, temporaryFolder } from '../ledger/testing.ts'
import { openUseReader } from '../ledger/use/read-use.ts'
import { batchOf, usedRequest } from '../ledger/use/testing.ts'
import type { UseQuestion } from '../ledger/use/use-question.ts'
import { useStore } from '../ledger/use/use-store.ts'
import { migrateCommand } from './migrate.ts'
import { runCommand } from './testing.ts'

const question: UseQuestion = { unit: 'day', by: 'person', from: 0, to: 99_999_999, rowsMax: 100 }

describe.skipIf(needs('postgres') === undefined)('svc migrate', () => {
  let server: TestDatabase
  let home: ReturnType<typeof temporaryFolder>
  beforeEach(async () => {
    const [, make] = databases.find(([name]) => name === 'PostgreSQL') ?? []
    if (make === undefined) throw new Error('there is no PostgreSQL')
    server = await make()
    home = temporaryFolder()
  }, 30_000)
  afterEach(async () => {
    await server.remove()
    home.remove()
  })

  const url = () => (server.place.kind === 'server' ? server.place.url : '')
  const migrate = () => runCommand(migrateCommand, [], { environment: { SVC_HOME: home.folder, SVC_DATABASE: url() } })

  async function fill(): Promise<void> {
    const { keys, close } = await openLedger({ path: home.path })
    const person = { id: 'p', name: 'ann', accountId: '1', isCaseless: true, seen: 5 }
    await keys.add(storableKey({ expires: 1_900_000_000_000 }))
    await keys.replace(1, storableKey({ name: "O'Neil \\ 😀" }), 1_850_000_000_000)
    await keys.add(storableKey({ person }))
    await keys.end(3, { at: 1_800_000_000_009, by: 'ann' })
    await keys.noteUses(new Map([[2, 60_000]]))
    await close()
    const store = useStore({ path: home.path, rowsPath: join(home.folder, 'requests.db'), zone: 'Europe/Berlin' })
    const records = Array.from({ length: 4_000 }, (_, index) =>
      usedRequest({ listedAs: `m-${index}`, user: `u-${index % 7}`, cost: { nanoUsd: index, source: 'config' } }),
    )
    await store.write([batchOf(7, records)])
    await store.close()
  }

  test('copies keys, changes and sums as they are, and further ones follow them', async () => {
    await fill()
    const { code, out } = await migrate()
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^3 keys, 5 changes and 8000 sums were copied into test_\d+ at /),
    ])
    const file = await openLedger({ path: home.path })
    const ledger = await server.open()
    const all = await file.keys.list(0, 9)
    expect(await ledger.keys.list(0, 9)).toEqual([...all])
    expect((await ledger.keys.changes()).keys).toEqual([...all])
    const chain = await verifyChain(file.audit)
    expect(chain.faults).toEqual([])
    expect(await verifyChain(ledger.audit)).toEqual(chain)
    const reader = await openUseReader(home.path)
    const sums = await reader.read(question)
    expect(await (await server.useReader()).read(question)).toEqual(sums)
    expect(sums).toMatchObject({ timeZone: 'Europe/Berlin', rows: { length: 7 } })
    await reader.close()
    await file.close()

    expect(await ledger.keys.add(storableKey())).toMatchObject({ id: 4, line: 4 })
    const verified = await verifyChain(ledger.audit)
    expect(verified).toMatchObject({ entries: 6, faults: [] })
    const store = server.useStore({ zone: 'Europe/Berlin' })
    expect(await store.write([batchOf(7, [usedRequest()]), batchOf(8, [usedRequest({ listedAs: 'm-new' })])])).toEqual(
      {},
    )
    const { rows } = await (await server.useReader()).read({ ...question, by: 'all' })
    expect(rows.map(({ counters }) => counters.requests)).toEqual([4_001])
  })

  test('fills an empty database only, as a whole or not at all', async () => {
    await fill()
    const { keys } = await server.open()
    await keys.add(storableKey({ name: 'mine' }))
    await expect(migrate()).rejects.toThrow('has keys or use already: svc migrate fills an empty one only')
    expect((await keys.list(0, 9)).map(({ name }) => name)).toEqual(['mine'])
    await server.tamper('DELETE FROM key', 'DELETE FROM audit', 'ALTER TABLE usage_day ADD CONSTRAINT no CHECK (false)')
    await expect(migrate()).rejects.toThrow('violates check constraint')
    expect(await keys.list(0, 9)).toEqual([])
  })

  test('needs the variable, and svc.db', async () => {
    await expect(
      Promise.try(() => runCommand(migrateCommand, [], { environment: { SVC_HOME: home.folder } })),
    ).rejects.toThrow(UsageError)
    await expect(migrate()).rejects.toThrow(`${home.path} does not exist`)
  })
})
