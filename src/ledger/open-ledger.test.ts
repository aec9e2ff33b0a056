import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerTooNew, LedgerUnavailable, type Ledger } from './ledger.ts'
import { migrations } from './migrations.ts'
import { openDatabase, performed } from './open-database.ts'
import { openLedger, type LedgerOptions } from './open-ledger.ts'
import { storableKey, temporaryFolder } from './testing.ts'

let place: ReturnType<typeof temporaryFolder>
const open: Ledger[] = []
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(async () => {
  for (const ledger of open.splice(0)) await ledger.close()
  place.remove()
})

async function ledgerAt(options: Partial<LedgerOptions> = {}): Promise<Ledger> {
  const ledger = await openLedger({ path: place.path, lockMs: 60, ...options })
  open.push(ledger)
  return ledger
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('the files', () => {
  test('are made for their owner alone, with their folder', async () => {
    const path = join(place.folder, 'new', 'svc.db')
    const { keys } = await ledgerAt({ path })
    await keys.add(storableKey())
    expect(['', '-wal', '-shm', '-stamp'].map((end) => modeOf(path + end))).toEqual(['600', '600', '600', '600'])
    expect(modeOf(join(place.folder, 'new'))).toBe('700')
  })

  test('are closed to others if they were open', async () => {
    writeFileSync(place.path, '', { mode: 0o644 })
    await ledgerAt()
    expect(modeOf(place.path)).toBe('600')
  })

  test('keep keys from one process to the next', async () => {
    const first = await ledgerAt()
    const key = await first.keys.add(storableKey())
    await first.close()
    open.length = 0
    expect(await (await ledgerAt()).keys.find(key.id)).toEqual(key)
  })
})

describe('a database that cannot be used gives an error that names file, cause and way out', () => {
  test.each([
    [
      'another file',
      () => writeFileSync(place.path, 'not a database, but a text of some length'.repeat(99)),
      'damaged',
    ],
    ['a cut file', async () => (await fill(), truncateSync(place.path, 5_000)), 'damaged'],
    [
      'a database of another program',
      () => new Database(place.path).run('CREATE TABLE note (text)'),
      'another program',
    ],
  ])('%s', async (_name, prepare, words) => {
    await prepare()
    const failure = await ledgerAt()
      .then(({ keys }) => keys.list(0, 9))
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(LedgerUnavailable)
    for (const part of [place.path, words]) expect(String(failure)).toContain(part)
  })

  test('a path below a file', async () => {
    writeFileSync(join(place.folder, 'file'), '')
    await expect(openLedger({ path: join(place.folder, 'file', 'svc.db') })).rejects.toThrow(
      /cannot be opened: check its folder and permissions \((ENOTDIR|EEXIST)\)/,
    )
  })

  test.each([
    ['SQLITE_READONLY', 'is read-only'],
    ['SQLITE_READONLY_DIRECTORY', 'is read-only'],
    ['SQLITE_FULL', 'the disk is full'],
    ['SQLITE_IOERR_WRITE', 'cannot be used'],
    ['EACCES', 'cannot be opened'],
  ])('the error %s', async (code, words) => {
    const failing = () => {
      throw Object.assign(new Error('raw'), { code })
    }
    const failure = await performed('/x/svc.db', 0, failing).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(LedgerUnavailable)
    for (const part of ['/x/svc.db', words, code]) expect(String(failure)).toContain(part)
  })

  test('a lock that another process keeps', async () => {
    await fill()
    const other = new Database(place.path)
    other.run('PRAGMA locking_mode = EXCLUSIVE')
    other.run('BEGIN EXCLUSIVE')
    await expect(ledgerAt()).rejects.toThrow('is locked by another program')
    other.close()
    await ledgerAt()
  })

  test('waits for a lock that ends, and lets other work run meanwhile', async () => {
    const { keys } = await ledgerAt({ lockMs: 5_000 })
    const other = new Database(place.path)
    other.run('BEGIN IMMEDIATE')
    let ticks = 0
    // The lock ends only if other work runs.
    const timer = setInterval(() => {
      if (++ticks === 5) other.run('COMMIT')
    }, 2)
    await keys.add(storableKey())
    clearInterval(timer)
    other.close()
    expect(ticks).toBeGreaterThanOrEqual(5)
  })
})

describe('a migration', () => {
  const path = () => place.path
  const second = 'ALTER TABLE key ADD COLUMN colour TEXT'
  const openWith = (steps: readonly string[]) => openDatabase({ path: path(), migrations: steps, lockMs: 60 })

  test('happens in place, after a copy for its owner alone', async () => {
    await fill()
    const migrated = await openWith([...migrations, second])
    expect(migrated.query('SELECT colour, name FROM key').all()).toEqual([{ colour: null, name: 'indexer' }])
    const copy = `${path()}.before-${migrations.length + 1}`
    expect(modeOf(copy)).toBe('600')
    expect(new Database(copy).query('SELECT name FROM key').all()).toEqual([{ name: 'indexer' }])
    migrated.close()
    // The second time there is nothing to do.
    const date = statSync(copy).mtimeMs
    ;(await openWith([...migrations, second])).close()
    expect(statSync(copy).mtimeMs).toBe(date)
  })

  test('makes people of unknown identity providers others than all people, and leaves forgotten ones', async () => {
    const people = migrations.findIndex((step) => step.includes('earlier svc'))
    const before = await openWith(migrations.slice(0, people))
    // Two ids that begin alike.
    const long = `${'u'.repeat(127)}1`,
      longer = `${'u'.repeat(127)}2`
    before.run(`INSERT INTO person (subject, name, seen, gone, user_id) VALUES
      ('${long}', 'l', 1, NULL, NULL), ('${longer}', 'l', 1, NULL, NULL),
      ('u1', 'ann', 1, NULL, NULL), ('hash', 'bea', 1, NULL, 'u1'), ('forgotten #3', 'forgotten #3', 1, 5, NULL)`)
    before.close()
    const after = await openWith(migrations)
    expect(after.query('SELECT subject, user_id FROM person ORDER BY id').values()).toEqual([
      ['earlier svc: #1', long],
      ['earlier svc: #2', longer],
      ['earlier svc: u1', 'u1'],
      ['hash', 'u1'],
      ['forgotten #3', null],
    ])
    after.close()
  })

  test('that fails changes nothing', async () => {
    await fill()
    await expect(openWith([...migrations, second, 'ALTER TABLE missing ADD COLUMN x'])).rejects.toThrow('no such table')
    const { keys } = await ledgerAt()
    expect(await keys.list(0, 9)).toHaveLength(1)
  })

  test('happens once when several processes open the database', async () => {
    await fill()
    const all = await Promise.all(Array.from({ length: 4 }, () => openWith([...migrations, second])))
    for (const database of all) database.close()
  })

  test('of a newer version is refused, with the way back', async () => {
    await fill()
    ;(await openWith([...migrations, second])).close()
    const failure = await ledgerAt().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(LedgerTooNew)
    expect(String(failure)).toContain(
      `has schema ${migrations.length + 1}, this version of svc knows ${migrations.length}`,
    )
    expect(String(failure)).toContain(`${path()}.before-${migrations.length + 1}`)
  })
})

describe('a change', () => {
  test('of one process reaches another before the call returns', async () => {
    const writer = (await ledgerAt()).keys
    const reader = (await ledgerAt()).keys
    const { mark } = await reader.changes()
    for (let round = 0; round < 20; round += 1) {
      const before = reader.stamp()
      const { id } = await writer.add(storableKey())
      expect(reader.stamp()).not.toBe(before)
      const added = reader.stamp()
      await writer.end(id, { at: 5, by: 'ann' })
      expect(reader.stamp()).not.toBe(added)
    }
    expect((await reader.changes(mark)).keys).toHaveLength(20)
  })

  test('without a stamp, as of a killed process, is found within a second or two', async () => {
    const { keys } = await ledgerAt()
    await keys.add(storableKey())
    const before = keys.stamp()
    const other = new Database(place.path)
    other.run('UPDATE key SET ended = 5, version = 99')
    other.close()
    for (let waited = 0; keys.stamp() === before && waited < 5_000; waited += 50) await Bun.sleep(50)
    expect(keys.stamp()).not.toBe(before)
  })
})

describe('a file that is replaced while it is open', () => {
  test('is read anew, as a whole', async () => {
    await fill()
    const copy = join(place.folder, 'copy.db')
    copyFileSync(place.path, copy)
    const { keys } = await ledgerAt()
    await keys.add(storableKey())
    const { mark } = await keys.changes()
    const before = keys.stamp()
    rmSync(`${place.path}-wal`)
    rmSync(`${place.path}-shm`)
    renameSync(copy, place.path)
    for (let waited = 0; keys.stamp() === before && waited < 5_000; waited += 50) await Bun.sleep(50)
    expect(await keys.changes(mark)).toMatchObject({ isWhole: true, keys: [{ id: 1 }] })
  })

  test('and is gone, or damaged, is reported once; the open one stays in use', async () => {
    const problems: (string | undefined)[] = []
    const { keys } = await ledgerAt({ onTrouble: (problem) => problems.push(problem) })
    await keys.add(storableKey())
    rmSync(place.path)
    for (let waited = 0; problems.length === 0 && waited < 5_000; waited += 50) await Bun.sleep(50)
    await Bun.sleep(1_100)
    expect(problems).toEqual([expect.stringContaining('cannot be opened')])
    expect((await keys.changes()).keys).toHaveLength(1)
  })
})

/** A database with one key, closed. */
async function fill(): Promise<void> {
  const { keys, close } = await openLedger({ path: place.path })
  await keys.add(storableKey())
  await close()
}
