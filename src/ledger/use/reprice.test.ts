import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { sentBy } from '../../people/testing.ts'
import { costFunction } from '../../prices/cost.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { postgresClient } from '../postgres/postgres-client.ts'
import { verifiedChain } from '../testing.ts'
import { repriceUse } from './open-use.ts'
import type { PricedRow, RepriceOptions } from './repricing.ts'
import { batchOf, usedRequest } from './testing.ts'
import { zoneHours } from './zone-hours.ts'

const costOf = costFunction({ price: { input: 2, output: 10 }, source: 'config' }, false)
const noPrice = { cost: undefined, listedAs: 'new' } as const
const since = Date.UTC(2026, 10, 1)

/** Stores these requests. The price of each usage of usedRequest is 60,000 nano-USD now. */
async function subjectIn(place: TestDatabase, records: readonly RequestRecord[]) {
  const store = place.useStore({ zone: 'Europe/Berlin' })
  expect(await store.write([batchOf(1, records)])).toEqual({})
  const run = (more: Partial<RepriceOptions> = {}) =>
    repriceUse(place.place, {
      since,
      isDryRun: false,
      priceOf: ({ usage }) => costOf(usage)?.nanoUsd ?? 'no price',
      now: () => 5,
      ...more,
    })
  const columns = 'sum(cost) AS cost, sum(cost_estimated) AS estimated, sum(unpriced) AS unpriced'
  const sums = async (unit = 'hour') => (await place.query(`SELECT ${columns} FROM usage_${unit}`))[0]
  const rows = () => place.query('SELECT cost, flags & 4 AS unpriced FROM request ORDER BY seq', 'requests.db')
  return { run, sums, rows }
}

