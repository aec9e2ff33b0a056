import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { chainOf, chainWalk, hashOfActor, type ChainReport } from './audit-chain.ts'
import { backUp } from './back-up.ts'
import type { AuditMark, ChainedEntry, KeyTable, Ledger } from './ledger.ts'
import { migrations } from './migrations.ts'
import { openDatabase } from './open-database.ts'
import { openLedger } from './open-ledger.ts'
import { storableKey, temporaryFolder } from './testing.ts'

let place: ReturnType<typeof temporaryFolder>
let ledger: Ledger
let keys: KeyTable
beforeEach(async () => {
  place = temporaryFolder()
  ledger = await openLedger({ path: place.path })
  keys = ledger.keys
})
afterEach(async () => {
  await ledger.close()
  place.remove()
})

async function verified(expected?: string, audit = ledger.audit): Promise<ChainReport> {
  const walk = chainWalk(expected)
  // Slices of one entry: the chain crosses them.
  for (let after = -9; ;) {
    const [entry] = await audit.slice(after, 1)
    if (entry === undefined) return walk.end(await audit.given())
    walk.check([entry])
    after = entry.seq
  }
}

/** Changes the file as another program would. */
function tamper(...statements: readonly string[]): void {
  const database = new Database(place.path)
  for (const statement of statements) database.run(statement)
  database.close()
}

async function makeKeys(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await keys.add(storableKey({ name: `secret name ${made}` }))
}

describe('the audit', () => {
  test('has an entry for each key that is made, rotated and ended, with what changed', async () => {
    const marks: AuditMark[] = []
    const viaRoute = ledger.keysVia('v1/keys', (mark) => marks.push(mark))
    await keys.add(storableKey({ expires: 1_900_000_000_000 }))
    await viaRoute.replace(1, storableKey({ made: 1_800_000_000_005, madeBy: 'key:deploy' }), 1_800_000_000_009)
    await ledger.keysVia('page', () => undefined).end(2, { at: 1_800_000_000_010, by: 'ann' })
    const entries = await ledger.audit.list(9, 9)
    expect(entries.map(({ seq, time, actor, via, action, object }) => [seq, time, actor, via, action, object])).toEqual(
      [
        [4, 1_800_000_000_010, 'ann', 'page', 'key.ended', '2'],
        [3, 1_800_000_000_005, 'key:deploy', 'v1/keys', 'key.made', '2'],
        [2, 1_800_000_000_005, 'key:deploy', 'v1/keys', 'key.rotated', '1'],
        [1, 1_800_000_000_000, 'command line', 'command line', 'key.made', '1'],
      ],
    )
    expect(entries.map(({ before, after }) => [before, after])).toEqual([
      ['{"ended":null}', '{"ended":1800000000010}'],
      [undefined, '{"line":1,"kind":"program","expires":null,"grants":{"scopes":["chat"]}}'],
      ['{"expires":1900000000000}', '{"expires":1800000000009,"successor":2}'],
      [undefined, '{"line":1,"kind":"program","expires":1900000000000,"grants":{"scopes":["chat"]}}'],
    ])
    expect(marks).toEqual([{ seq: 3, chain: entries[1]?.chain ?? '' }])
    expect(await verified(marks[0]?.chain)).toMatchObject({ entries: 4, newest: { seq: 4 }, faults: [] })
  })

  test('has none for what changes nothing, and neither secrets nor names of keys', async () => {
    await makeKeys(1)
    await keys.end(7, { at: 5, by: 'ann' })
    await keys.end(1, { at: 5, by: 'ann' })
    await keys.end(1, { at: 6, by: 'eve' })
    expect(await keys.replace(1, storableKey(), 9)).toBe('over')
    await keys.noteUses(new Map([[1, 60]]))
    const entries = await ledger.audit.list(99, 99)
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['key.ended', 'ann'],
      ['key.made', 'command line'],
    ])
    expect(JSON.stringify(entries)).not.toMatch(/secret name|sk-svc/)
  })

  test('and the key are written together, or neither', async () => {
    tamper(`CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no entry'); END`)
    await expect(keys.add(storableKey())).rejects.toThrow('no entry')
    expect(await keys.list(0, 9)).toEqual([])
    tamper('DROP TRIGGER refuse')
    await makeKeys(1)
    tamper(`CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no entry'); END`)
    await expect(keys.end(1, { at: 5, by: 'ann' })).rejects.toThrow('no entry')
    await expect(keys.replace(1, storableKey(), 9)).rejects.toThrow('no entry')
    expect(await keys.list(0, 9)).toMatchObject([{ id: 1 }])
    expect(await keys.find(1)).not.toHaveProperty('ended')
    expect(await keys.find(1)).not.toHaveProperty('expires')
  })

  test('begins in a database of the version before, whose keys stay', async () => {
    await ledger.close()
    const path = join(place.folder, 'old.db')
    const old = await openDatabase({ path, migrations: migrations.slice(0, 3), lockMs: 60 })
    old.run(`INSERT INTO key (line, hash, hint, name, kind, made, made_by, grants, version)
             VALUES (1, x'00', 'h', 'n', 'program', 1, 'ann', '{"scopes":[]}', 1)`)
    old.close()
    ledger = await openLedger({ path })
    expect(await ledger.keys.list(0, 9)).toMatchObject([{ id: 1 }])
    expect(await verified()).toEqual({ entries: 0, faults: [] })
    await ledger.keys.end(1, { at: 5, by: 'ann' })
    expect(await verified()).toMatchObject({ entries: 1, newest: { seq: 1 }, faults: [] })
  })

  test('goes on without a fault when an actor is forgotten', async () => {
    await makeKeys(3)
    tamper('UPDATE audit SET actor = NULL, actor_salt = NULL WHERE seq = 2')
    expect((await verified()).faults).toEqual([])
    tamper(`UPDATE audit SET actor = 'eve' WHERE seq = 2`)
    expect((await verified()).faults).toEqual([expect.stringContaining('entry 2 has another actor')])
  })
})

