import { Database } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import type { RequestRecord } from '../../observe/record.ts'
import { appendEntry } from '../audit-table.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { migrations, rowMigrations } from '../migrations.ts'
import { openDatabase, performed } from '../open-database.ts'
import { rowFlags } from './row-values.ts'
import { zoneHours, type ZoneHours } from './zone-hours.ts'

const lockMs = 5_000
const pageRows = 2_000

type Usage = NonNullable<RequestRecord['usage']>

/** An answer, as its row tells it. */
export interface PricedRow {
  readonly model: string
  readonly provider: string
  readonly usage: Usage
  /** Its cost was known. */
  readonly hasCost: boolean
}

/** Why the cost of a row stays as it is. */
export type KeptRow = 'no price' | 'not stored'

/** Options of {@link repriceUse}. */
export interface RepriceOptions {
  /** Path of svc.db. The rows are in requests.db beside it. */
  readonly path: string
  /** Unix milliseconds: the first arrival that counts. */
  readonly since: number
  /** Default: all. */
  readonly model?: string | undefined
  readonly isDryRun: boolean
  /** The cost of a row in nano-USD with the prices of now. */
  readonly priceOf: (row: PricedRow) => number | KeptRow
  readonly now: () => number
}

/** What a repricing did, or would do. */
export interface RepriceReport {
  /** Rows whose cost changes. */
  readonly changed: number
  /** Of these, rows that had no price. */
  readonly unpriced: number
  /** Sums of the changed rows, in nano-USD. */
  readonly before: number
  readonly after: number
  /** Rows that stay as they are: by the reason. */
  readonly kept: Readonly<Record<KeptRow | 'reported' | 'no sum', number>>
}

interface Row {
  readonly seq: number
  readonly ended: number
  readonly line: number
  readonly person: number
  readonly team: number
  readonly model: number
  readonly provider: number
  readonly input: number
  readonly cached: number
  readonly write5: number
  readonly write60: number
  readonly output: number
  readonly reasoning: number
  readonly cost: number | null
  readonly flags: number
}

/** What is added to a sum. */
interface Move {
  readonly hour: number
  readonly day: number
  readonly key: readonly number[]
  cost: number
  estimated: number
  unpriced: number
}

const keyCondition = 'line = ?2 AND person = ?3 AND team = ?4 AND model = ?5 AND provider = ?6'

/**
 * Computes the costs of stored rows anew, and moves the sums by the differences, with an entry in the audit. The new
 * costs are stored beside the rows first: after a crash, the next run completes or forgets them, so that no difference
 * is added twice.
 *
 * @throws {LedgerUnavailable}
 */
export async function repriceUse(options: RepriceOptions): Promise<RepriceReport> {
  const { path, isDryRun } = options
  const rowsPath = join(dirname(path), 'requests.db')
  const ledger = await openDatabase({ path, migrations, lockMs })
  try {
    const rows = await openDatabase({ path: rowsPath, migrations: rowMigrations, lockMs, isDispensable: true })
    try {
      const perform = <Value>(work: () => Value): Promise<Value> => performed(path, lockMs, work)
      await perform(() => completeEarlierRun(ledger, rows))
      const id = crypto.randomUUID()
      if (!isDryRun) await perform(() => beginRun(rows, id))
      const { report, moves } = await computed(options, { ledger, rows, perform })
      if (isDryRun) return report
      await perform(() => moveSums(ledger, { id, moves, report, options }))
      await perform(() => completeEarlierRun(ledger, rows, id))
      return report
    } finally {
      rows.close()
    }
  } finally {
    ledger.close()
  }
}

/** The tables of a run in requests.db: its id, and the new costs. */
function beginRun(rows: Database, id: string): void {
  rows
    .transaction(() => {
      rows.run('CREATE TABLE reprice_run (id TEXT NOT NULL, pid INTEGER NOT NULL) STRICT')
      rows.run('CREATE TABLE repriced (seq INTEGER PRIMARY KEY, cost INTEGER NOT NULL, flags INTEGER NOT NULL) STRICT')
      rows.query<unknown, [string, number]>('INSERT INTO reprice_run (id, pid) VALUES (?1, ?2)').run(id, process.pid)
    })
    .immediate()
}

