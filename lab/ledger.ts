import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrations, rowMigrations } from '../src/ledger/migrations.ts'
import { openDatabase } from '../src/ledger/open-database.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { counterNames } from '../src/ledger/use/counters.ts'
import { fileUse } from '../src/ledger/use/file-use.ts'
import { namedTotals } from '../src/ledger/use/named-use.ts'
import type { OutcomeQuestion } from '../src/ledger/use/outcome-question.ts'
import { sumUnits } from '../src/ledger/use/outcome-rows.ts'
import type { RequestFilter, RequestScope } from '../src/ledger/use/request-question.ts'
import { addFailures } from '../src/ledger/use/sums-table.ts'
import { useAsker } from '../src/ledger/use/use-asker.ts'
import { charged } from '../src/ledger/use/use-batch.ts'
import { UseNames } from '../src/ledger/use/use-names.ts'
import type { UseQuestion } from '../src/ledger/use/use-question.ts'
import { UseRecorder } from '../src/ledger/use/use-recorder.ts'
import { useStore } from '../src/ledger/use/use-store.ts'
import { useSums } from '../src/ledger/use/use-sums.ts'
import { startUseThread } from '../src/ledger/use/use-thread-link.ts'
import type { UseTotals } from '../src/ledger/use/use-totals.ts'
import { zoneHours } from '../src/ledger/use/zone-hours.ts'
import { atOnce } from '../src/ledger/work.ts'
import type { RequestRecord } from '../src/observe/record.ts'

/**
 * `npm run ledger`: fills the databases of the ledger with requests of 90 days, and measures the questions of the page
 * while further requests arrive. Goals: charts within 100 ms (95 %), lists within 50 ms, at most 2.5 GiB for 10,000,000
 * requests. Exit code 1: a goal is missed.
 */

const usage =
  'Usage: npm run ledger -- [--requests 10000000] [--days 90] [--combinations 300] [--rate 500] [--rounds 40] ' +
  '[--home FOLDER]'
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000000' },
    days: { type: 'string', default: '90' },
    combinations: { type: 'string', default: '300' },
    rate: { type: 'string', default: '500' },
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
const rate = Number(values.rate)
const rounds = Number(values.rounds)
const home = values.home ?? mkdtempSync(join(tmpdir(), 'svc-ledger-lab-'))
const path = join(home, 'svc.db')
const rowsPath = join(home, 'requests.db')
const dayMs = 86_400_000
const hourMs = 3_600_000
const end = Date.now()
const start = Math.floor((end - days * dayMs) / hourMs) * hourMs
const chunk = 500_000
const sampleRows = 50_000
const chartMs = 100
const listMs = 50
const bytesMax = 2.5 * 1024 ** 3
const providers = ['openai', 'anthropic', 'groq'] as const
const models = Array.from({ length: 10 }, (_, index) => `model-${index}`)
let isMissed = false

/** A request of one of the combinations of key, person, model and provider. */
function requestAt(time: number, index: number): RequestRecord {
  const which = Math.floor(Math.random() * combinations)
  const provider = providers[which % providers.length] ?? 'openai'
  const caller = Math.floor(which / 30)
  const isFailed = index % 50 === 0
  const [promptTokens, completionTokens] = [Math.floor(Math.random() * 4_000), Math.floor(Math.random() * 800)]
  return {
    time,
    id: Bun.randomUUIDv7(),
    api: 'chat',
    model: 'm',
    listedAs: models[Math.floor(which / 3) % models.length],
    stream: index % 2 === 0,
    status: isFailed ? 502 : 200,
    ...(isFailed ? { error: 'provider_error' } : { provider, upstream: 'm' }),
    trail: [{ name: provider, ms: 900, ...(isFailed ? { failure: 'server', status: 500 } : { status: 200 }) }],
    firstTokenMs: 300,
    totalMs: 1_200,
    usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
    cost: { nanoUsd: promptTokens * 3_000 + completionTokens * 15_000, source: 'config' },
    ...(caller % 2 === 0 ? { line: 1 + caller, user: 'key:x' } : { user: `person-${caller}` }),
  }
}

