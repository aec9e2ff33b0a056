import { afterAll, describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Price } from '../formats/model.ts'
import { temporaryFolder } from '../ledger/testing.ts'
import { batchOf, usedRequest } from '../ledger/use/testing.ts'
import { useStore } from '../ledger/use/use-store.ts'
import { costFunction, type CostOf } from '../prices/cost.ts'
import { costAtPricesOfNow } from './reprice.ts'
import { runCommand } from './testing.ts'
import { usageCommand } from './usage.ts'

const { folder, path, remove } = temporaryFolder()
afterAll(remove)
const environment = { SVC_HOME: folder }
const run = (...argv: readonly string[]) => runCommand(usageCommand, argv, { environment })

describe('svc usage reprice', () => {
  test('computes costs with the prices of the configuration', async () => {
    const models = [{ name: 'm', upstream: 'm-1', price: { input: 2, output: 10 } }]
    const providers = [{ id: 'a', base_url: 'http://127.0.0.1:9/v1', models }]
    await writeFile(join(folder, 'providers.json'), JSON.stringify({ providers }))
    const store = useStore({ path, rowsPath: join(folder, 'requests.db'), zone: 'UTC' })
    await store.write([
      batchOf(1, [usedRequest(), usedRequest({ cost: undefined }), usedRequest({ listedAs: 'x', provider: 'gone' })]),
    ])
    await store.close()
    const text =
      'another cost, $0.0000 before and $0.0001 now; 1 of them had no price\n1 keep theirs: no price is known now\n'
    expect((await run('reprice', '--since', '2026-11-23', '--dry-run')).out).toBe(`2 requests would get ${text}`)
    expect((await run('reprice', '--since', '2026-11-23T00:00Z')).out).toBe(`2 requests have ${text}`)
    expect((await run('reprice', '--since', '2026-11-23')).out).toStartWith('0 requests')
  })

  test.each([
    [['reprice'], '--since is missing'],
    [['reprice', '--since', 'yesterday'], 'found "yesterday"'],
    [['reprice', '--since', '2026-13-45'], 'found "2026-13-45"'],
    [['again'], 'allowed: svc usage, svc usage reprice'],
    [['--dry-run'], 'belong to svc usage reprice'],
  ])('refuses %p', async (argv, message) => {
    await expect(run(...argv)).rejects.toThrow(message)
  })
})

describe('the cost of a stored row', () => {
  const usage = { promptTokens: 100, completionTokens: 10, totalTokens: 110 }
  const row = { model: 'm', provider: 'a', usage, hasCost: true, bill: 'unknown' } as const
  const at = (costOf: CostOf | undefined) => ({ costAt: () => costOf })
  const priced = (more: Partial<Price> = {}) =>
    at(costFunction({ price: { input: 2, output: 10, ...more }, source: 'list' }, false))

  test('is that of its units, or is not known', () => {
    expect(costAtPricesOfNow(priced(), row)).toBe(300_000)
    expect(costAtPricesOfNow(priced({ request: 0.001 }), row)).toBe(1_300_000)
    for (const costOf of [undefined, costFunction(undefined, false), costFunction(undefined, true)])
      expect(costAtPricesOfNow(at(costOf), row)).toBe('no price')
    const estimated = { ...row, usage: { ...usage, isEstimated: true as const } }
    expect(costAtPricesOfNow(at(costFunction(undefined, true)), estimated)).toBe('no price')
  })

  test.each<[Partial<Price>]>([
    [{ flex: { input: 1 } }],
    [{ priority: { output: 1 } }],
    [{ search: 1 }],
    [{ audioInput: 1 }],
  ])('with %p stays if it was known, since the units of these prices are not stored', (more) => {
    expect(costAtPricesOfNow(priced(more), row)).toBe('not stored')
    expect(costAtPricesOfNow(priced(more), { ...row, hasCost: false })).toBe(300_000)
    expect(costAtPricesOfNow(priced(more), { ...row, bill: 'plain' })).toBe(300_000)
  })

  test('of an answer with searches or other such units stays', () => {
    for (const hasCost of [true, false])
      expect(costAtPricesOfNow(priced(), { ...row, hasCost, bill: 'more' })).toBe('not stored')
  })
})
