import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { RequestRecord } from '../../observe/record.ts'
import { costFunction } from '../../prices/cost.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { openLedger } from '../open-ledger.ts'
import { temporaryFolder, verifiedChain } from '../testing.ts'
import { repriceUse, type PricedRow, type RepriceOptions } from './reprice.ts'
import { batchOf, queryFile, usedRequest } from './testing.ts'
import { useStore } from './use-store.ts'

const folders: { remove(): void }[] = []
afterEach(() => folders.splice(0).forEach(({ remove }) => remove()))

const costOf = costFunction({ price: { input: 2, output: 10 }, source: 'config' }, false)
const noPrice = { cost: undefined, listedAs: 'new' } as const
const since = Date.UTC(2026, 10, 1)

/** A ledger with these requests. The price of each usage of usedRequest is 60,000 nano-USD now. */
async function subject(records: readonly RequestRecord[]) {
  const made = temporaryFolder()
  folders.push(made)
  const { path, folder } = made
  const rowsPath = join(folder, 'requests.db')
  const store = useStore({ path, rowsPath, zone: 'Europe/Berlin' })
  await store.write([batchOf(1, records)])
  await store.close()
  const run = (more: Partial<RepriceOptions> = {}) =>
    repriceUse({
      path,
      since,
      isDryRun: false,
      priceOf: ({ usage }) => costOf(usage)?.nanoUsd ?? 'no price',
      now: () => 5,
      ...more,
    })
  const sums = (unit = 'hour') =>
    queryFile(
      path,
      `SELECT sum(cost) AS cost, sum(cost_estimated) AS estimated, sum(unpriced) AS unpriced FROM usage_${unit}`,
    )[0]
  const rows = () => queryFile(rowsPath, 'SELECT cost, flags & 4 AS unpriced FROM request ORDER BY seq')
  return { path, rowsPath, run, sums, rows }
}

async function auditOf(path: string) {
  const ledger = await openLedger({ path })
  try {
    return { entries: await ledger.audit.list(9, 9), report: await verifiedChain(ledger.audit) }
  } finally {
    await ledger.close()
  }
}

describe('repricing', () => {
  test('moves sums of hours and days with the rows, once, with one entry in the audit', async () => {
    const estimated = { promptTokens: 10, completionTokens: 4, totalTokens: 14, isEstimated: true } as const
    const { path, run, sums, rows } = await subject([
      usedRequest(),
      usedRequest(noPrice),
      usedRequest({ usage: estimated, cost: { nanoUsd: 500, source: 'config' } }),
    ])
    const report = { changed: 3, unpriced: 1, before: 1_500, after: 180_000 }
    expect(await run()).toMatchObject(report)
    for (const unit of ['hour', 'day']) expect(sums(unit)).toEqual({ cost: 180_000, estimated: 60_000, unpriced: 0 })
    expect(rows()).toEqual(Array.from({ length: 3 }, () => ({ cost: 60_000, unpriced: 0 })))
    expect(await run()).toMatchObject({ changed: 0 })
    expect(sums()).toMatchObject({ cost: 180_000 })
    const { entries, report: chain } = await auditOf(path)
    expect(chain.faults).toEqual([])
    expect(entries).toMatchObject([
      { action: 'use.repriced', object: 'all models', before: '{"nanoUsd":1500,"unpriced":1}' },
    ])
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
    expect(sums()).toMatchObject({ cost: dear(usage)?.nanoUsd })
  })

  test('changes nothing in a dry run', async () => {
    const { path, rowsPath, run, sums, rows } = await subject([usedRequest()])
    expect(await run({ isDryRun: true })).toMatchObject({ changed: 1, before: 1_000, after: 60_000 })
    expect([sums(), rows()]).toMatchObject([{ cost: 1_000 }, [{ cost: 1_000 }]])
    expect(queryFile(rowsPath, "SELECT name FROM sqlite_schema WHERE name LIKE 'repric%'")).toEqual([])
    expect((await auditOf(path)).entries).toEqual([])
  })

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
    expect(sums()).toEqual({ cost: 1_007, estimated: 0, unpriced: 1 })
  })

  test('keeps rows whose hour is not in the sums', async () => {
    const { path, run, rows } = await subject([usedRequest()])
    const database = new Database(path)
    database.run('DELETE FROM usage_hour')
    database.close()
    expect(await run()).toMatchObject({ changed: 0, kept: { 'no sum': 1 } })
    expect(rows()).toEqual([{ cost: 1_000, unpriced: 0 }])
  })

  test.each([
    ['before the sums were moved, is forgotten', '', 1_000],
    ['after the sums were moved, is completed', "INSERT INTO meta (name, value) VALUES ('repriced', 'x')", 77],
  ])('of a run that died %s', async (_, booked, cost) => {
    const { path, rowsPath, run, rows } = await subject([usedRequest()])
    const [ledger, requests] = [new Database(path), new Database(rowsPath)]
    if (booked !== '') ledger.run(booked)
    requests.run('CREATE TABLE reprice_run (id TEXT NOT NULL, pid INTEGER NOT NULL)')
    requests.run("INSERT INTO reprice_run VALUES ('x', 999999999)")
    requests.run('CREATE TABLE repriced (seq INTEGER PRIMARY KEY, cost INTEGER NOT NULL, flags INTEGER NOT NULL)')
    requests.run('INSERT INTO repriced SELECT seq, 77, flags FROM request')
    for (const database of [ledger, requests]) database.close()
    await run({ isDryRun: true })
    expect(rows()).toMatchObject([{ cost }])
  })

  test('is refused while another process does it', async () => {
    const { rowsPath, run } = await subject([usedRequest()])
    const requests = new Database(rowsPath)
    requests.run('CREATE TABLE reprice_run (id TEXT NOT NULL, pid INTEGER NOT NULL)')
    requests.run(`INSERT INTO reprice_run VALUES ('x', ${process.ppid})`)
    requests.run('CREATE TABLE repriced (seq INTEGER PRIMARY KEY)')
    requests.close()
    await expect(run()).rejects.toThrow(LedgerUnavailable)
  })
})
