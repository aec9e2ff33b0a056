import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { LedgerPlace } from '../../src/ledger/ledger-place.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openServerLedger } from '../../src/ledger/postgres/open-server-ledger.ts'
import { postgresClient, type PostgresClient } from '../../src/ledger/postgres/postgres-client.ts'
import { openServerUseReader } from '../../src/ledger/postgres/server-use-reader.ts'
import { serverUseStore } from '../../src/ledger/postgres/server-use.ts'
import { temporaryFolder } from '../../src/ledger/testing.ts'
import { openUseReader } from '../../src/ledger/use/read-use.ts'
import type { SearchLimits } from '../../src/ledger/use/search-requests.ts'
import type { UseReader } from '../../src/ledger/use/use-reader.ts'
import { useStore, type UseStore } from '../../src/ledger/use/use-store.ts'
import { needs } from '../needs.ts'
import { sharedPostgres } from './postgres-server.ts'

/** A database of tests: every test of the contract runs on each kind. */
export interface TestDatabase {
  readonly kind: 'SQLite' | 'PostgreSQL'
  readonly place: LedgerPlace
  open(): Promise<Ledger>
  /** @param now of the retention, Unix milliseconds */
  useStore(options?: { readonly zone?: string; readonly now?: number }): UseStore
  useReader(limits?: SearchLimits): Promise<UseReader>
  /** Changes the database as another program would. */
  tamper(...statements: readonly string[]): Promise<void>
  /** Numbers come as numbers. @param file of SQLite, default svc.db */
  query(statement: string, file?: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Makes each further entry of the audit fail; `undefined`: no more. */
  refuseEntries(message: string | undefined): Promise<void>
  /** SQL that sets the largest number given to an entry of the audit. */
  setGiven(seq: number): string
  /** Closes all that was opened, and removes it. */
  remove(): Promise<void>
}

/** The databases of this machine: SQLite, and PostgreSQL if it is installed. */
export const databases: readonly (readonly [name: TestDatabase['kind'], make: () => Promise<TestDatabase>])[] = [
  ['SQLite', sqliteDatabase],
  ...(needs('postgres') === undefined ? [] : [['PostgreSQL', postgresDatabase] as const]),
]

async function sqliteDatabase(): Promise<TestDatabase> {
  const { folder, path, remove } = temporaryFolder()
  const opened: (() => unknown)[] = []

  async function tamper(...statements: readonly string[]): Promise<void> {
    const database = new Database(path)
    for (const statement of statements) database.run(statement)
    database.close()
  }

  return {
    kind: 'SQLite',
    place: { kind: 'file', path },
    async open() {
      const ledger = await openLedger({ path, lockMs: 60 })
      opened.push(() => ledger.close())
      return ledger
    },
    useStore({ zone = 'UTC', now } = {}) {
      const rowsPath = join(folder, 'requests.db')
      const store = useStore({ path, rowsPath, zone, lockMs: 40, ...(now === undefined ? {} : { now: () => now }) })
      opened.push(() => store.close())
      return store
    },
    async useReader(limits) {
      const reader = await openUseReader(path, limits)
      opened.push(() => reader.close())
      return reader
    },
    tamper,
    async query(statement, file = 'svc.db') {
      const database = new Database(join(folder, file), { readonly: true })
      try {
        return database.query<Record<string, unknown>, []>(statement).all()
      } finally {
        database.close()
      }
    },
    refuseEntries: (message) =>
      tamper(
        message === undefined
          ? 'DROP TRIGGER refuse'
          : `CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, '${message}'); END`,
      ),
    setGiven: (seq) => `UPDATE sqlite_sequence SET seq = ${seq} WHERE name = 'audit'`,
    async remove() {
      for (const close of opened) await close()
      remove()
    },
  }
}

/** The database of this process: another test empties it. */
let ours: { readonly url: string; readonly client: PostgresClient } | undefined

async function postgresDatabase(): Promise<TestDatabase> {
  const { folder, remove } = temporaryFolder()
  if (ours === undefined) {
    const url = await (await sharedPostgres()).newDatabase()
    ours = { url, client: postgresClient({ url }) }
  }
  const { url, client } = ours
  await client.perform((query) => query('DROP SCHEMA IF EXISTS svc CASCADE'))
  const place = { kind: 'server', url, cachePath: join(folder, 'keys.cache'), keysGraceMs: 600_000 } as const
  const opened: (() => unknown)[] = []

  async function tamper(...statements: readonly string[]): Promise<void> {
    await client.perform((query) => query(statements.join('; ')))
  }

  return {
    kind: 'PostgreSQL',
    place,
    async open() {
      const ledger = await openServerLedger({ place, isService: true })
      opened.push(() => ledger.close())
      return ledger
    },
    useStore({ zone = 'UTC', now = Date.now() } = {}) {
      const store = serverUseStore({ client: postgresClient({ url }), zone, clockOffsetMs: now - Date.now() })
      opened.push(() => store.close())
      return store
    },
    async useReader(limits) {
      const reader = await openServerUseReader(url, limits)
      opened.push(() => reader.close())
      return reader
    },
    tamper,
    async query(statement) {
      const rows = await client.perform((query) => query(statement))
      const plain = (value: unknown) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value)
      return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])))
    },
    refuseEntries: (message) =>
      tamper(
        message === undefined
          ? 'DROP TRIGGER refuse ON audit; DROP FUNCTION refuse'
          : `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE '${message}'; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON audit EXECUTE FUNCTION refuse()`,
      ),
    setGiven: (seq) => `UPDATE head SET audit = ${seq}`,
    async remove() {
      for (const close of opened) await close()
      remove()
    },
  }
}
