import type { Database } from 'bun:sqlite'
import { appendEntry } from './audit-table.ts'
import {
  LedgerFull,
  type AuditMark,
  type ChangeVia,
  type KeyPerson,
  type KeyTable,
  type NewEntry,
  type NewKey,
  type StoredKey,
} from './ledger.ts'

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
/** Keys that a person may make in a day, also if each is ended at once: rows of ended keys stay. */
const madeADayMax = 100
const dayMs = 24 * 60 * 60 * 1_000

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
  readonly person: string | null
  readonly person_name: string | null
  readonly person_user_id: string | null
  readonly person_caseless: number | null
  readonly person_seen: number | null
}

const personColumns = 'person, person_name, person_user_id, person_caseless, person_seen'
const ownColumns = 'id, line, hash, hint, name, kind, made, made_by, expires, ended, ended_by, used, grants'
const columns = `${ownColumns}, ${personColumns}`

/** How changes are recorded. */
export interface Recording {
  readonly via: ChangeVia
  /** Called after each recorded change. */
  readonly onEntry?: (entry: AuditMark) => void
}

/** The keys of a database. A change and its entry in the audit are one transaction. */
export function keyTable({ perform, stamp, publish }: LedgerDatabase, { via, onEntry }: Recording): KeyTable {
  /** Performs a change in one transaction, and publishes it. @param work gets the number of the change */
  async function change<Value>(
    work: (database: Database, version: number, record: (entry: KeyEntry) => void) => Value,
  ): Promise<Value> {
    const { value, version, entry } = await perform((database) =>
      database
        .transaction(() => {
          const version = lastVersion(database) + 1
          let entry: AuditMark | undefined
          const value = work(database, version, ({ id, ...facts }) => {
            entry = appendEntry(database, { ...facts, via, object: String(id) })
          })
          return { value, version, entry }
        })
        .immediate(),
    )
    publish(version)
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
    listOf: (person, limit) =>
      perform((database) => rows(database, 'person = ?1 ORDER BY id DESC LIMIT ?2', [person, limit])),
    add: (key, most) =>
      change((database, version, record) => {
        if (key.person !== undefined) checkCeilings(database, key, most)
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
    replace: (id, successor, expires) =>
      change((database, version, record) => {
        const before = findKey(database, id)
        if (before === undefined) return 'unknown'
        if (before.person !== undefined) return 'personal'
        if (before.ended !== undefined || isPast(before.expires, successor.made)) return 'over'
        if (rows(database, 'line = ?1 AND id > ?2 LIMIT 1', [before.line, id]).length > 0) return 'replaced'
        const end = Math.min(expires, before.expires ?? expires)
        database.run('UPDATE key SET expires = ?2, version = ?3 WHERE id = ?1', [id, end, version])
        const added = insert(database, successor, version, before.line)
        record({
          ...{ id, time: added.made, actor: added.madeBy, action: 'key.rotated' },
          before: { expires: before.expires ?? null },
          after: { expires: end, successor: added.id },
        })
        record(making(added))
        return added
      }),
    end: (id, { at, by }) =>
      change((database, version, record) => {
        const { changes } = database.run(
          'UPDATE key SET ended = ?2, ended_by = ?3, version = ?4 WHERE id = ?1 AND ended IS NULL',
          [id, at, by, version],
        )
        if (changes > 0)
          record({ id, time: at, actor: by, action: 'key.ended', before: { ended: null }, after: { ended: at } })
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

/** A change of a key, to be recorded. */
type KeyEntry = Omit<NewEntry, 'via' | 'object'> & { readonly id: number }

/** The name of a key may be that of a person: it stands in the table only. */
function making({ id, line, kind, made, madeBy, expires, grants }: StoredKey): KeyEntry {
  const granted: unknown = JSON.parse(grants)
  return {
    ...{ id, time: made, actor: madeBy, action: 'key.made' },
    after: { line, kind, expires: expires ?? null, grants: granted },
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

function rows(database: Database, condition: string, values: (number | string)[]): readonly StoredKey[] {
  return database
    .query<KeyRow, (number | string)[]>(`SELECT ${columns} FROM key WHERE ${condition}`)
    .all(...values)
    .map(storedKey)
}

/** @throws {LedgerFull} */
function checkCeilings(database: Database, { person, made }: NewKey, most = Number.POSITIVE_INFINITY): void {
  const [inUse, ofToday] =
    database
      .query<unknown, [string, number, number]>(
        `SELECT count(*) FILTER (WHERE ended IS NULL AND coalesce(expires, ?2 + 1) > ?2),
                count(*) FILTER (WHERE made > ?3) FROM key WHERE person = ?1`,
      )
      .values(person?.id ?? '', made, made - dayMs)[0] ?? []
  if (Number(inUse) >= most) throw new LedgerFull(`a person may have ${most} keys, and you have them: end one first`)
  if (Number(ofToday) >= madeADayMax) throw new LedgerFull(`a person may make ${madeADayMax} keys in a day`)
}

/** @throws {LedgerFull} */
function insert(database: Database, key: NewKey, version: number, line?: number): StoredKey {
  const [count] =
    database
      .query<unknown, [number]>('SELECT count(*) FROM key WHERE ended IS NULL AND coalesce(expires, ?1 + 1) > ?1')
      .values(key.made)[0] ?? []
  if (Number(count) >= keysMax) throw new LedgerFull(`there are ${keysMax} keys in use: end some first`)
  const { hash, hint, name, kind, made, madeBy, expires, grants, person } = key
  const { lastInsertRowid } = database.run(
    `INSERT INTO key (line, hash, hint, name, kind, made, made_by, expires, grants, version, ${personColumns})
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)`,
    [
      ...[line ?? 0, Buffer.from(hash, 'base64'), hint, name, kind, made, madeBy, expires ?? null, grants, version],
      ...personValues(person),
    ],
  )
  const id = Number(lastInsertRowid)
  if (line === undefined) database.run('UPDATE key SET line = id WHERE id = ?1', [id])
  return { ...key, id, line: line ?? id }
}

/** Values of {@link personColumns}. */
function personValues(person: KeyPerson | undefined): (string | number | null)[] {
  if (person === undefined) return [null, null, null, null, null]
  const { id, user, userId = null, hasCaselessName, seen } = person
  return [id, user, userId, Number(hasCaselessName), seen]
}

function personOf(row: KeyRow): { readonly person?: KeyPerson } {
  const { person: id, person_name: user, person_user_id: userId, person_caseless, person_seen } = row
  if (id === null) return {}
  const facts = { id, user: user ?? '', hasCaselessName: person_caseless === 1, seen: person_seen ?? 0 }
  return { person: userId === null ? facts : { ...facts, userId } }
}

function storedKey(row: KeyRow): StoredKey {
  const { id, line, hash, hint, name, kind, made, made_by, expires, ended, ended_by, used, grants } = row
  return {
    ...{ id, line, hint, name, kind, made, grants },
    ...personOf(row),
    hash: Buffer.from(hash).toString('base64'),
    madeBy: made_by,
    ...(expires === null ? {} : { expires }),
    ...(ended === null ? {} : { ended }),
    ...(ended_by === null ? {} : { endedBy: ended_by }),
    ...(used === null ? {} : { used }),
  }
}