/** The size of a row as the service writes it: indexes that grow row by row have more free space than here. */
async function bytesOfRow(): Promise<number> {
  const folder = join(home, 'sample')
  mkdirSync(folder)
  const [sumsPath, samplePath] = [join(folder, 'svc.db'), join(folder, 'requests.db')]
  await (await openLedger({ path: sumsPath })).close()
  const store = useStore({ path: sumsPath, rowsPath: samplePath, zone: 'UTC', lockMs: 5_000 })
  for (let done = 0; done < sampleRows; done += 500) {
    const records = Array.from({ length: 500 }, (_, index) =>
      requestAt(start + Math.floor(((done + index) / sampleRows) * days * dayMs), done + index),
    )
    await store.write([{ source: 'sample', number: 1 + done, records: JSON.stringify(records), count: 500 }])
  }
  await store.close()
  const bytes = statSync(samplePath).size
  rmSync(folder, { recursive: true })
  return bytes / sampleRows
}

/** The numbers of names, and the sums of few requests, which every combination has. */
async function prepare(): Promise<UseNames> {
  await (await openLedger({ path })).close()
  const sums = await openDatabase({ path, migrations, lockMs: 5_000 })
  const names = new UseNames(Date.now)
  for (const name of models) names.idOf('model', name)
  for (const name of providers) names.idOf('provider', name)
  for (const name of ['provider_error', 'server']) names.idOf('error', name)
  names.idOf('api', 'chat')
  for (let caller = 1; caller < combinations / 30; caller += 2)
    names.idOfPerson({ id: `person-${caller}`, name: `person-${caller}` })
  atOnce(sums, names.store())
  sums.close()
  return names
}

/** Makes rows by SQL, their indexes afterwards, and the sums from the rows. */
async function fill(names: UseNames): Promise<void> {
  const rows = await openDatabase({ path: rowsPath, migrations: rowMigrations, lockMs: 5_000, isDispensable: true })
  const indexes = rows
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all()
  rows.run('PRAGMA synchronous = OFF')
  rows.run('PRAGMA cache_size = -262144')
  for (const { name } of indexes) rows.run(`DROP INDEX ${name}`)
  const id = (kind: 'model' | 'provider' | 'error' | 'api', text: string): number => names.idOf(kind, text)
  const place = (choices: readonly number[], column: string): string =>
    `CASE ${choices.map((each, index) => `WHEN ${column} = ${index} THEN ${each}`).join(' ')} END`
  const people = Array.from({ length: Math.ceil(combinations / 30) }, (_, caller) =>
    caller % 2 === 0 ? 0 : names.idOfPerson({ id: `person-${caller}`, name: `person-${caller}` }),
  )
  const provider = place(
    providers.map((name) => id('provider', name)),
    `which % ${providers.length}`,
  )
  const model = place(
    models.map((name) => id('model', name)),
    `which / 3 % ${models.length}`,
  )
  for (let first = 0; first < requests; first += chunk) {
    const last = Math.min(requests, first + chunk)
    rows.run(`
      WITH RECURSIVE numbers (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ${last}),
      made AS MATERIALIZED (
        SELECT i, i % 50 = 0 AS failed, abs(random()) % ${combinations} AS which, abs(random()) % 4000 AS input,
          abs(random()) % 800 AS output, hex(randomblob(16)) AS h FROM numbers)
      INSERT INTO request (time, id, api, line, person, team, model, provider, status, error, ms, first_ms, input,
        cached, write5, write60, output, reasoning, cost, flags, attempts)
      SELECT ${start} + CAST(i * ${((end - start) / requests).toFixed(6)} AS INTEGER),
        lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-' || substr(h, 13, 4) || '-' || substr(h, 17, 4) || '-' ||
          substr(h, 21)),
        ${id('api', 'chat')}, CASE WHEN which / 30 % 2 = 0 THEN 1 + which / 30 ELSE 0 END,
        ${place(people, 'which / 30')}, 0, ${model},
        CASE WHEN failed THEN 0 ELSE ${provider} END, CASE WHEN failed THEN 502 ELSE 200 END,
        CASE WHEN failed THEN ${id('error', 'provider_error')} ELSE 0 END, 1200, 300, input, 0, 0, 0, output, 0,
        input * 3000 + output * 15000, 65, 1
      FROM made`)
    rows.run(`
      INSERT INTO attempt (seq, n, provider, status, class, ms, input, output, cost, flags)
      SELECT seq, 0, ${id('provider', 'openai')}, 500, ${id('error', 'server')}, 900, 0, 0, NULL, 0
      FROM request WHERE seq > ${first} AND status = 502`)
    console.error(`${last} of ${requests} rows`)
  }
  for (const { sql } of indexes) rows.run(sql)
  rows.run('PRAGMA wal_checkpoint(TRUNCATE)')
  rows.close()
  console.error('indexes are made')
  fillSums()
  await fillOutcomes(names)
}