describe.each(databases)('repricing in %s', (_name, make) => {
  let place: TestDatabase
  beforeEach(async () => {
    place = await make()
    await place.open()
  }, 30_000)
  afterEach(() => place.remove())

  const subject = (records: readonly RequestRecord[]) => subjectIn(place, records)

  async function auditNow() {
    const { audit } = await place.open()
    return { entries: await audit.list(9, 9), report: await verifiedChain(audit) }
  }

  test('moves sums of hours and days with the rows, once, with one entry in the audit', async () => {
    const estimated = { promptTokens: 10, completionTokens: 4, totalTokens: 14, isEstimated: true } as const
    const { run, sums, rows } = await subject([
      usedRequest({ session: '19' }),
      usedRequest({ ...noPrice, session: '19' }),
      usedRequest({ usage: estimated, cost: { nanoUsd: 500, source: 'config' }, session: 'other "session"' }),
    ])
    const report = { changed: 3, unpriced: 1, before: 1_500, after: 180_000 }
    expect(await run()).toMatchObject(report)
    for (const unit of ['hour', 'day', 'session'])
      expect(await sums(unit)).toEqual({ cost: 180_000, estimated: 60_000, unpriced: 0 })
    expect(await rows()).toEqual(Array.from({ length: 3 }, () => ({ cost: 60_000, unpriced: 0 })))
    expect(await run()).toMatchObject({ changed: 0 })
    expect(await sums()).toMatchObject({ cost: 180_000 })
    const { entries, report: chain } = await auditNow()
    expect(chain.faults).toEqual([])
    expect(entries).toMatchObject([
      { action: 'use.repriced', object: 'all models', before: '{"nanoUsd":1500,"unpriced":1}' },
    ])
  })

  test('keeps each sum of an hour and of a day that of its own rows, and all other counters', async () => {
    const records = Array.from({ length: 200 }, (_, index) =>
      usedRequest({
        time: since + (index % 40) * 1_800_000,
        listedAs: `m${index % 3}`,
        provider: `p${index % 2}`,
        cost: { nanoUsd: index * 10 ** 12, source: 'config' },
        ...(index % 5 === 0 ? { line: 7, user: 'key:k', team: 'core' } : sentBy({ user: `u${index % 4}` })),
        ...(index % 7 === 0 ? noPrice : {}),
      }),
    )
    const { run } = await subject(records)
    const other = 'requests, attempts, input, output, errors, estimated'
    const key = 'line, person, team, model, provider'
    const counters = () => place.query(`SELECT hour, ${key}, ${other} FROM usage_hour ORDER BY hour, ${key}`)
    const before = await counters()
    const priceOf = ({ model }: PricedRow) => (model === 'm0' ? 5 : model === 'm1' ? 10 ** 15 : 'no price')
    expect((await run({ priceOf })).changed).toBeGreaterThan(100)
    expect(await counters()).toEqual(before)
    const hours = zoneHours('Europe/Berlin')
    const rows = await place.query(`SELECT time + ms AS at, ${key}, cost, flags FROM request`, 'requests.db')
    for (const unit of ['hour', 'day'] as const) {
      const expected = new Map<string, number>()
      for (const { at, cost, flags: _, ...names } of rows) {
        const { start, day } = hours.at(Number(at))
        const place = [unit === 'hour' ? start : day, ...Object.values(names)].join(' ')
        expected.set(place, (expected.get(place) ?? 0) + Number(cost))
      }
      const sums = await place.query(`SELECT ${unit}, ${key}, cost FROM usage_${unit}`)
      expect(new Map(sums.map(({ cost, ...names }) => [Object.values(names).join(' '), Number(cost)]))).toEqual(
        expected,
      )
    }
  })

  test('that cannot be recorded changes nothing, and may be done again', async () => {
    const { run, sums, rows } = await subject([usedRequest(), usedRequest(noPrice)])
    const before = [await sums(), await sums('day'), await rows()]
    await place.refuseEntries('no entry')
    await expect(run()).rejects.toThrow('no entry')
    expect([await sums(), await sums('day'), await rows()]).toEqual(before)
    await place.refuseEntries(undefined)
    expect(await run()).toMatchObject({ changed: 2, after: 120_000 })
    expect([await sums(), await sums('day')]).toMatchObject([{ cost: 120_000 }, { cost: 120_000 }])
    expect((await rows()).map(({ cost }) => cost)).toEqual([60_000, 60_000])
  })

  test('counts the cached and written tokens, and reasoning, as they were', async () => {
    const usage = {
      promptTokens: 100,
      completionTokens: 40,
      totalTokens: 140,
      cachedTokens: 30,
      cacheWriteTokens: 20,
      cacheWriteHourTokens: 5,
      reasoningTokens: 15,
    }
    const dear = costFunction(
      {
        price: { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 3, cacheWriteHour: 5, reasoning: 7 },
        source: 'list',
      },
      false,
    )
    const { run, sums } = await subject([usedRequest({ usage })])
    await run({ priceOf: (row) => dear(row.usage)?.nanoUsd ?? 'no price' })
    expect(await sums()).toMatchObject({ cost: dear(usage)?.nanoUsd })
  })

  test('changes nothing in a dry run', async () => {
    const { run, sums, rows } = await subject([usedRequest()])
    expect(await run({ isDryRun: true })).toMatchObject({ changed: 1, before: 1_000, after: 60_000 })
    expect([await sums(), await rows()]).toMatchObject([{ cost: 1_000 }, [{ cost: 1_000 }]])
    expect((await auditNow()).entries).toEqual([])
  })

  test('reads all rows, page by page', async () => {
    const count = 4_500
    const records = Array.from({ length: count }, (_, index) => usedRequest({ time: since + (index % 7) * 3_600_000 }))
    const { run, sums } = await subject(records)
    expect(await run()).toMatchObject({ changed: count, before: count * 1_000 })
    expect(await sums('day')).toMatchObject({ cost: count * 60_000 })
  }, 20_000)

  test('takes the rows since a time, and of one model', async () => {
    const { run } = await subject([usedRequest(), usedRequest({ time: since - 1 }), usedRequest({ listedAs: 'n' })])
    expect(await run({ isDryRun: true })).toMatchObject({ changed: 2 })
    expect(await run({ isDryRun: true, model: 'n' })).toMatchObject({ changed: 1 })
    expect(await run({ isDryRun: true, model: 'x' })).toMatchObject({ changed: 0 })
  })

  test('keeps reported costs, and those for which there is no price', async () => {
    const { run, sums } = await subject([
      usedRequest({ cost: { nanoUsd: 7, source: 'reported' } }),
      usedRequest(noPrice),
      usedRequest({ listedAs: 'tiers' }),
      usedRequest({ provider: undefined, cost: undefined, status: 502 }),
    ])
    const priceOf = ({ model }: PricedRow) => (model === 'new' ? 'no price' : 'not stored')
    expect(await run({ priceOf })).toMatchObject({
      changed: 0,
      kept: { reported: 1, 'no price': 1, 'not stored': 1, 'no sum': 0 },
    })
    expect(await sums()).toEqual({ cost: 1_007, estimated: 0, unpriced: 1 })
  })

  test('keeps rows whose hour is not in the sums', async () => {
    const { run, rows } = await subject([usedRequest()])
    await place.tamper(place.kind === 'SQLite' ? 'DELETE FROM usage_hour' : 'DELETE FROM svc.usage_hour')
    expect(await run()).toMatchObject({ changed: 0, kept: { 'no sum': 1 } })
    expect(await rows()).toEqual([{ cost: 1_000, unpriced: 0 }])
  })
})

