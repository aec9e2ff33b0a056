import { Database } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { appendEntry } from '../audit-works.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { migrations, rowMigrations } from '../migrations.ts'
import { openDatabase, performed } from '../open-database.ts'
import { fileSql } from '../sql-kind.ts'
import { atOnce, rowsOnce } from '../work.ts'
import { moveSums } from './reprice-works.ts'
import {
  computeCosts,
  repriceEntry,
  type RepriceOptions,
  type RepriceReport,
  type RepriceSource,
  type Repricing,
} from './repricing.ts'

const lockMs = 5_000

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
      const repricing = await computeCosts(options, filesSource({ ledger, rows, perform }))
      if (options.isDryRun) return repricing.report
      await perform(() => bookRun(ledger, id, { repricing, options }))
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
      const booked = ledger.query<{ id: string }, []>("SELECT value AS id FROM meta WHERE name = 'repriced'").get()
      if (run !== null && run.id === booked?.id)
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

function filesSource({ ledger, rows, perform }: OpenFiles): RepriceSource {
  return {
    names: (found) => perform(() => rowsOnce(ledger, found)),
    rows: (found) => perform(() => rowsOnce(rows, found)),
    kind: fileSql,
    order: ['seq'],
    store: (costs) =>
      perform(() => {
        const add = rows.query<unknown, number[]>('INSERT INTO repriced (seq, cost, flags) VALUES (?1, ?2, ?3)')
        rows.transaction(() => costs.forEach(({ row, cost, flags }) => add.run(row.seq, cost, flags))).immediate()
      }),
  }
}

/** Adds all differences, with an entry in the audit and the id of the run, in one transaction. */
function bookRun(
  ledger: Database,
  id: string,
  { repricing: { report, moves }, options }: { readonly repricing: Repricing; readonly options: RepriceOptions },
): void {
  if (report.changed === 0) return
  ledger
    .transaction(() => {
      atOnce(ledger, moveSums(moves, fileSql))
      atOnce(ledger, appendEntry(repriceEntry(options, report), fileSql))
      ledger
        .query<unknown, [string]>(
          `INSERT INTO meta (name, value) VALUES ('repriced', ?1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        )
        .run(id)
    })
    .immediate()
}
