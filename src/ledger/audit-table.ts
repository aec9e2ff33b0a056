import type { Database } from 'bun:sqlite'
import { chainOf, hashOfActor } from './audit-chain.ts'
import type { AuditMark, AuditTable, ChainedEntry, NewEntry } from './ledger.ts'

interface AuditRow {
  readonly seq: number
  readonly time: number
  readonly actor: string | null
  readonly actor_salt: string | null
  readonly actor_hash: string
  readonly via: string
  readonly action: string
  readonly object: string
  readonly before: string | null
  readonly after: string | null
  readonly chain: string
}

const columns = 'seq, time, actor, actor_salt, actor_hash, via, action, object, before, after, chain'
const saltBytes = 16

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
  }
}

/** Appends an entry, in the transaction of the change. */
export function appendEntry(database: Database, { actor, before, after, ...facts }: NewEntry): AuditMark {
  const [last] = entries(database, 'TRUE ORDER BY seq DESC LIMIT 1', [])
  const salt = Buffer.from(crypto.getRandomValues(new Uint8Array(saltBytes))).toString('hex')
  const entry = {
    ...facts,
    seq: (last?.seq ?? 0) + 1,
    actorHash: hashOfActor(salt, actor),
    ...(before === undefined ? {} : { before: JSON.stringify(before) }),
    ...(after === undefined ? {} : { after: JSON.stringify(after) }),
  }
  const { seq, time, actorHash, via, action, object } = entry
  const chain = chainOf(last?.chain, entry)
  database.run(`INSERT INTO audit (${columns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`, [
    ...[seq, time, actor, salt, actorHash, via, action, object],
    ...[entry.before ?? null, entry.after ?? null, chain],
  ])
  return { seq, chain }
}

function entries(database: Database, condition: string, values: number[]): readonly ChainedEntry[] {
  return database
    .query<AuditRow, number[]>(`SELECT ${columns} FROM audit WHERE ${condition}`)
    .all(...values)
    .map(entryOf)
}

function entryOf({ actor, actor_salt, actor_hash, before, after, ...row }: AuditRow): ChainedEntry {
  return {
    ...row,
    actorHash: actor_hash,
    ...(actor === null ? {} : { actor }),
    ...(actor_salt === null ? {} : { actorSalt: actor_salt }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
  }
}