describe('a walk through the chain names what was done to it', () => {
  const changed = (seq: number) =>
    `entry ${seq} does not follow from ${seq === 1 ? 'the beginning' : `entry ${seq - 1}`}: changed or moved`

  test.each([
    ['time = 5', 3],
    [`via = 'page'`, 1],
    [`action = 'key.ended'`, 2],
    [`object = '9'`, 5],
    [`before = '{}'`, 4],
    [`after = NULL`, 2],
  ])('%s in entry %i', async (what, seq) => {
    await makeKeys(5)
    tamper(`UPDATE audit SET ${what} WHERE seq = ${seq}`)
    expect((await verified()).faults).toEqual([changed(seq)])
  })

  test.each([
    [
      'another actor',
      [`UPDATE audit SET actor = 'eve' WHERE seq = 2`],
      ['entry 2 has another actor than it was written with'],
    ],
    ['another chain', [`UPDATE audit SET chain = 'x' WHERE seq = 2`], [changed(2), changed(3)]],
    [
      'a hash of another actor',
      [`UPDATE audit SET actor_hash = 'x', actor = NULL, actor_salt = NULL WHERE seq = 4`],
      [changed(4)],
    ],
    ['a removed entry', ['DELETE FROM audit WHERE seq = 2'], ['entry 2 is missing']],
    ['a cut beginning', ['DELETE FROM audit WHERE seq < 4'], ['entries 1 to 3 are missing']],
    ['a cut end', ['DELETE FROM audit WHERE seq > 3'], ['entries 4 to 5 are missing']],
    ['all removed', ['DELETE FROM audit'], ['entries 1 to 5 are missing']],
    [
      'an entry before the first',
      ['UPDATE audit SET seq = 0 WHERE seq = 1'],
      ['entry 0 stands before entry 1: moved', 'entry 1 is missing'],
    ],
    [
      'exchanged entries',
      [
        'UPDATE audit SET seq = 99 WHERE seq = 2',
        'UPDATE audit SET seq = 2 WHERE seq = 3',
        'UPDATE audit SET seq = 3 WHERE seq = 99',
      ],
      [changed(2), changed(3), changed(4)],
    ],
    [
      'closed ranks',
      [
        'DELETE FROM audit WHERE seq = 2',
        'UPDATE audit SET seq = seq - 1 WHERE seq > 2',
        `UPDATE sqlite_sequence SET seq = 4 WHERE name = 'audit'`,
      ],
      [changed(2), changed(3), changed(4)],
    ],
  ])('%s', async (_name, statements, faults) => {
    await makeKeys(5)
    tamper(...statements)
    expect((await verified()).faults).toEqual(faults)
  })

  test('an end that was cut with all traces: by a chain that was kept elsewhere', async () => {
    await makeKeys(5)
    const kept = (await verified()).newest?.chain
    tamper('DELETE FROM audit WHERE seq > 3', `UPDATE sqlite_sequence SET seq = 3 WHERE name = 'audit'`)
    expect((await verified()).faults).toEqual([])
    expect((await verified(kept)).faults).toEqual([expect.stringContaining('no entry has the expected chain')])
  })

  test('at most 100 faults, and that there are more', () => {
    const walk = chainWalk()
    walk.check(Array.from({ length: 300 }, (_, index) => ({ ...entryOf(index + 1, undefined, 'a'), chain: 'x' })))
    const { faults } = walk.end(300)
    expect([faults.length, faults.at(-1)]).toEqual([101, 'only the first 100 faults are listed'])
  })

  test('any change of any field of any history', () => {
    const field = fc.constantFrom('time', 'actorHash', 'via', 'action', 'object', 'before', 'after', 'chain')
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 30 }), fc.nat(), field, (texts, at, name) => {
        const history = texts.reduce<ChainedEntry[]>(
          (all, text) => [...all, entryOf(all.length + 1, all.at(-1)?.chain, text)],
          [],
        )
        const report = walkOf(history)
        expect(report.faults).toEqual([])
        const index = at % history.length
        const value = name === 'time' ? -1 : 'not in any history, since it is so long'
        const faults = walkOf(
          history.map((entry, each) => (each === index ? { ...entry, [name]: value } : entry)),
        ).faults
        expect(faults[0]).toContain(`entry ${index + 1} `)
        const removed = walkOf(history.toSpliced(index, 1), history.length).faults
        expect(removed).toEqual([`entry ${index + 1} is missing`])
        expect(walkOf(history.slice(0, index), 0, report.newest?.chain).faults.length).toBeGreaterThan(0)
      }),
    )
  })
})

