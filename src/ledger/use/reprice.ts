import { Database } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { appendEntry, fileAudit } from '../audit-works.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { migrations, rowMigrations } from '../migrations.ts'
import { openDatabase, performed } from '../open-database.ts'
import { atOnce } from '../work.ts'
import {
  computeCosts,
  repriceEntry,
  rowColumns,
  type RepriceOptions,
  type RepriceReport,
  type RepriceSource,
  type Repricing,
  type StoredRow,
} from './repricing.ts'

const lockMs = 5_000

const keyCondition = 'line = ?2 AND person = ?3 AND team = ?4 AND model = ?5 AND provider = ?6'

/**
 * Computes the costs of the rows in requests.db anew, and moves the sums in svc.db by the differences, with an entry in
 * the audit. The new costs are stored beside the rows first: after a crash, the next run completes or forgets them, so
 * that no difference is added twice.
 *
 * @param path of svc.db
 * @throws {LedgerUnavailable}
 */
export async function repriceFiles(path: string, options: RepriceOptions): Promise<RepriceReport> {
  const rowsPath = join(dirname(path), 'requests.db')
  const ledger = await openDatabase({ path, migrations, lockMs })
  try {
    const rows = await openDatabase({ path: rowsPath, migrations: rowMigrations, lockMs, isDispensable: true })
    try {
      const perform = <Value>(work: () => Value): Promise<Value> => performed(path, lockMs, work)
      await perform(() => completeRun(ledger, rows))
      const id = crypto.randomUUID()
      if (!options.isDryRun) await perform(() => beginRun(rows, id))
      const repricing = await computeCosts(options, filesSource(options, { ledger, rows, perform }))
      if (options.isDryRun) return repricing.report
      await perform(() => moveSums(ledger, id, { repricing, options }))
      await perform(() => completeRun(ledger, rows, id))
      return repricing.report
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

/**
 * Applies the new costs of a run if its differences are in the sums, and removes its tables.
 *
 * @param own id of this run. Default: it is an earlier one, which must have ended
 */
function completeRun(ledger: Database, rows: Database, own?: string): void {
  rows
    .transaction(() => {
      const tables = rows.query<unknown, []>("SELECT 1 FROM sqlite_schema WHERE name = 'reprice_run'").values()
      if (tables.length === 0) return
      const run = rows.query<{ id: string; pid: number }, []>('SELECT id, pid FROM reprice_run').get()
      if (run !== null && run.id !== own && run.pid !== process.pid && isAlive(run.pid))
        throw new LedgerUnavailable(`costs are being computed anew by process ${run.pid}: wait for its end`)
      const booked = textInRow(ledger, "SELECT value AS text FROM meta WHERE name = 'repriced'")
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

function filesSource({ since }: RepriceOptions, { ledger, rows, perform }: OpenFiles): RepriceSource {
  const page = rows.query<StoredRow, [number, number, number]>(
    `SELECT ${rowColumns.join(', ')} FROM request
     WHERE seq > ?1 AND time >= ?2 AND provider <> 0 ORDER BY seq LIMIT ?3`,
  )
  const hour = ledger.query<unknown, number[]>(`SELECT 1 FROM usage_hour WHERE hour = ?1 AND ${keyCondition}`)
  const day = ledger.query<unknown, number[]>(`SELECT 1 FROM usage_day WHERE day = ?1 AND ${keyCondition}`)
  return {
    zone: textInRow(ledger, "SELECT value AS text FROM meta WHERE name = 'time_zone'") ?? 'UTC',
    page: (last, limit) => perform(() => page.all(last?.seq ?? 0, since, limit)),
    namesOf: (ids) =>
      perform(
        () => new Map(ids.map((id) => [id, textInRow(ledger, 'SELECT text FROM label WHERE id = ?1', id) ?? ''])),
      ),
    areThere: (sums) =>
      perform(() =>
        sums.map((sum) => hour.get(sum.hour, ...sum.key) !== null && day.get(sum.day, ...sum.key) !== null),
      ),
    store: (costs) =>
      perform(() => {
        const add = rows.query<unknown, number[]>('INSERT INTO repriced (seq, cost, flags) VALUES (?1, ?2, ?3)')
        rows.transaction(() => costs.forEach(({ row, cost, flags }) => add.run(row.seq, cost, flags))).immediate()
      }),
  }
}

/** Adds all differences, with an entry in the audit and the id of the run, in one transaction. */
function moveSums(
  ledger: Database,
  id: string,
  { repricing: { report, moves }, options }: { readonly repricing: Repricing; readonly options: RepriceOptions },
): void {
  if (report.changed === 0) return
  const addTo = (unit: 'hour' | 'day') =>
    ledger.query<unknown, number[]>(
      `UPDATE usage_${unit} SET cost = cost + ?7, cost_estimated = cost_estimated + ?8, unpriced = unpriced + ?9
       WHERE ${unit} = ?1 AND ${keyCondition}`,
    )
  const [hours, days] = [addTo('hour'), addTo('day')]
  ledger
    .transaction(() => {
      for (const { hour, day, key, cost, estimated, unpriced } of moves) {
        hours.run(hour, ...key, cost, estimated, unpriced)
        days.run(day, ...key, cost, estimated, unpriced)
      }
      atOnce(ledger, appendEntry(repriceEntry(options, report), fileAudit))
      ledger
        .query<unknown, [string]>(
          `INSERT INTO meta (name, value) VALUES ('repriced', ?1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        )
        .run(id)
    })
    .immediate()
}

function textInRow(database: Database, query: string, ...values: number[]): string | undefined {
  return database.query<{ text: string }, number[]>(query).get(...values)?.text
}
