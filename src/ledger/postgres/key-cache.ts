import type { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { openStamp } from '../change-stamp.ts'
import { eraseFreed } from '../erase-freed.ts'
import { hasForgotten, keyColumns, ownerValues } from '../key-row.ts'
import { keysWhere } from '../key-works.ts'
import { LedgerTooNew, LedgerUnavailable, type KeyChanges, type KeyMark, type StoredKey } from '../ledger.ts'
import { openSharedDatabase, type SharedDatabase } from '../shared-database.ts'
import { atOnce, places, rowsOf, statement } from '../work.ts'

/** A key, and the number of its last change at the server. */
export interface ServerKey extends StoredKey {
  readonly version: number
}

/** The last state of the server that the copy has. */
export interface CacheState {
  /** Id of the database at the server. */
  readonly database: string
  readonly version: number
}

/** A state of the copy. */
export interface BaseState extends CacheState {
  /** The highest number of a change that the copy has: a change of this machine may be ahead of those of others. */
  readonly highest: number
}

/** Keys that were read from the server. */
export interface KeysRead extends CacheState {
  /** The state of the copy before the keys were read. */
  readonly base: BaseState | undefined
  /** All keys of the server; otherwise those that changed since the base. */
  readonly isWhole: boolean
  readonly keys: readonly ServerKey[]
  /** Unix milliseconds, before they were read. */
  readonly time: number
}

/**
 * The copy of all keys on this machine, which every process reads instead of the server. Others of this machine may use
 * it at the same time. Methods reject with {@link LedgerUnavailable} when the file cannot be used.
 */
export interface KeyCache {
  /** Differs after each change of the copy. -1: the copy is too old, so that its keys must not be used. */
  stamp(): number
  /** @throws {LedgerUnavailable} the copy is too old, or was never written */
  changes(mark?: KeyMark): Promise<KeyChanges>
  /** `undefined`: it was never written. */
  state(): Promise<BaseState | undefined>
  /** Takes keys over. Older states of keys than those of the copy are left out. */
  apply(read: KeysRead): Promise<void>
  /** Takes over keys that this process has changed, without the changes of others. */
  applyOwn(database: string, keys: readonly ServerKey[]): Promise<void>
  close(): void
}

export interface KeyCacheOptions {
  readonly path: string
  /** Milliseconds after the last reading of the server in which the keys are used. */
  readonly graceMs: number
  readonly onTrouble?: (problem: string | undefined) => void
  /** Unix milliseconds. */
  readonly now?: () => number
}

const cacheMigrations: readonly string[] = [
  `CREATE TABLE key (
     id INTEGER PRIMARY KEY,
     line INTEGER NOT NULL,
     hash BLOB NOT NULL,
     hint TEXT NOT NULL,
     name TEXT NOT NULL,
     kind TEXT NOT NULL,
     made INTEGER NOT NULL,
     made_by TEXT NOT NULL,
     expires INTEGER,
     ended INTEGER,
     ended_by TEXT,
     used INTEGER,
     grants TEXT NOT NULL,
     person TEXT,
     person_name TEXT,
     person_user_id TEXT,
     person_caseless INTEGER,
     person_seen INTEGER,
     version INTEGER NOT NULL,
     server_version INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX key_version ON key (version);
   CREATE TABLE state (
     database TEXT NOT NULL,
     version INTEGER NOT NULL,
     highest INTEGER NOT NULL,
     replacements INTEGER NOT NULL,
     changes INTEGER NOT NULL
   ) STRICT;`,
  // All keys are read anew: an older service left their teams out.
  `ALTER TABLE key ADD COLUMN team TEXT;
   UPDATE state SET highest = ${Number.MAX_SAFE_INTEGER};`,
]

/** Replacements of all keys that one file can have: its number and theirs make up one mark. */
const replacementsMax = 2 ** 20
const secondMs = 1_000

/** Opens the copy, which is made if needed. A file that cannot be used is begun anew: it is a copy only. */
export async function openKeyCache({ path, graceMs, onTrouble, now = Date.now }: KeyCacheOptions): Promise<KeyCache> {
  const shared = await openAnew(path, onTrouble)
  const readAt = openStamp(`${path}-read`)

  /** A clock that was set back makes the last reading lie in the future. */
  function isTooOld(): boolean {
    // Seconds since 1970 without a sign fit until 2106.
    return Math.abs(now() - (readAt.read() >>> 0) * secondMs) > graceMs + secondMs
  }

  function noteRead(time: number): void {
    readAt.write(Math.floor(time / secondMs))
  }

  async function change(
    keys: readonly StoredKey[],
    work: (database: Database, next: number) => boolean,
  ): Promise<void> {
    const changes = await shared.perform((database) =>
      database
        .transaction(() => {
          const next = (stateRow(database)?.changes ?? 0) + 1
          if (!work(database, next)) return undefined
          database.run('UPDATE state SET changes = ?1', [next])
          return next
        })
        .immediate(),
    )
    if (changes === undefined) return
    shared.publish(changes)
    // A failure is not worth refusing all keys.
    if (keys.some(hasForgotten)) await eraseFreed(shared.perform).catch(() => undefined)
  }

  return {
    stamp: () => (isTooOld() ? -1 : shared.stamp()),
    changes: (mark) =>
      shared.perform((database, file) => {
        if (isTooOld()) throw new LedgerUnavailable('the keys were not read from the database for too long')
        const state = stateRow(database)
        if (state === undefined) throw new LedgerUnavailable('the keys were never read from the database')
        const number = file * replacementsMax + state.replacements
        const isWhole = mark?.file !== number
        return database.transaction(() => ({
          mark: { file: number, version: state.changes },
          isWhole,
          keys: atOnce(database, keysWhere('version > $1 ORDER BY id', [isWhole ? 0 : mark.version])),
        }))()
      }),
    state: () => shared.perform((database) => stateRow(database)),
    async apply(read) {
      await change(read.keys, (database, next) => applied(database, read, next))
      noteRead(read.time)
    },
    applyOwn: (id, keys) =>
      change(keys, (database, next) => {
        if (stateRow(database)?.database !== id) return false // The next reading takes all.
        for (const key of keys) put(database, key, next)
        const highest = Math.max(0, ...keys.map(({ version }) => version))
        database.run('UPDATE state SET highest = max(highest, ?1)', [highest])
        return true
      }),
    close: () => shared.close(),
  }
}

async function openAnew(path: string, onTrouble: KeyCacheOptions['onTrouble']): Promise<SharedDatabase> {
  const open = () =>
    openSharedDatabase({
      path,
      migrations: cacheMigrations,
      isDispensable: true,
      ...(onTrouble === undefined ? {} : { onTrouble }),
    })
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof LedgerTooNew) && !/is damaged|a database of another program/.test(String(error))) throw error
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
    return await open()
  }
}

