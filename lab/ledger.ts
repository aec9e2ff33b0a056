import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrations, rowMigrations } from '../src/ledger/migrations.ts'
import { openDatabase } from '../src/ledger/open-database.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { namesTable } from '../src/ledger/use/names-table.ts'
import { openUseReader } from '../src/ledger/use/read-use.ts'
import { rowsTable } from '../src/ledger/use/rows-table.ts'
import { identifiedSum, sumsTable } from '../src/ledger/use/sums-table.ts'
import type { UseQuestion } from '../src/ledger/use/use-question.ts'
import { useSums } from '../src/ledger/use/use-sums.ts'
import { zoneHours } from '../src/ledger/use/zone-hours.ts'
import type { RequestRecord } from '../src/observe/record.ts'

/**
 * `npm run ledger`: fills the databases of the ledger with requests of 90 days, and measures the questions of the page.
 * Goals: charts within 100 ms (95 %), lists within 50 ms, at most 2.5 GiB for 10,000,000 requests.
 */

const usage =
  'Usage: npm run ledger -- [--requests 10000000] [--days 90] [--combinations 300] [--home FOLDER] [--rounds 40]'
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000000' },
    days: { type: 'string', default: '90' },
    combinations: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '40' },
    home: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const requests = Number(values.requests)
const days = Number(values.days)
const combinations = Number(values.combinations)
const rounds = Number(values.rounds)
const home = values.home ?? mkdtempSync(join(tmpdir(), 'svc-ledger-lab-'))
const path = join(home, 'svc.db')
const rowsPath = join(home, 'requests.db')
const dayMs = 86_400_000
const end = Date.now()
const chunk = 20_000
const chartMs = 100
const listMs = 50
const bytesMax = 2.5 * 1024 ** 3

/** A request of one of the combinations of key, person, model and provider. */
function requestAt(time: number, index: number): RequestRecord {
  const which = Math.floor(Math.random() * combinations)
  const provider = ['openai', 'anthropic', 'groq'][which % 3] ?? 'openai'
  const model = Math.floor(which / 3) % 10
  const caller = Math.floor(which / 30)
  const isFailed = index % 50 === 0
  const [promptTokens, completionTokens] = [Math.floor(Math.random() * 4_000), Math.floor(Math.random() * 800)]
  return {
    time,
    id: crypto.randomUUID(),
    api: 'chat',
    model: 'm',
    listedAs: `model-${model}`,
    stream: index % 2 === 0,
    status: isFailed ? 502 : 200,
    ...(isFailed ? { error: 'provider_error' } : { provider, upstream: 'm' }),
    trail: [{ name: provider, ms: 900, ...(isFailed ? { failure: 'server_error', status: 500 } : { status: 200 }) }],
    firstTokenMs: 300,
    totalMs: 1_200,
    usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
    cost: { nanoUsd: promptTokens * 3_000 + completionTokens * 15_000, source: 'config' },
    ...(caller % 2 === 0 ? { line: 1 + caller, user: 'key:x' } : { user: `person-${caller}` }),
  }
}

async function fill(): Promise<void> {
  await (await openLedger({ path })).close()
  const sums = await openDatabase({ path, migrations, lockMs: 5_000 })
  const rows = await openDatabase({ path: rowsPath, migrations: rowMigrations, lockMs: 5_000, isDispensable: true })
  const hours = zoneHours('UTC')
  const addSums = sumsTable(sums)
  const addRow = rowsTable(rows)
  const names = namesTable(sums, Date.now)
  for (let done = 0; done < requests; done += chunk) {
    const merged = useSums()
    const records = Array.from({ length: Math.min(chunk, requests - done) }, (_, index) =>
      requestAt(Math.floor(end - days * dayMs + ((done + index) / requests) * days * dayMs), done + index),
    )
    for (const record of records) merged.add(record, hours)
    sums.transaction(() => addSums(merged.list().map((sum) => identifiedSum(sum, names))))()
    rows.transaction(() => {
      for (const record of records) addRow(record, names)
    })()
    if (done % 1_000_000 === 0) console.error(`${done} of ${requests}`)
  }
  sums.close()
  rows.close()
}

/** Milliseconds within which 95 % of the runs ended, and the median. */
async function timed(run: () => Promise<unknown>): Promise<readonly [p95: number, median: number]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = performance.now()
    await run()
    times.push(performance.now() - before)
  }
  const sorted = times.toSorted((one, other) => one - other)
  return [sorted[Math.ceil(rounds * 0.95) - 1] ?? 0, sorted[Math.floor(rounds / 2)] ?? 0]
}

function report(name: string, [p95, median]: readonly [number, number], goal: number): void {
  const verdict = p95 <= goal ? 'within' : 'BEYOND'
  console.log(
    `${name.padEnd(44)} ${median.toFixed(1).padStart(8)} ${p95.toFixed(1).padStart(8)}   ${verdict} ${goal} ms`,
  )
}

function dayOf(time: number): number {
  return Number(new Date(time).toISOString().slice(0, 10).replaceAll('-', ''))
}

const before = performance.now()
await fill()
console.log(`filled ${requests} requests in ${((performance.now() - before) / 1_000).toFixed(0)} s`)
const bytes = statSync(path).size + statSync(rowsPath).size
const mebibytes = (size: number): string => `${(size / 1024 ** 2).toFixed(0)} MiB`
console.log(
  `svc.db ${mebibytes(statSync(path).size)}, requests.db ${mebibytes(statSync(rowsPath).size)}: ` +
    `${((bytes / requests) | 0).toString()} bytes a request, ${bytes <= bytesMax ? 'within' : 'BEYOND'} 2.5 GiB`,
)
console.log(`\n${'question'.padEnd(44)}   median      95 %`)
const reader = await openUseReader(path)
const charts: readonly (readonly [string, Omit<UseQuestion, 'rowsMax'>])[] = (
  ['model', 'provider', 'person', 'key'] as const
).flatMap((by) => [
  [`90 days by day and ${by}`, { unit: 'day', by, from: dayOf(end - 89 * dayMs), to: dayOf(end + dayMs) }] as const,
  [`24 hours by hour and ${by}`, { unit: 'hour', by, from: end - dayMs, to: end }] as const,
])
for (const [name, question] of charts)
  report(name, await timed(() => reader.read({ ...question, rowsMax: 20_000 })), chartMs)
const ofOne = {
  unit: 'day',
  by: 'model',
  from: dayOf(end - 89 * dayMs),
  to: dayOf(end + dayMs),
  rowsMax: 20_000,
} as const
report('90 days of one person', await timed(() => reader.read({ ...ofOne, people: ['person-1'] })), chartMs)
report('90 days of one key', await timed(() => reader.read({ ...ofOne, line: 1 })), chartMs)
report('cost of a month, of one key', await timed(() => reader.costSince({ line: 1 }, end - 30 * dayMs, end)), chartMs)
await reader.close()

const rows = await openDatabase({ path: rowsPath, migrations: rowMigrations, lockMs: 5_000, isDispensable: true })
const lists: readonly (readonly [string, string])[] = [
  ['last 100 requests', 'SELECT * FROM request ORDER BY time DESC LIMIT 100'],
  ['last 100 of a key', 'SELECT * FROM request WHERE line = 1 ORDER BY time DESC LIMIT 100'],
  ['last 100 failures', 'SELECT * FROM request WHERE status >= 400 ORDER BY time DESC LIMIT 100'],
]
for (const [name, query] of lists) report(name, await timed(async () => rows.query(query).all()), listMs)
rows.close()
if (values.home === undefined) rmSync(home, { recursive: true })
