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
  for (const store of open.splice(0)) store.close()
  place.remove()
})

function storeAt(more: Partial<UseStoreOptions> = {}): UseStore {
  const store = useStore({ path: place.path, rowsPath, zone: 'UTC', lockMs: 40, ...more })
  open.push(store)
  return store
}

const sums = (columns: string, table = 'usage_hour') => queryFile(place.path, `SELECT ${columns} FROM ${table}`)
const rowCount = () => queryFile(rowsPath, 'SELECT count(*) AS count FROM request')[0]?.['count']

describe('a batch', () => {
  test('is summed by hour and day, and has a row for each request', async () => {
    const store = storeAt()
    const person = { user: 'ann', userId: 'github:1' }
    expect(await store.write([batchOf(1, [usedRequest(), usedRequest(person), usedRequest(person)])])).toEqual({})
    expect(sums('hour, person, requests, input, output, cost')).toEqual([
      { hour: Date.UTC(2026, 10, 23, 10), person: 0, requests: 1, input: 10, output: 4, cost: 1_000 },
      { hour: Date.UTC(2026, 10, 23, 10), person: 1, requests: 2, input: 20, output: 8, cost: 2_000 },
    ])
    expect(sums('day, sum(requests) AS requests', 'usage_day')).toEqual([{ day: 20261123, requests: 3 }])
    expect(sums('subject, name', 'person')).toEqual([{ subject: 'github:1', name: 'ann' }])
    expect(rowCount()).toBe(3)
  })

  test('that is sent again counts once, also after a restart', async () => {
    const batch = batchOf(1, [usedRequest()])
    const store = storeAt()
    await store.write([batch, batch])
    await store.write([batch])
    await storeAt().write([batch, batchOf(2, [usedRequest()]), batchOf(1, [usedRequest()], 'two')])
    expect([sums('requests'), rowCount()]).toEqual([[{ requests: 3 }], 3])
  })

  test('whose rows were given up is summed alike', async () => {
    const { useSums } = await import('./use-sums.ts')
    const { zoneHours } = await import('./zone-hours.ts')
    const merged = useSums()
    for (const record of [usedRequest(), usedRequest({ status: 499 })]) merged.add(record, zoneHours('UTC'))
    const store = storeAt()
    await store.write([{ source: 'one', number: 7, sums: merged.list() }])
    await store.write([batchOf(7, [usedRequest()])])
    expect(sums('requests, left_early, cost')).toEqual([{ requests: 2, left_early: 1, cost: 2_000 }])
  })
})

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

describe('logs without bound', () => {
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

describe('days doubled outside UTC', () => {
  test.each(['Asia/Kolkata', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Lord_Howe'])(
    'do not happen: in %s days sum to the total, over two changes of the clock',
    async (zone) => {
      const store = storeAt({ zone })
      const start = Date.UTC(2026, 2, 27)
      const records = Array.from({ length: 24 * 220 }, (_, index) =>
        usedRequest({ time: start + index * 3_600_000, totalMs: 0 }),
      )
      await store.write([batchOf(1, records)])
      const total = (table: string) => sums('sum(requests) AS requests', table)[0]?.['requests']
      expect([total('usage_hour'), total('usage_day')]).toEqual([records.length, records.length])
      // 220 days begin and end within local days, unless local midnight is that of UTC.
      expect(sums('day', 'usage_day').length).toBe(221)
    },
  )

  test('a changed zone counts from then on', async () => {
    const store = storeAt()
    const late = usedRequest({ time: Date.UTC(2026, 10, 23, 20), totalMs: 0 })
    await store.write([batchOf(1, [late])])
    store.setZone('Asia/Kolkata')
    await store.write([batchOf(2, [late])])
    expect(sums('day, requests', 'usage_day ORDER BY day')).toEqual([
      { day: 20261123, requests: 1 },
      { day: 20261124, requests: 1 },
    ])
  })

  test('a clock that is set back or forward an hour loses nothing', async () => {
    const store = storeAt()
    const time = Date.UTC(2026, 10, 23, 23, 50)
    const times = [time, time + 1_200_000, time - 3_600_000, time + 3_600_000]
    for (const [index, each] of times.entries()) await store.write([batchOf(index + 1, [usedRequest({ time: each })])])
    expect(sums('sum(requests) AS requests', 'usage_day')).toEqual([{ requests: 4 }])
  })
})
