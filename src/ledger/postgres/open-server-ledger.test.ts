import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { startPgBouncer } from '../../../test/fakes/pg-bouncer.ts'
import { startPostgres, type PostgresServer } from '../../../test/fakes/postgres-server.ts'
import { needs } from '../../../test/needs.ts'
import { keyBook } from '../../people/keys/key-book.ts'
import { newKey, readKey } from '../../people/keys/key-form.ts'
import { verifyChain } from '../audit-chain.ts'
import type { LedgerServer } from '../ledger-place.ts'
import { LedgerFull, LedgerRefused, LedgerTooNew, LedgerUnavailable, type KeyTable, type Ledger } from '../ledger.ts'
import { storableKey, temporaryFolder } from '../testing.ts'
import { startKeyReader, type KeyReader } from './key-reader.ts'
import { openServerLedger, type ServerLedgerOptions } from './open-server-ledger.ts'
import { postgresClient, type PostgresClient } from './postgres-client.ts'
import { serverMigrations } from './postgres-migrations.ts'
import { prepareSchema } from './prepare-schema.ts'

describe.skipIf(needs('postgres') === undefined)('the ledger in PostgreSQL', () => {
  let server: PostgresServer
  let url: string
  /** One folder for each machine. */
  let machines: ReturnType<typeof temporaryFolder>[]
  const open: (() => unknown)[] = []
  beforeAll(async () => {
    server = await startPostgres()
  }, 30_000)
  afterAll(() => server.kill())
  beforeEach(async () => {
    url = await server.newDatabase()
    machines = [temporaryFolder(), temporaryFolder()]
  })
  afterEach(async () => {
    for (const close of open.splice(0).toReversed()) await close()
    for (const { remove } of machines) remove()
  })

  const placeOf = (machine: number, keysGraceMs = 600_000): LedgerServer => ({
    kind: 'server',
    url,
    cachePath: `${machines[machine]?.folder ?? ''}/keys.cache`,
    keysGraceMs,
  })

  async function ledgerOf(place: LedgerServer, more: Partial<ServerLedgerOptions> = {}): Promise<Ledger> {
    const ledger = await openServerLedger({ place, isService: true, ...more })
    open.push(() => ledger.close())
    return ledger
  }

  function clientOf(): PostgresClient {
    const client = postgresClient({ url })
    open.push(() => client.close())
    return client
  }

  /** The reader of a machine's thread. */
  function readerOf(place: LedgerServer): { reader: KeyReader; troubles: (string | undefined)[] } {
    const troubles: (string | undefined)[] = []
    const reader = startKeyReader({ place, onKeysTrouble: (problem) => troubles.push(problem) })
    open.push(() => reader.close())
    return { reader, troubles }
  }

  async function until(claim: () => unknown): Promise<void> {
    for (const end = performance.now() + 5_000; !(await claim()); await Bun.sleep(10))
      if (performance.now() > end) throw new Error('it never came true')
  }

  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
  const idsIn = async ({ changes }: KeyTable): Promise<readonly number[]> =>
    (await changes()).keys.filter(({ ended }) => ended === undefined).map(({ id }) => id)

  describe('the copy of the keys', () => {
    test('is for its owner alone, and has a change before the call returns', async () => {
      const place = placeOf(0)
      const { keys } = await ledgerOf(place)
      const reader = (await ledgerOf(place)).keys
      const { mark } = await reader.changes()
      for (let round = 0; round < 5; round += 1) {
        const before = reader.stamp()
        const { id } = await keys.add(storableKey())
        expect(reader.stamp()).not.toBe(before)
        const added = reader.stamp()
        await keys.end(id, { at: 5, by: 'ann' })
        expect(reader.stamp()).not.toBe(added)
      }
      expect((await reader.changes(mark)).keys).toHaveLength(5)
      expect(['', '-wal', '-shm', '-stamp', '-read'].map((end) => modeOf(place.cachePath + end))).toEqual(
        Array(5).fill('600'),
      )
    })

    test('of another machine has it within a second, and its readers are those of the file', async () => {
      const [here, there] = [placeOf(0), placeOf(1)]
      const { keys } = await ledgerOf(here)
      const other = (await ledgerOf(there)).keys
      const { troubles } = readerOf(there)
      const { id } = await keys.add(storableKey())
      await until(async () => (await idsIn(other)).includes(id))
      const before = performance.now()
      await keys.end(id, { at: 5, by: 'ann' })
      await until(async () => !(await idsIn(other)).includes(id))
      expect(performance.now() - before).toBeLessThan(1_000)
      expect(troubles).toEqual([])
    })

    test('is begun anew when it is deleted, damaged or of another database', async () => {
      const place = placeOf(0)
      const { keys } = await ledgerOf(place)
      readerOf(place)
      const { id } = await keys.add(storableKey())
      const { mark } = await keys.changes()
      for (const end of ['', '-wal', '-shm']) rmSync(place.cachePath + end)
      await until(async () => existsSync(place.cachePath) && (await keys.changes(mark).catch(() => undefined))?.isWhole)
      expect(await idsIn(keys)).toEqual([id])
      const other = placeOf(1)
      writeFileSync(other.cachePath, 'not a database, but a text of some length'.repeat(99))
      expect(await idsIn((await ledgerOf(other)).keys)).toEqual([id])
      const elsewhere = { ...other, url: await server.newDatabase() }
      expect(await idsIn((await ledgerOf(elsewhere)).keys)).toEqual([])
    })

    test('follows a backup that is put back, also if a number of a key is used again', async () => {
      const place = placeOf(0)
      const { keys } = await ledgerOf(place)
      const { id } = await keys.add(storableKey())
      await keys.add(storableKey())
      readerOf(place)
      const { mark } = await keys.changes()
      const hash = 'x'.repeat(44)
      await clientOf().transaction(async (query) => {
        await query('DELETE FROM key WHERE id > $1', [id])
        await query('UPDATE head SET version = 1')
        await query(`UPDATE key SET version = 1, hash = decode($1, 'base64')`, [hash])
      })
      await until(async () => (await keys.changes(mark)).isWhole)
      expect((await keys.changes()).keys).toMatchObject([{ id, hash: expect.stringContaining('xxx') }])
    })

    test('is not made by a command, and used if there is one', async () => {
      const place = placeOf(0)
      const command = await ledgerOf(place, { isService: false })
      await command.keys.add(storableKey())
      expect(existsSync(place.cachePath)).toBe(false)
      const { keys } = await ledgerOf(place)
      const before = keys.stamp()
      await (await ledgerOf(place, { isService: false })).keys.end(1, { at: 5, by: 'ann' })
      expect(keys.stamp()).not.toBe(before)
      expect(await idsIn(keys)).toEqual([])
    })
  })

  describe('changes of several machines at the same time', () => {
    const person = { id: 'p', name: 'ann', seen: 5 }

    test('keep the limits of keys, and one chain of the audit without gaps', async () => {
      const ledgers = await Promise.all([ledgerOf(placeOf(0)), ledgerOf(placeOf(1)), ledgerOf(placeOf(1))])
      const made = await Promise.allSettled(
        Array.from({ length: 30 }, (_, index) => {
          const { keys } = ledgers[index % 3] ?? never()
          return index % 2 === 0 ? keys.add(storableKey({ person }), 4) : keys.add(storableKey())
        }),
      )
      const refused = made.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
      expect(refused).toHaveLength(15 - 4)
      for (const reason of refused) expect(reason).toBeInstanceOf(LedgerFull)
      const { audit, keys } = ledgers[0] ?? never()
      expect(await verifyChain(audit)).toMatchObject({ entries: 19, newest: { seq: 19 }, faults: [] })
      expect(await keys.listOf({ person: 'p' }, 9)).toHaveLength(4)
    })

    test('rotate a key once', async () => {
      const ledgers = await Promise.all([ledgerOf(placeOf(0)), ledgerOf(placeOf(1))])
      const { id } = await (ledgers[0] ?? never()).keys.add(storableKey())
      const rotated = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (ledgers[index % 2] ?? never()).keys.replace(id, storableKey(), 1_900_000_000_000),
        ),
      )
      expect(rotated.filter((each) => each !== 'replaced')).toHaveLength(1)
    })
  })

  describe('while the server is away', () => {
    test('a service starts with the keys of its copy; without one each key is unavailable until then', async () => {
      const [known, fresh] = [placeOf(0), placeOf(1)]
      const first = await openServerLedger({ place: known, isService: true })
      await first.keys.add(storableKey())
      await first.close()
      await server.kill()
      const { keys } = await ledgerOf(known)
      expect(await idsIn(keys)).toEqual([1])
      await expect(keys.end(1, { at: 5, by: 'ann' })).rejects.toThrow(LedgerUnavailable)
      const unknown = (await ledgerOf(fresh)).keys
      const { troubles } = readerOf(fresh)
      expect(unknown.stamp()).toBe(-1)
      const book = await keyBook({
        table: unknown,
        fileKeys: () => [],
        onFault: () => undefined,
      })
      const key = readKey(newKey('program'))
      if (key === undefined || key === 'malformed') throw new Error('no key')
      // A key that is not in the copy cannot be called unknown.
      await expect(Promise.try(() => book.find(key))).rejects.toThrow(LedgerUnavailable)
      await until(() => troubles.length > 0)
      await server.start()
      await until(async () => unknown.stamp() !== -1)
      expect(await idsIn(unknown)).toEqual([1])
      expect(troubles).toEqual([expect.stringContaining('cannot be reached'), undefined])
    }, 20_000)

    test('known keys go on for their time, then they are unavailable', async () => {
      const place = placeOf(0, 1_000)
      const { keys } = await ledgerOf(place)
      await keys.add(storableKey())
      const { troubles } = readerOf(place)
      await Bun.sleep(400)
      await server.kill()
      expect(await idsIn(keys)).toEqual([1])
      await until(() => keys.stamp() === -1)
      await expect(keys.changes()).rejects.toThrow('not read from the database for too long')
      await server.start()
      await until(() => keys.stamp() !== -1)
      expect(await idsIn(keys)).toEqual([1])
      await until(() => troubles.length > 1 && troubles.at(-1) === undefined)
    }, 20_000)

    test('a read-only server keeps its keys in force, and refuses changes with the reason', async () => {
      const place = placeOf(0)
      const { keys } = await ledgerOf(place)
      const { id } = await keys.add(storableKey())
      const name = new URL(url).pathname.slice(1)
      const setReadOnly = async (isReadOnly: boolean) => {
        await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
        await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc'`)
      }
      await setReadOnly(true)
      await keys.list(0, 1).catch(() => undefined)
      await expect(keys.end(id, { at: 5, by: 'ann' })).rejects.toThrow('is read-only: name the primary server')
      const again = (await ledgerOf(place)).keys
      const { troubles } = readerOf(place)
      expect(await idsIn(again)).toEqual([id])
      await setReadOnly(false)
      await until(() => keys.end(id, { at: 5, by: 'ann' }).catch(() => undefined))
      await until(async () => (await idsIn(again)).length === 0)
      expect(troubles.filter((each) => each?.includes('read-only'))).toEqual([])
    })

    test('a server that refuses ends the start, as commands end', async () => {
      const wrong = { ...placeOf(0), url: url.replace(/:[^:@]+@/, ':wrong@') }
      await expect(openServerLedger({ place: wrong, isService: true })).rejects.toThrow(LedgerRefused)
      const away = { ...placeOf(0), url: url.replace(/:\d+\//, ':1/') }
      await expect(openServerLedger({ place: away, isService: false })).rejects.toThrow('cannot be reached')
    })
  })

  describe('the schema', () => {
    const more = 'ALTER TABLE key ADD COLUMN colour text; CREATE TABLE colour (name text)'
    const prepare = (migrations = serverMigrations, mayBeNewer = false) =>
      prepareSchema(clientOf(), { name: 'svc at db', migrations, mayBeNewer })

    test('is made once by several processes, and migrated once', async () => {
      const ids = await Promise.all(Array.from({ length: 4 }, () => prepare()))
      expect(new Set(ids).size).toBe(1)
      await (await ledgerOf(placeOf(0))).keys.add(storableKey())
      const again = await Promise.all(Array.from({ length: 4 }, () => prepare([...serverMigrations, more])))
      expect(again).toEqual(ids)
      const rows = await clientOf().perform((query) => query('SELECT name, colour FROM key'))
      expect(rows).toEqual([{ name: 'indexer', colour: null }])
    })

    test('of a newer version ends a start, but not a service that runs, nor a worker that is replaced', async () => {
      const running = await ledgerOf(placeOf(0))
      await prepare([...serverMigrations, more])
      await expect(openServerLedger({ place: placeOf(1), isService: true })).rejects.toThrow(LedgerTooNew)
      await running.keys.add(storableKey())
      await (await ledgerOf(placeOf(0), { mayBeNewer: true })).keys.add(storableKey())
    })

    test('stays as it was when a step fails', async () => {
      await prepare()
      await expect(prepare([...serverMigrations, more, 'ALTER TABLE missing ADD COLUMN x text'])).rejects.toThrow(
        '"missing" does not exist',
      )
      expect(await clientOf().perform((query) => query('SELECT version FROM schema'))).toEqual([
        { version: String(serverMigrations.length) },
      ])
      await (await ledgerOf(placeOf(0))).keys.add(storableKey())
    })

    test('of another program with the same name is refused', async () => {
      await server.query('CREATE SCHEMA svc; CREATE TABLE svc.note (text text)', url)
      await expect(prepare()).rejects.toThrow('svc at db has a schema svc of another program')
    })

    test.each([true, false])('is not made in a database of another encoding: %p', async (isService) => {
      await server.query(`CREATE DATABASE latin_${isService} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
      const place = { ...placeOf(0), url: url.replace(/[^/]+$/, `latin_${isService}`) }
      await expect(openServerLedger({ place, isService })).rejects.toThrow('has the encoding LATIN1: make one with')
    })

    test('needs rights that the error names', async () => {
      const role = `guest_${crypto.randomUUID().slice(0, 8)}`
      await server.query(
        `CREATE ROLE ${role} LOGIN PASSWORD 'for this test'; REVOKE ALL ON DATABASE postgres FROM PUBLIC`,
      )
      const guest = url.replace(/\/\/[^@]+@/, `//${role}:for%20this%20test@`)
      await expect(openServerLedger({ place: { ...placeOf(0), url: guest }, isService: true })).rejects.toThrow(
        'does not permit its user what is needed',
      )
    })
  })
})

describe.skipIf(needs('postgres') === undefined || needs('pgbouncer') === undefined)('a pool of connections', () => {
  const { folder, remove } = temporaryFolder()
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  }, 30_000)
  afterAll(async () => {
    await server.kill()
    remove()
  })

  const opened = async (url: string, isService: boolean) =>
    openServerLedger({ place: { kind: 'server', url, cachePath: `${folder}/keys.cache`, keysGraceMs: 1 }, isService })

  test.each([true, false])('that changes them with each transaction is refused, by its name: %p', async (isService) => {
    await using pool = await startPgBouncer(await server.newDatabase(), 'transaction')
    await expect(opened(pool.url, isService)).rejects.toThrow(LedgerRefused)
    await expect(opened(pool.url, isService)).rejects.toThrow('set pool_mode = session')
  })

  test('that keeps them is used', async () => {
    await using pool = await startPgBouncer(await server.newDatabase(), 'session')
    const ledger = await opened(pool.url, true)
    expect(await ledger.keys.add(storableKey())).toBeDefined()
    await ledger.close()
  })
})

function never(): never {
  throw new Error('not opened')
}
