import { chainedEntry } from '../audit-chain.ts'
import { auditColumns, auditRow, auditValues, entryOf } from '../audit-row.ts'
import type { AuditMark, AuditTable, ChainedEntry, NewEntry } from '../ledger.ts'
import type { PostgresClient, Query } from './postgres-client.ts'

/** The audit of a database in PostgreSQL: one chain for all machines. */
export function serverAudit(client: PostgresClient): AuditTable {
  return {
    list: (before, limit) =>
      client.perform((query) => entries(query, 'seq < $1 ORDER BY seq DESC LIMIT $2', [before, limit])),
    slice: (after, limit) =>
      client.perform((query) => entries(query, 'seq > $1 ORDER BY seq LIMIT $2', [after, limit])),
    given: () => client.perform(async (query) => Number((await query('SELECT audit FROM head'))[0]?.['audit'])),
    keyNames: (ids) =>
      client.perform(async (query) => {
        const rows = await query('SELECT id, name FROM key WHERE id = ANY(CAST($1 AS bigint[]))', [`{${ids.join()}}`])
        return new Map(rows.map(({ id, name }) => [Number(id), String(name)]))
      }),
  }
}

/** Appends an entry, in the transaction of the change, which has locked the row of `head`. */
export async function appendServerEntry(query: Query, change: NewEntry): Promise<AuditMark> {
  const [last] = await entries(query, 'true ORDER BY seq DESC LIMIT 1', [])
  const entry = chainedEntry(last, change)
  await query(
    `INSERT INTO audit (${auditColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    auditValues(entry),
  )
  await query('UPDATE head SET audit = greatest(audit, $1)', [entry.seq])
  return { seq: entry.seq, chain: entry.chain }
}

async function entries(query: Query, condition: string, values: number[]): Promise<readonly ChainedEntry[]> {
  const rows = await query(`SELECT ${auditColumns} FROM audit WHERE ${condition}`, values)
  return rows.map((row) => entryOf(auditRow(row)))
}
