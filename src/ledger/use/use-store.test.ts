import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../migrations.ts'
import { temporaryFolder } from '../testing.ts'
import { batchOf, queryFile, usedRequest } from './testing.ts'
import { useStore, type UseStore, type UseStoreOptions } from './use-store.ts'

let place: ReturnType<typeof temporaryFolder>
let rowsPath: string
const open: UseStore[] = []
beforeEach(() => {
  place = temporaryFolder()
  rowsPath = join(place.folder, 'requests.db')
})
afterEach(() => {
  for (const store of open.splice(0)) void store.close()
  place.remove()
})

function storeAt(more: Partial<UseStoreOptions> = {}): UseStore {
  const store = useStore({ path: place.path, rowsPath, zone: 'UTC', lockMs: 40, ...more })
  open.push(store)
  return store
}

const sums = (columns: string, table = 'usage_hour') => queryFile(place.path, `SELECT ${columns} FROM ${table}`)
const rowCount = () => queryFile(rowsPath, 'SELECT count(*) AS count FROM request')[0]?.['count']

describe('a failure', () => {
  test('while another process has the lock writes nothing, and says so', async () => {
    const store = storeAt()
    await store.write([batchOf(1, [usedRequest()])])
    const other = new Database(place.path)
    other.run('BEGIN IMMEDIATE')
    const result = await store.write([batchOf(2, [usedRequest()])])
    expect(result.sumsProblem).toContain('is locked by another program')
    other.close()
    expect(await store.write([batchOf(2, [usedRequest()])])).toEqual({})
    expect([sums('requests'), rowCount()]).toEqual([[{ requests: 2 }], 2])
  })

  test('of the rows alone does not touch the sums; sent again, only the rows are added', async () => {
    const store = storeAt()
    await store.write([batchOf(1, [usedRequest()])])
    const other = new Database(rowsPath)
    other.run('BEGIN IMMEDIATE')
    const result = await store.write([batchOf(2, [usedRequest()])])
    expect([result.sumsProblem, result.rowsProblem]).toEqual([undefined, expect.stringContaining('requests.db')])
    other.close()
    await store.write([batchOf(2, [usedRequest()])])
    expect([sums('requests'), rowCount()]).toEqual([[{ requests: 2 }], 2])
  })

  test('damaged rows are put aside, and new ones begin', async () => {
    writeFileSync(rowsPath, 'not a database, but a text of some length'.repeat(99))
    expect(await storeAt().write([batchOf(1, [usedRequest()])])).toEqual({})
    expect([rowCount(), existsSync(`${rowsPath}.damaged`)]).toEqual([1, true])
  })

  test('rows that were deleted while they are open begin anew', async () => {
    const store = storeAt()
    await store.write([batchOf(1, [usedRequest()])])
    for (const end of ['', '-wal', '-shm']) rmSync(rowsPath + end)
    expect(await store.write([batchOf(2, [usedRequest()])])).toEqual({})
    expect([sums('requests'), rowCount()]).toEqual([[{ requests: 2 }], 1])
  })

  test('damaged sums are not written over', async () => {
    writeFileSync(place.path, 'not a database, but a text of some length'.repeat(99))
    expect((await storeAt().write([batchOf(1, [usedRequest()])])).sumsProblem).toContain('is damaged')
  })

  test('a database that a newer svc has changed meanwhile is not written', async () => {
    const store = storeAt()
    await store.write([batchOf(1, [usedRequest()])])
    const newer = new Database(place.path)
    newer.run(`PRAGMA user_version = ${migrations.length + 1}`)
    newer.close()
    expect((await store.write([batchOf(2, [usedRequest()])])).sumsProblem).toContain('newer svc')
  })
})

describe('complaint: logs without bound', () => {
  const now = () => Date.UTC(2026, 11, 31)

  async function swept(store: UseStore): Promise<void> {
    while (await store.sweep());
  }

  test('do not happen by age: rows go after 30 days, hours after 100, days never', async () => {
    const store = storeAt({ now })
    const ages = [1, 29, 31, 99, 101]
    await store.write([
      batchOf(
        1,
        ages.map((days) => usedRequest({ time: now() - days * 86_400_000 })),
      ),
    ])
    await swept(store)
    expect([rowCount(), sums('hour').length, sums('day', 'usage_day').length]).toEqual([2, 4, 5])
  })

  test('do not happen by size: the oldest rows go, and the file shrinks', async () => {
    const store = storeAt({ now, retention: { ageMs: Infinity, bytes: 400_000 } })
    const trail = [{ name: 'b', failure: 'reset', ambiguous: true, ms: 1 }]
    for (let number = 1; number <= 20; number += 1)
      await store.write([
        batchOf(
          number,
          Array.from({ length: 500 }, (_, id) => usedRequest({ id: `${id}`, trail })),
        ),
      ])
    await swept(store)
    const left = Number(rowCount())
    expect(left).toBeGreaterThan(100)
    expect(left).toBeLessThan(4_000)
    const [pages] = queryFile(rowsPath, 'PRAGMA page_count')
    expect(Number(pages?.['page_count']) * 4_096).toBeLessThan(700_000)
    expect(queryFile(rowsPath, 'SELECT count(*) AS n FROM attempt WHERE seq NOT IN (SELECT seq FROM request)')).toEqual(
      [{ n: 0 }],
    )
    expect(sums('sum(requests) AS requests')).toEqual([{ requests: 10_000 }])
  })
})