describe('repricing of files', () => {
  let place: TestDatabase
  let rowsPath: string
  beforeEach(async () => {
    const [, make] = databases.find(([name]) => name === 'SQLite') ?? []
    if (make === undefined) throw new Error('SQLite is always there')
    place = await make()
    await place.open()
    rowsPath = join(dirname(place.place.kind === 'file' ? place.place.path : ''), 'requests.db')
  })
  afterEach(() => place.remove())

  const subject = (records: readonly RequestRecord[]) => subjectIn(place, records)

  test('leaves no table', async () => {
    const { run } = await subject([usedRequest()])
    for (const isDryRun of [true, false]) await run({ isDryRun })
    expect(await place.query("SELECT name FROM sqlite_schema WHERE name LIKE 'repric%'", 'requests.db')).toEqual([])
  })

  test.each([
    ['before the sums were moved, is forgotten', '', 1_000],
    ['after the sums were moved, is completed', "INSERT INTO meta (name, value) VALUES ('repriced', 'x')", 77],
  ])('of a run that died %s', async (_, booked, cost) => {
    const { run, rows } = await subject([usedRequest()])
    if (booked !== '') await place.tamper(booked)
    const requests = new Database(rowsPath)
    requests.run('CREATE TABLE reprice_run (id TEXT NOT NULL, pid INTEGER NOT NULL)')
    requests.run("INSERT INTO reprice_run VALUES ('x', 999999999)")
    requests.run('CREATE TABLE repriced (seq INTEGER PRIMARY KEY, cost INTEGER NOT NULL, flags INTEGER NOT NULL)')
    requests.run('INSERT INTO repriced SELECT seq, 77, flags FROM request')
    requests.close()
    await run({ isDryRun: true })
    expect(await rows()).toMatchObject([{ cost }])
  })

  test('is refused while another process does it', async () => {
    const { run } = await subject([usedRequest()])
    const requests = new Database(rowsPath)
    requests.run('CREATE TABLE reprice_run (id TEXT NOT NULL, pid INTEGER NOT NULL)')
    requests.run(`INSERT INTO reprice_run VALUES ('x', ${process.ppid})`)
    requests.run('CREATE TABLE repriced (seq INTEGER PRIMARY KEY)')
    requests.close()
    await expect(run()).rejects.toThrow(LedgerUnavailable)
  })
})

describe.each(databases.filter(([name]) => name === 'PostgreSQL'))('repricing in %s alone', (_name, make) => {
  test('is refused while another process does it', async () => {
    const place = await make()
    await place.open()
    const { run, rows } = await subjectIn(place, [usedRequest()])
    const other = postgresClient({ url: place.place.kind === 'server' ? place.place.url : '' })
    await other.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock($1)', [0x73766372])
      await expect(run()).rejects.toThrow(LedgerUnavailable)
    })
    expect(await rows()).toMatchObject([{ cost: 1_000 }])
    expect(await run()).toMatchObject({ changed: 1 })
    await other.close()
    await place.remove()
  }, 30_000)
})