/** Applies the new costs of a run if its differences are in the sums, and removes its tables. */
function completeEarlierRun(ledger: Database, rows: Database, own?: string): void {
  rows
    .transaction(() => {
      const tables = rows.query<unknown, []>("SELECT 1 FROM sqlite_schema WHERE name = 'reprice_run'").values()
      if (tables.length === 0) return
      const run = rows.query<{ id: string; pid: number }, []>('SELECT id, pid FROM reprice_run').get()
      if (run !== null && run.id !== own && run.pid !== process.pid && isAlive(run.pid))
        throw new LedgerUnavailable(`costs are being computed anew by process ${run.pid}: wait for its end`)
      const booked = ledger.query<{ value: string }, []>("SELECT value FROM meta WHERE name = 'repriced'").get()?.value
      if (run !== null && run.id === booked)
        rows.run(
          `UPDATE request SET cost = repriced.cost, flags = repriced.flags
           FROM repriced WHERE request.seq = repriced.seq`,
        )
      rows.run('DROP TABLE repriced')
      rows.run('DROP TABLE reprice_run')
    })
    .immediate()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

interface OpenFiles {
  readonly ledger: Database
  readonly rows: Database
  readonly perform: <Value>(work: () => Value) => Promise<Value>
}

/** Computes all rows, page by page, and stores the new costs beside them. */
async function computed(options: RepriceOptions, { ledger, rows, perform }: OpenFiles) {
  const { since, model, isDryRun } = options
  const hours = zoneHours(textOf(ledger, "SELECT value AS text FROM meta WHERE name = 'time_zone'") ?? 'UTC')
  const nameOf = labels(ledger)
  const report = { changed: 0, unpriced: 0, before: 0, after: 0, kept: noneKept() }
  const moves = new Map<string, Move | undefined>()
  const page = rows.query<Row, [number, number, number]>(
    `SELECT seq, time + ms AS ended, line, person, team, model, provider, input, cached, write5, write60, output,
       reasoning, cost, flags FROM request WHERE seq > ?1 AND time >= ?2 AND provider <> 0 ORDER BY seq LIMIT ?3`,
  )

  function take(row: Row): readonly [number, number, number] | undefined {
    const isUnpriced = (row.flags & rowFlags.unpriced) !== 0
    if (model !== undefined && nameOf(row.model) !== model) return undefined
    if (row.cost === null && !isUnpriced) return undefined
    if ((row.flags & rowFlags.reported) !== 0) return keep('reported')
    const cost = options.priceOf({
      model: nameOf(row.model),
      provider: nameOf(row.provider),
      usage: usageOf(row),
      hasCost: row.cost !== null,
    })
    if (typeof cost === 'string') return keep(cost)
    if (cost === row.cost) return undefined
    const move = moveOf(row, { ledger, hours, moves })
    if (move === undefined) return keep('no sum')
    const difference = cost - (row.cost ?? 0)
    move.cost += difference
    if ((row.flags & rowFlags.estimated) !== 0) move.estimated += difference
    if (isUnpriced) move.unpriced -= 1
    report.changed += 1
    if (isUnpriced) report.unpriced += 1
    report.before += row.cost ?? 0
    report.after += cost
    return [row.seq, cost, row.flags & ~rowFlags.unpriced]
  }

  function keep(reason: keyof RepriceReport['kept']): undefined {
    report.kept[reason] += 1
  }

  const store = isDryRun
    ? undefined
    : rows.query<unknown, number[]>('INSERT INTO repriced (seq, cost, flags) VALUES (?1, ?2, ?3)')
  for (let after = 0; ;) {
    const found = await perform(() => page.all(after, since, pageRows))
    const last = found.at(-1)
    if (last === undefined) return { report, moves: [...moves.values()].filter((move) => move !== undefined) }
    after = last.seq
    const changed = found.flatMap((row) => {
      const values = take(row)
      return values === undefined ? [] : [values]
    })
    if (store !== undefined && changed.length > 0)
      await perform(() => rows.transaction(() => changed.forEach((values) => store.run(...values))).immediate())
  }
}

function noneKept(): Record<keyof RepriceReport['kept'], number> {
  return { 'no price': 0, 'not stored': 0, reported: 0, 'no sum': 0 }
}

/** The difference of the sums that a row is in; `undefined`: a sum is gone, or was cut in another time zone. */
function moveOf(
  { ended, line, person, team, model, provider }: Row,
  { ledger, hours, moves }: { ledger: Database; hours: ZoneHours; moves: Map<string, Move | undefined> },
): Move | undefined {
  const { start: hour, day } = hours.at(ended)
  const key = [line, person, team, model, provider]
  const name = [hour, ...key].join(' ')
  if (moves.has(name)) return moves.get(name)
  const isThere = (['hour', 'day'] as const).every(
    (unit) =>
      ledger
        .query<unknown, number[]>(`SELECT 1 FROM usage_${unit} WHERE ${unit} = ?1 AND ${keyCondition}`)
        .values(unit === 'hour' ? hour : day, ...key).length > 0,
  )
  const move = isThere ? { hour, day, key, cost: 0, estimated: 0, unpriced: 0 } : undefined
  moves.set(name, move)
  return move
}

interface Booking {
  readonly id: string
  readonly moves: readonly Move[]
  readonly report: RepriceReport
  readonly options: RepriceOptions
}

/** Adds all differences, with an entry in the audit, in one transaction. */
function moveSums(ledger: Database, { id, moves, report, options }: Booking): void {
  const { since, model, now } = options
  const { changed, unpriced, before, after } = report
  if (changed === 0) return
  const add = (unit: 'hour' | 'day') =>
    ledger.query<unknown, number[]>(
      `UPDATE usage_${unit} SET cost = cost + ?7, cost_estimated = cost_estimated + ?8, unpriced = unpriced + ?9
       WHERE ${unit} = ?1 AND ${keyCondition}`,
    )
  ledger
    .transaction(() => {
      for (const { hour, day, key, cost, estimated, unpriced: change } of moves) {
        add('hour').run(hour, ...key, cost, estimated, change)
        add('day').run(day, ...key, cost, estimated, change)
      }
      appendEntry(ledger, {
        time: now(),
        actor: 'command line',
        via: 'command line',
        action: 'use.repriced',
        object: model ?? 'all models',
        before: { nanoUsd: before, unpriced },
        after: { nanoUsd: after, rows: changed, since: new Date(since).toISOString() },
      })
      ledger
        .query<unknown, [string]>(
          `INSERT INTO meta (name, value) VALUES ('repriced', ?1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        )
        .run(id)
    })
    .immediate()
}

/** The stored units as a usage, which has the same units again. */
function usageOf({ input, cached, write5, write60, output, reasoning, flags }: Row): Usage {
  const promptTokens = input + cached + write5 + write60
  const completionTokens = output + reasoning
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens: cached,
    cacheWriteTokens: write5 + write60,
    cacheWriteHourTokens: write60,
    reasoningTokens: reasoning,
    ...((flags & rowFlags.estimated) === 0 ? {} : { isEstimated: true }),
  }
}

function labels(ledger: Database): (id: number) => string {
  const known = new Map<number, string>()
  return (id) => {
    const name = known.get(id) ?? textOf(ledger, 'SELECT text FROM label WHERE id = ?1', id) ?? ''
    known.set(id, name)
    return name
  }
}

function textOf(database: Database, query: string, ...values: number[]): string | undefined {
  return database.query<{ text: string }, number[]>(query).get(...values)?.text
}
