import type { Database } from 'bun:sqlite'
import { appendEntry } from './audit-table.ts'
import {
  keyColumns,
  ownerColumns,
  ownerCondition,
  keyOwnerOf,
  lineRowColumns,
  lineRowValues,
  ownerValues,
  personValues,
  storedKey,
  type KeyRow,
} from './key-row.ts'
import {
  checkCeilings,
  checkKeysInUse,
  dayBefore,
  ending,
  making,
  refusalOfSuccessor,
  rotation,
  type ChangedKey,
  type OwnedKeys,
} from './key-rules.ts'
import type { AuditMark, ChangeVia, KeyOwner, KeyTable, NewKey, StoredKey } from './ledger.ts'

/** The database, as a table of the ledger uses it. */
export interface LedgerDatabase {
  /** Performs work on the database. @throws {LedgerUnavailable} */
  perform<Value>(work: (database: Database, file: number) => Value): Promise<Value>
  /** @returns a number that differs after each change */
  stamp(): number
  /** Publishes a change after its commit. */
  publish(version: number): void
}

/** How changes are recorded. */
export interface Recording {
  readonly via: ChangeVia
  /** Called after each recorded change. */
  readonly onEntry?: (entry: AuditMark) => void
}

/** The keys of a database. A change and its entry in the audit are one transaction. */
export function keyTable(ledger: LedgerDatabase, { via, onEntry }: Recording): KeyTable {
  const { perform, stamp } = ledger

  /** Performs a change, and records it. */
  async function change<Value>(
    work: (database: Database, version: number, record: (entry: ChangedKey) => void) => Value,
  ): Promise<Value> {
    let entry: AuditMark | undefined
    const value = await changeInFile(ledger, (database, version) => {
      entry = undefined
      return work(database, version, ({ id, ...facts }) => {
        entry = appendEntry(database, { ...facts, via, object: String(id) })
      })
    })
    if (entry !== undefined) onEntry?.(entry)
    return value
  }

  return {
    stamp,
    changes: (mark) =>
      perform((database, file) => {
        const isWhole = mark?.file !== file
        const after = isWhole ? 0 : mark.version
        return database.transaction(() => ({
          mark: { file, version: lastVersion(database) },
          isWhole,
          keys: rows(database, 'version > ?1 ORDER BY id', [after]),
        }))()
      }),
    find: (id) => perform((database) => findKey(database, id)),
    list: (after, limit) => perform((database) => rows(database, 'id > ?1 ORDER BY id LIMIT ?2', [after, limit])),
    listOf(owner, limit) {
      const [column, value] = ownerCondition(owner)
      return perform((database) => rows(database, `${column} = ?1 ORDER BY id DESC LIMIT ?2`, [value, limit]))
    },
    add: (key, most) =>
      change((database, version, record) => {
        checkOwned(database, key, most)
        const added = insert(database, key, version)
        record(making(added))
        return added
      }),
    notePerson: (person) =>
      change((database, version) => {
        database.run(
          `UPDATE key SET person_name = ?2, person_user_id = ?3, person_caseless = ?4, person_seen = ?5, version = ?6
           WHERE person = ?1 AND ended IS NULL`,
          [...personValues(person), version],
        )
      }),
    replace: (id, successor, expires, most) =>
      change((database, version, record) => {
        const before = findKey(database, id)
        const isNewest =
          before !== undefined && rows(database, 'line = ?1 AND id > ?2 LIMIT 1', [before.line, id]).length === 0
        const refusal = refusalOfSuccessor(before, isNewest, successor.made)
        if (before === undefined || refusal !== undefined) return refusal ?? 'unknown'
        const end = Math.min(expires, before.expires ?? expires)
        database.run('UPDATE key SET expires = ?2, version = ?3 WHERE id = ?1', [id, end, version])
        checkOwned(database, successor, most)
        const added = insert(database, successor, version, before.line)
        record(rotation(before, added, end))
        record(making(added))
        return added
      }),
    end: (id, { at, by }) =>
      change((database, version, record) => {
        const { changes } = database.run(
          'UPDATE key SET ended = ?2, ended_by = ?3, version = ?4 WHERE id = ?1 AND ended IS NULL',
          [id, at, by, version],
        )
        if (changes > 0) record(ending(id, { at, by }))
        return findKey(database, id)
      }),
    nameLine: (line, name) =>
      perform((database) => {
        database.run(
          `INSERT OR IGNORE INTO key (${lineRowColumns.names}) VALUES (?1, ?1, ?2, ?3, ${lineRowColumns.constants})`,
          lineRowValues(line, name),
        )
      }),
    uses: (ids) =>
      perform((database) => {
        const query = 'SELECT id, used FROM key WHERE id IN (SELECT value FROM json_each(?1)) AND used IS NOT NULL'
        return new Map(database.query<unknown, [string]>(query).values(JSON.stringify(ids)).map(pairOf))
      }),
    noteUses: (uses) =>
      perform((database) => {
        const note = database.query<unknown, [number, number]>(
          'UPDATE key SET used = max(coalesce(used, 0), ?2) WHERE id = ?1',
        )
        database
          .transaction(() => {
            for (const [id, time] of uses) note.run(id, time)
          })
          .immediate()
      }),
  }
}