interface StateRow extends BaseState {
  readonly replacements: number
  readonly changes: number
}

function stateRow(database: Database): StateRow | undefined {
  return (
    database.query<StateRow, []>('SELECT database, version, highest, replacements, changes FROM state').get() ??
    undefined
  )
}

/** @returns whether the copy has changed */
function applied(database: Database, { keys, isWhole, base, ...read }: KeysRead, next: number): boolean {
  const state = stateRow(database)
  if (isWhole && mustReplace(database, { keys, isWhole, base, ...read }, state)) {
    replace(database, { keys, ...read }, { state, next })
    return true
  }
  let isChanged = false
  for (const key of keys) isChanged = put(database, key, next) || isChanged
  if (state === undefined || state.version >= read.version) return isChanged
  database.run('UPDATE state SET version = ?1, highest = max(highest, ?1)', [read.version])
  return true
}

/** Keys are gone at the server, or it has an earlier state than before: a backup was put back. */
function mustReplace(database: Database, read: KeysRead, state: StateRow | undefined): boolean {
  if (state === undefined || state.database !== read.database) return true
  if (read.base !== undefined && read.version < read.base.highest) return true
  const there = new Set(read.keys.map(({ id }) => id))
  return database
    .query<{ id: number }, [number]>('SELECT id FROM key WHERE server_version <= ?1')
    .all(read.version)
    .some(({ id }) => !there.has(id))
}

interface Replacement {
  readonly state: StateRow | undefined
  readonly next: number
}

function replace(
  database: Database,
  { keys, ...read }: Pick<KeysRead, 'keys' | 'database' | 'version'>,
  { state, next }: Replacement,
): void {
  database.run('DELETE FROM key')
  database.run('DELETE FROM state')
  database.run('INSERT INTO state (database, version, highest, replacements, changes) VALUES (?1, ?2, ?2, ?3, ?4)', [
    read.database,
    read.version,
    (state?.replacements ?? 0) + 1,
    next,
  ])
  for (const key of keys) put(database, key, next)
}

const columns = [...keyColumns.split(', '), 'version', 'server_version']

/** Stores a key, unless the copy has it in this state or a later one. @returns whether it was stored */
function put(database: Database, key: ServerKey, next: number): boolean {
  const { id, line, hash, hint, name, kind, made, madeBy, expires, ended, endedBy, used, grants } = key
  const values = [
    ...[id, line, Buffer.from(hash, 'base64'), hint, name, kind, made, madeBy, expires ?? null, ended ?? null],
    ...[endedBy ?? null, used ?? null, grants, ...ownerValues(key), next, key.version],
  ]
  const stored = atOnce(
    database,
    rowsOf(
      statement(
        `INSERT INTO key (${columns.join(', ')}) VALUES (${places(columns.length)})
         ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}
         WHERE key.server_version < excluded.server_version RETURNING id`,
        values,
      ),
    ),
  )
  return stored.length > 0
}