/** The sums by hour and day of all rows. */
function fillSums(): void {
  const sums = new Database(path)
  sums.run('PRAGMA synchronous = OFF')
  sums.run(`ATTACH '${rowsPath.replaceAll("'", "''")}' AS stored`)
  const of: Readonly<Record<string, string>> = {
    requests: 'count(*)',
    errors: 'sum(error <> 0)',
    input: 'sum(input)',
    output: 'sum(output)',
    cost: 'sum(cost)',
  }
  const columns = counterNames.map((name) => `${of[name] ?? '0'} AS ${name}`).join(', ')
  const key = 'line, person, team, model, provider'
  sums.run(
    `INSERT INTO usage_hour SELECT (time + ms) / ${hourMs} * ${hourMs} AS hour, ${key}, ${columns}
     FROM stored.request GROUP BY 1, ${key}`,
  )
  sums.run(
    `INSERT INTO usage_day
     SELECT CAST(strftime('%Y%m%d', hour / 1000, 'unixepoch') AS INTEGER) AS day, ${key},
       ${counterNames.map((name) => `sum(${name})`).join(', ')} FROM usage_hour GROUP BY 1, ${key}`,
  )
  sums.run('DETACH stored')
  sums.close()
}

/** Times and failures: in each hour all combinations, some times each. */
async function fillOutcomes(names: UseNames): Promise<void> {
  const sums = await openDatabase({ path, migrations, lockMs: 5_000 })
  const { addTimes } = fileUse(Date.now)
  const add = (added: UseTotals): void => {
    const { times, failures } = namedTotals(added, names)
    for (const unit of sumUnits) {
      atOnce(sums, addTimes(unit, times[unit]))
      atOnce(sums, addFailures(unit, failures[unit]))
    }
  }
  const hours = zoneHours('UTC')
  for (let day = start; day < end; day += dayMs) {
    const made = useSums()
    for (let hour = day; hour < Math.min(end, day + dayMs); hour += hourMs)
      for (const [index, model] of models.entries())
        for (const provider of providers)
          for (let which = 0; which < 4; which += 1) {
            const record = { ...requestAt(hour, 1 + index), listedAs: model, provider, upstream: 'm' }
            const firstTokenMs = 50 * 2 ** (Math.random() * 6)
            made.add({ requests: [charged({ ...record, firstTokenMs, totalMs: firstTokenMs * 4 })] }, hours)
          }
    sums.transaction(() => add(made.totals()))()
  }
  sums.close()
}