/**
 * Performs a change in one transaction, then publishes it. The next change gets the number of one that has changed no
 * key, which is therefore not published: processes would take both for one.
 *
 * @param work gets the number of the change
 */
export async function changeInFile<Value>(
  { perform, publish }: LedgerDatabase,
  work: (database: Database, version: number) => Value,
): Promise<Value> {
  const { value, version, isChanged } = await perform((database) =>
    database
      .transaction(() => {
        const version = lastVersion(database) + 1
        const value = work(database, version)
        return { value, version, isChanged: lastVersion(database) === version }
      })
      .immediate(),
  )
  if (isChanged) publish(version)
  return value
}

function lastVersion(database: Database): number {
  return Number(database.query<unknown, []>('SELECT coalesce(max(version), 0) FROM key').values()[0]?.[0])
}

function pairOf([id, time]: readonly unknown[]): readonly [number, number] {
  return [Number(id), Number(time)]
}

function findKey(database: Database, id: number): StoredKey | undefined {
  return rows(database, 'id = ?1', [id])[0]
}

function rows(database: Database, condition: string, values: (number | string)[]): readonly StoredKey[] {
  return database
    .query<KeyRow, (number | string)[]>(`SELECT ${keyColumns} FROM key WHERE ${condition}`)
    .all(...values)
    .map(storedKey)
}

/** @throws {LedgerFull} */
function checkOwned(database: Database, key: NewKey, most: number | undefined): void {
  const owner = keyOwnerOf(key)
  if (owner !== undefined && most !== undefined) checkCeilings(owner, ownedKeys(database, owner, key), most)
}

function ownedKeys(database: Database, owner: KeyOwner, { made }: NewKey): OwnedKeys {
  const [column, value] = ownerCondition(owner)
  const [inUse, ofToday] =
    database
      .query<unknown, [string, number, number]>(
        `SELECT count(*) FILTER (WHERE ended IS NULL AND coalesce(expires, ?2 + 1) > ?2),
                count(*) FILTER (WHERE made > ?3) FROM key WHERE ${column} = ?1`,
      )
      .values(value, made, dayBefore(made))[0] ?? []
  return { inUse: Number(inUse), ofToday: Number(ofToday) }
}

/** @throws {LedgerFull} */
function insert(database: Database, key: NewKey, version: number, line?: number): StoredKey {
  const [count] =
    database
      .query<unknown, [number]>('SELECT count(*) FROM key WHERE ended IS NULL AND coalesce(expires, ?1 + 1) > ?1')
      .values(key.made)[0] ?? []
  checkKeysInUse(Number(count))
  const { hash, hint, name, kind, made, madeBy, expires, grants } = key
  const { lastInsertRowid } = database.run(
    `INSERT INTO key (line, hash, hint, name, kind, made, made_by, expires, grants, version, ${ownerColumns})
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`,
    [
      ...[line ?? 0, Buffer.from(hash, 'base64'), hint, name, kind, made, madeBy, expires ?? null, grants, version],
      ...ownerValues(key),
    ],
  )
  const id = Number(lastInsertRowid)
  if (line === undefined) database.run('UPDATE key SET line = id WHERE id = ?1', [id])
  return { ...key, id, line: line ?? id }
}
