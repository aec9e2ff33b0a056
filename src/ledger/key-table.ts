import type { Database } from 'bun:sqlite'
import { LedgerFull, type KeyTable, type NewKey, type StoredKey } from './ledger.ts'

/** The database, as a table of the ledger uses it. */
export interface LedgerDatabase {
  /** Performs work on the database. @throws {LedgerUnavailable} */
  perform<Value>(work: (database: Database, file: number) => Value): Promise<Value>
  /** @returns a number that differs after each change */
  stamp(): number
  /** Publishes a change after its commit. */
  publish(version: number): void
}

/** Keys that are in use at a time: all of them are in the memory of every worker. */
const keysMax = 100_000

/** A row of the table. */
interface KeyRow {
  readonly id: number
  readonly line: number
  readonly hash: Uint8Array
  readonly hint: string
  readonly name: string
  readonly kind: string
  readonly made: number
  readonly made_by: string
  readonly expires: number | null
  readonly ended: number | null
  readonly ended_by: string | null
  readonly used: number | null
  readonly grants: string
}

const columns = 'id, line, hash, hint, name, kind, made, made_by, expires, ended, ended_by, used, grants'

/** The keys of a database. */
export function keyTable({ perform, stamp, publish }: LedgerDatabase): KeyTable {
  /** Performs a change in one transaction, and publishes it. @param work gets the number of the change */
  async function change<Value>(work: (database: Database, version: number) => Value): Promise<Value> {
    const { value, version } = await perform((database) =>
      database
        .transaction(() => {
          const version = lastVersion(database) + 1
          return { value: work(database, version), version }
        })
        .immediate(),
    )
    publish(version)
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
    add: (key) => change((database, version) => insert(database, key, version)),
    replace: (id, successor, expires) =>
      change((database, version) => {
        const before = findKey(database, id)
        if (before === undefined) return 'unknown'
        if (before.ended !== undefined || isPast(before.expires, successor.made)) return 'over'
        if (rows(database, 'line = ?1 AND id > ?2 LIMIT 1', [before.line, id]).length > 0) return 'replaced'
        const end = Math.min(expires, before.expires ?? expires)
        database.run('UPDATE key SET expires = ?2, version = ?3 WHERE id = ?1', [id, end, version])
        return insert(database, successor, version, before.line)
      }),
    end: (id, { at, by }) =>
      change((database, version) => {
        database.run('UPDATE key SET ended = ?2, ended_by = ?3, version = ?4 WHERE id = ?1 AND ended IS NULL', [
          id,
          at,
          by,
          version,
        ])
        return findKey(database, id)
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

function isPast(time: number | undefined, now: number): boolean {
  return time !== undefined && time <= now
}

function lastVersion(database: Database): number {
  return Number(database.query<unknown, []>('SELECT coalesce(max(version), 0) FROM key').values()[0]?.[0])
}

function findKey(database: Database, id: number): StoredKey | undefined {
  return rows(database, 'id = ?1', [id])[0]
}

function rows(database: Database, condition: string, values: number[]): readonly StoredKey[] {
  return database
    .query<KeyRow, number[]>(`SELECT ${columns} FROM key WHERE ${condition}`)
    .all(...values)
    .map(storedKey)
}

/** @throws {LedgerFull} */
function insert(database: Database, key: NewKey, version: number, line?: number): StoredKey {
  const [count] =
    database
      .query<unknown, [number]>('SELECT count(*) FROM key WHERE ended IS NULL AND coalesce(expires, ?1 + 1) > ?1')
      .values(key.made)[0] ?? []
  if (Number(count) >= keysMax) throw new LedgerFull(`there are ${keysMax} keys in use: end some first`)
  const { hash, hint, name, kind, made, madeBy, expires, grants } = key
  const { lastInsertRowid } = database.run(
    `INSERT INTO key (line, hash, hint, name, kind, made, made_by, expires, grants, version)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
    [line ?? 0, Buffer.from(hash, 'base64'), hint, name, kind, made, madeBy, expires ?? null, grants, version],
  )
  const id = Number(lastInsertRowid)
  if (line === undefined) database.run('UPDATE key SET line = id WHERE id = ?1', [id])
  return { ...key, id, line: line ?? id }
}

function storedKey({ hash, made_by, expires, ended, ended_by, used, ...row }: KeyRow): StoredKey {
  return {
    ...row,
    hash: Buffer.from(hash).toString('base64'),
    madeBy: made_by,
    ...(expires === null ? {} : { expires }),
    ...(ended === null ? {} : { ended }),
    ...(ended_by === null ? {} : { endedBy: ended_by }),
    ...(used === null ? {} : { used }),
  }
}
