import { chainedEntry } from './audit-chain.ts'
import type { AuditMark, AuditTable, ChainedEntry, NewEntry } from './ledger.ts'
import type { SqlKind } from './sql-kind.ts'
import { numberInRow, places, statement, textInRow, type PerformWork, type Work, type WorkRow } from './work.ts'

const columns = 'seq, time, actor, actor_salt, actor_hash, via, action, object, before, after, chain'

/** The audit of a database. */
export function auditTable(read: PerformWork, { entriesGiven }: SqlKind): AuditTable {
  return {
    list: (before, limit) => read(() => entries('seq < $1 ORDER BY seq DESC LIMIT $2', [before, limit])),
    slice: (after, limit) => read(() => entries('seq > $1 ORDER BY seq LIMIT $2', [after, limit])),
    given: () =>
      read(function* () {
        const [row] = yield entriesGiven
        return numberInRow(row, 'given')
      }),
    keyNames: (ids) =>
      read(function* () {
        if (ids.length === 0) return new Map()
        const rows = yield statement(`SELECT id, name FROM key WHERE id IN (${places(ids.length)})`, ids)
        return new Map(rows.map((row) => [numberInRow(row, 'id'), String(row['name'])]))
      }),
  }
}

/** Appends an entry, in the transaction of the change, which in PostgreSQL has locked the row of `head`. */
export function* appendEntry(change: NewEntry, { hasHead }: SqlKind): Work<AuditMark> {
  const [last] = yield* entries('TRUE ORDER BY seq DESC LIMIT 1', [])
  const entry = chainedEntry(last, change)
  yield statement(`INSERT INTO audit (${columns}) VALUES (${places(11)})`, valuesOf(entry))
  if (hasHead) yield statement('UPDATE head SET audit = greatest(audit, $1)', [entry.seq])
  return { seq: entry.seq, chain: entry.chain }
}

/** Work that returns an entry, and appends it. */
export function* recorded(work: Work<NewEntry>, kind: SqlKind): Work<void> {
  yield* appendEntry(yield* work, kind)
}

function* entries(condition: string, values: readonly number[]): Work<readonly ChainedEntry[]> {
  const rows = yield statement(`SELECT ${columns} FROM audit WHERE ${condition}`, values)
  return rows.map(entryOfRow)
}

function valuesOf(entry: ChainedEntry): (string | number | null)[] {
  const { seq, time, actor = null, actorSalt = null, actorHash, via, action, object } = entry
  const { before = null, after = null, chain } = entry
  return [seq, time, actor, actorSalt, actorHash, via, action, object, before, after, chain]
}

/** The entry of a row. */
export function entryOfRow(row: WorkRow): ChainedEntry {
  const actor = textInRow(row, 'actor')
  const actorSalt = textInRow(row, 'actor_salt')
  const before = textInRow(row, 'before')
  const after = textInRow(row, 'after')
  return {
    seq: numberInRow(row, 'seq'),
    time: numberInRow(row, 'time'),
    ...(actor === undefined ? {} : { actor }),
    ...(actorSalt === undefined ? {} : { actorSalt }),
    actorHash: String(row['actor_hash']),
    via: String(row['via']),
    action: String(row['action']),
    object: String(row['object']),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    chain: String(row['chain']),
  }
}
