import type { Database } from 'bun:sqlite'
import { chainedEntry } from './audit-chain.ts'
import { auditColumns, auditValues, entryOf, type AuditRow } from './audit-row.ts'
import type { AuditMark, AuditTable, ChainedEntry, NewEntry } from './ledger.ts'

/** The audit of a database. */
export function auditTable(perform: <Value>(work: (database: Database) => Value) => Promise<Value>): AuditTable {
  return {
    list: (before, limit) =>
      perform((database) => entries(database, 'seq < ?1 ORDER BY seq DESC LIMIT ?2', [before, limit])),
    slice: (after, limit) => perform((database) => entries(database, 'seq > ?1 ORDER BY seq LIMIT ?2', [after, limit])),
    given: () =>
      perform((database) =>
        Number(
          database
            .query<unknown, []>(`SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'audit'`)
            .values()[0]?.[0],
        ),
      ),
    keyNames: (ids) =>
      perform((database) => {
        const rows = database
          .query<{ id: number; name: string }, [string]>(
            'SELECT id, name FROM key WHERE id IN (SELECT value FROM json_each(?1))',
          )
          .all(JSON.stringify(ids))
        return new Map(rows.map(({ id, name }) => [id, name]))
      }),
  }
}

/** Appends an entry, in the transaction of the change. */
export function appendEntry(database: Database, change: NewEntry): AuditMark {
  const [last] = entries(database, 'TRUE ORDER BY seq DESC LIMIT 1', [])
  const entry = chainedEntry(last, change)
  database.run(
    `INSERT INTO audit (${auditColumns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
    auditValues(entry),
  )
  return { seq: entry.seq, chain: entry.chain }
}

function entries(database: Database, condition: string, values: number[]): readonly ChainedEntry[] {
  return database
    .query<AuditRow, number[]>(`SELECT ${auditColumns} FROM audit WHERE ${condition}`)
    .all(...values)
    .map(entryOf)
}
