import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cpuSeconds } from '../bench/cpu.ts'
import { chat, question } from './client.ts'
import { good } from './fakes/good.ts'
import { startLedgerRig, until } from './ledger-rig.ts'
import { childrenOf, threadsOf } from './process-tree.ts'

/**
 * What users of other gateways complain about in keys, limits, budgets and logs. Most tests stand beside the code,
 * under these names: `complaint: streams cost nothing`.
 */
const themes = [
  'budgets overshot by concurrency',
  'reservations that never end',
  'slots leak on time-outs and cancelled streams',
  'a refusal by one limit uses up another',
  'windows late, odd, never; old spend in a new budget',
  'spend forgotten by restarts, or per replica',
  'streams cost nothing',
  'client leaves: free, or charged wrongly',
  'cached tokens wrong, both ways',
  'unknown, stale, confused prices',
  'a free model falls back to a paid one behind the gate',
  'logs without bound',
  'the page takes the database down',
  'the database slows requests',
  'database away at the start: refused for ever',
  'revoked or changed keys go on',
  'days doubled outside UTC',
  'side doors',
  'settings without effect',
  'the store of analytics is too heavy',
] as const

const root = join(import.meta.dir, '..')
const texts = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.ts$|testing-[a-z]+\.ts$/.test(name))
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
)

test.each(themes)('%s › has a test that is named after it', (theme) => {
  expect(texts.some((text) => text.includes(`complaint: ${theme}`))).toBe(true)
})

describe('complaint: the store of analytics is too heavy', () => {
  const requests = 300

  test('is not so: one thread of the process, some MiB of files, and no work while nothing happens', async () => {
    await using rig = await startLedgerRig([good()])
    const { pid, url } = rig.service
    const headers = { authorization: `Bearer ${rig.key}` }
    const callers = Array.from({ length: 10 }, async () => {
      for (let request = 0; request < requests / 10; request += 1)
        expect((await chat(url, question(), { headers })).status).toBe(200)
    })
    await Promise.all(callers)
    await until(() => rig.sum('requests') === requests)
    expect(childrenOf(pid)).toEqual([])
    expect(threadsOf(pid).filter((name) => name === 'svc-ledger')).toHaveLength(1)
    const [rows] = rig.read(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
      'requests.db',
    )
    expect(Number(rows?.['bytes']) / requests).toBeLessThan(700)
    // The reserve for a full disk has 8 MiB, a write-ahead log 4 at most.
    expect(bytesIn(rig.home)).toBeLessThan(20 * 1024 * 1024)
    // The compiler of the runtime may work on for a moment.
    await until(async () => {
      const [bytes, before] = [bytesIn(rig.home), cpuSeconds(pid)]
      await Bun.sleep(400)
      return cpuSeconds(pid) - before < 0.03 && bytesIn(rig.home) === bytes
    })
  }, 30_000)
})

/** Bytes of all files of a home. */
function bytesIn(home: string): number {
  return readdirSync(home).reduce((sum, name) => sum + statSync(join(home, name)).size, 0)
}