function walkOf(entries: readonly ChainedEntry[], given = 0, expected?: string): ChainReport {
  const walk = chainWalk(expected)
  walk.check(entries)
  return walk.end(given)
}

function entryOf(seq: number, before: string | undefined, text: string): ChainedEntry {
  const entry = {
    seq,
    time: seq * 7,
    actorHash: hashOfActor('salt', text),
    actor: text,
    actorSalt: 'salt',
    via: 'page',
    action: 'key.made',
    object: text,
    before: text,
    after: text,
  }
  return { ...entry, chain: chainOf(before, entry) }
}

describe('a backup', () => {
  test('is the whole database, while others write, for its owner alone', async () => {
    await makeKeys(3)
    const copy = join(place.folder, 'copy.db')
    await backUp(place.path, copy)
    await makeKeys(1)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const restored = await openLedger({ path: copy })
    expect(await restored.keys.list(0, 9)).toHaveLength(3)
    expect(await verified(undefined, restored.audit)).toMatchObject({ entries: 3, faults: [] })
    await restored.close()
  })

  test('never replaces a file, and leaves nothing when it fails', async () => {
    const copy = join(place.folder, 'copy.db')
    writeFileSync(copy, 'mine')
    await expect(backUp(place.path, copy)).rejects.toThrow(`${copy} exists`)
    expect(readFileSync(copy, 'utf8')).toBe('mine')
    const nowhere = join(place.folder, 'no', 'copy.db')
    await expect(backUp(place.path, nowhere)).rejects.toThrow(`${nowhere} cannot be written (ENOENT)`)
    const damaged = join(place.folder, 'damaged.db')
    writeFileSync(damaged, 'text'.repeat(999))
    await expect(backUp(damaged, join(place.folder, 'other.db'))).rejects.toThrow(`${damaged} is damaged`)
    expect(Array.from(new Bun.Glob('{copy,other}*').scanSync(place.folder))).toEqual(['copy.db'])
  })
})