/** Requests that arrive while the questions are asked, as the service writes them. @returns ends it */
function arrive(): () => Promise<void> {
  const recorder = new UseRecorder({
    start: (zone) => startUseThread({ place: { kind: 'file', path }, zone }, () => undefined),
    onTrouble: (problem) => problem !== undefined && console.error(problem),
    onLost: (batches) => console.error(`${batches} batches were not written`),
  })
  let count = 0
  const began = performance.now()
  const timer = setInterval(() => {
    for (const due = ((performance.now() - began) / 1_000) * rate; count < due; count += 1)
      recorder.add(requestAt(Date.now(), count))
  }, 20)
  return async () => {
    clearInterval(timer)
    await recorder.close()
    const seconds = (performance.now() - began) / 1_000
    console.log(`${count} requests arrived meanwhile, ${(count / seconds).toFixed(0)} a second`)
  }
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

function verdict(isReached: boolean): string {
  if (!isReached) isMissed = true
  return isReached ? 'within' : 'BEYOND'
}

async function report(name: string, goal: number, run: () => Promise<unknown>): Promise<void> {
  const [p95, median] = await timed(run)
  console.log(
    `${name.padEnd(44)} ${median.toFixed(1).padStart(8)} ${p95.toFixed(1).padStart(8)}   ` +
      `${verdict(p95 <= goal)} ${goal} ms`,
  )
}

function dayOf(time: number): number {
  return Number(new Date(time).toISOString().slice(0, 10).replaceAll('-', ''))
}

const mebibytes = (size: number): string => `${(size / 1024 ** 2).toFixed(0)} MiB`
const before = performance.now()
const rowBytes = await bytesOfRow()
await fill(await prepare())
console.log(`filled ${requests} requests in ${((performance.now() - before) / 1_000).toFixed(0)} s`)
const sumsBytes = statSync(path).size
const bytes = sumsBytes + rowBytes * requests
console.log(
  `svc.db ${mebibytes(sumsBytes)}, requests.db ${mebibytes(rowBytes * requests)} as the service writes it ` +
    `(${mebibytes(statSync(rowsPath).size)} here): ${Math.ceil(bytes / requests)} bytes a request, ` +
    `${verdict(bytes <= bytesMax)} 2.5 GiB`,
)
console.log(`\n${'question'.padEnd(44)}   median      95 %`)

const asker = useAsker({ place: { kind: 'file', path } })
const leave = arrive()
const ofDays = { unit: 'day', from: dayOf(end - (days - 1) * dayMs), to: dayOf(end + dayMs) } as const
const ofHours = { unit: 'hour', from: end - dayMs, to: end } as const
/** As `GET /api/usage` asks for owners. */
const chart = async (question: Omit<UseQuestion, 'rowsMax'>, by: OutcomeQuestion['by']): Promise<void> => {
  await asker.read({ ...question, rowsMax: 20_000 })
  await asker.outcomes({ ...question, by })
}
const teams = [
  { name: 'core', people: [], userIds: ['person-1'], userNames: [] },
  { name: 'lab', people: [], userIds: [], userNames: ['person-3', 'person-5'] },
]
for (const by of ['model', 'provider', 'person', 'team', 'key'] as const) {
  const outcomes = by === 'model' || by === 'provider' ? by : 'all'
  await report(`${days} days by day and ${by}`, chartMs, () => chart({ ...ofDays, by, teams }, outcomes))
  await report(`24 hours by hour and ${by}`, chartMs, () => chart({ ...ofHours, by, teams }, outcomes))
}
const own = { ...ofDays, by: 'model', rowsMax: 20_000 } as const
await report(`${days} days of one person`, chartMs, () => asker.read({ ...own, people: ['person-1'] }))
await report(`${days} days of one key`, chartMs, () => asker.read({ ...own, line: 1 }))
await report('cost of a month, of one key', chartMs, () => asker.costSince({ line: 1 }, end - 30 * dayMs))

const middle = { time: Math.floor((start + end) / 2), seq: 0 }
const lists: readonly (readonly [string, RequestFilter, RequestScope?])[] = [
  ['requests', {}],
  ['requests of a model', { model: 'model-3' }],
  ['requests of a provider, tried or answered', { provider: 'groq' }],
  ['requests of a person', { person: 'person-1' }],
  ['requests of a key', {}, { line: 1 }],
  ['own requests', {}, { people: ['person-1'] }],
  ['failures', { status: 'failed' }],
  ['requests with an error', { error: 'provider_error' }],
  ['cut answers (there are none)', { status: 'cut' }],
  ['answers of a model and a provider', { model: 'model-3', provider: 'groq', status: 'ok' }],
  ['failures of a model of a person', { model: 'model-3', person: 'person-1', status: 'failed' }],
  ['a format (all have it)', { api: 'chat' }],
  ['a duration that none has', { msMin: 50_000 }],
  ['the beginning of an id', { text: 'abcdef' }],
  ['a short beginning of an id', { text: 'a' }],
  ['a part of names', { text: 'model-3' }],
]
for (const [name, filter, scope = {}] of lists) {
  const page = { scope, filter, rowsMax: 100 }
  await report(`100 ${name}`, listMs, () => asker.requests.page(page))
  await report('  from the middle of all', listMs, () => asker.requests.page({ ...page, before: middle }))
}
const { requests: some } = await asker.requests.page({ scope: {}, filter: {}, before: middle, rowsMax: 1 })
await report('a request by its id', listMs, () => asker.requests.find({}, some[0]?.id ?? ''))
await report('an id that does not exist', listMs, () => asker.requests.find({}, 'none'))
await report('names of filters', listMs, () => asker.requests.choices({}))
await report('names of filters of a person', listMs, () => asker.requests.choices({ people: ['person-1'] }))
await leave()
asker.close()
if (values.home === undefined) rmSync(home, { recursive: true })
if (isMissed) console.log('\na goal is missed')
process.exit(isMissed ? 1 : 0)
