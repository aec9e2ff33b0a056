import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases, type TestDatabase } from '../../test/fakes/databases.ts'
import { chainOf, chainWalk, hashOfActor, type ChainReport } from './audit-chain.ts'
import type { AuditMark, ChainedEntry, KeyTable, Ledger } from './ledger.ts'
import { storableKey, verifiedChain } from './testing.ts'

let place: TestDatabase
let ledger: Ledger
let keys: KeyTable
async function open(make: () => Promise<TestDatabase>): Promise<void> {
  place = await make()
  ledger = await place.open()
  keys = ledger.keys
}

const verified = (expected?: string): Promise<ChainReport> => verifiedChain(ledger.audit, expected)
const tamper = (...statements: readonly string[]) => place.tamper(...statements)

async function makeKeys(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await keys.add(storableKey({ name: `secret name ${made}` }))
}

describe.each(databases)('the audit in %s', (_database, make) => {
  beforeEach(() => open(make), 30_000)
  afterEach(() => place.remove())

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
    const { name } = storableKey()
    expect(await ledger.audit.keyNames([1, 2, 99])).toEqual(
      new Map([
        [1, name],
        [2, name],
      ]),
    )
    expect(await ledger.audit.keyNames([])).toEqual(new Map())
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
    await place.refuseEntries('no entry')
    await expect(keys.add(storableKey())).rejects.toThrow('no entry')
    expect(await keys.list(0, 9)).toEqual([])
    await place.refuseEntries(undefined)
    const { id } = await keys.add(storableKey())
    await place.refuseEntries('no entry')
    await expect(keys.end(id, { at: 5, by: 'ann' })).rejects.toThrow('no entry')
    await expect(keys.replace(id, storableKey(), 9)).rejects.toThrow('no entry')
    expect(await keys.list(0, 9)).toMatchObject([{ id }])
    expect(await keys.find(id)).not.toHaveProperty('ended')
    expect(await keys.find(id)).not.toHaveProperty('expires')
  })

  test('has entries of changes elsewhere, in one chain with the others', async () => {
    await makeKeys(1)
    const change = { time: 5, actor: 'ann', via: 'page', action: 'file.changed', object: 'providers.json' } as const
    const marks = await Promise.all([ledger.record(change), makeKeys(1), ledger.record(change)])
    const [entry] = (await ledger.audit.list(99, 99)).filter(({ seq }) => seq === marks[0].seq)
    expect(entry).toMatchObject({ ...change, chain: marks[0].chain })
    expect(await verified(marks[2].chain)).toMatchObject({ entries: 4, faults: [] })
    await place.refuseEntries('no entry')
    await expect(ledger.record(change)).rejects.toThrow('no entry')
  })

  test('goes on without a fault when an actor is forgotten', async () => {
    await makeKeys(3)
    await tamper('UPDATE audit SET actor = NULL, actor_salt = NULL WHERE seq = 2')
    expect((await verified()).faults).toEqual([])
    await tamper(`UPDATE audit SET actor = 'eve' WHERE seq = 2`)
    expect((await verified()).faults).toEqual([expect.stringContaining('entry 2 has another actor')])
  })
})

describe.each(databases)('a walk through the chain in %s names what was done to it', (_database, make) => {
  beforeEach(() => open(make), 30_000)
  afterEach(() => place.remove())

  const givenNow = (seq: number) => (): string => place.setGiven(seq)
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
    await tamper(`UPDATE audit SET ${what} WHERE seq = ${seq}`)
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
      ['DELETE FROM audit WHERE seq = 2', 'UPDATE audit SET seq = seq - 1 WHERE seq > 2', givenNow(4)],
      [changed(2), changed(3), changed(4)],
    ],
  ])('%s', async (_name, statements, faults) => {
    await makeKeys(5)
    await tamper(...statements.map((each) => (typeof each === 'string' ? each : each())))
    expect((await verified()).faults).toEqual(faults)
  })

  test('an end that was cut with all traces: by a chain that was kept elsewhere', async () => {
    await makeKeys(5)
    const kept = (await verified()).newest?.chain
    await tamper('DELETE FROM audit WHERE seq > 3', place.setGiven(3))
    expect((await verified()).faults).toEqual([])
    expect((await verified(kept)).faults).toEqual([expect.stringContaining('no entry has the expected chain')])
  })
})

describe('a walk through any chain names', () => {
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
