import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import type { Person } from '../../people/person.ts'
import { readOwnerKey, type OwnerKey } from './history-key.ts'
import { HistoryKeyWrong, answerBytesMax, type History } from './history.ts'
import { openHistory, type HistoryOptions } from './open-history.ts'

const ann: Person = { id: 'abc.1', accountId: '1', name: 'ann' },
  ben: Person = { id: 'abc.2', accountId: '2', name: 'ben' }

const keyOf = (byte: number): Promise<OwnerKey> => readOwnerKey(Buffer.alloc(32, byte).toString('base64'))

function errorOf(pending: Promise<unknown>): Promise<unknown> {
  return pending.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe.each(databases)('conversations in %s', (_name, make) => {
  let place: TestDatabase
  const open: History[] = []
  beforeEach(async () => {
    place = await make()
  }, 30_000)
  afterEach(async () => {
    for (const history of open.splice(0)) await history.close()
    await place.remove()
  })

  async function opened(more: Partial<HistoryOptions> = {}): Promise<History> {
    const keys = more.keys ?? { current: await keyOf(1) }
    const history = await openHistory({ place: place.place, isService: true, ...more, keys })
    open.push(history)
    return history
  }

  /** Changes the database as another program would. */
  async function tamper(statement: string): Promise<void> {
    if (place.place.kind === 'server') return await place.tamper(statement)
    const database = new Database(join(dirname(place.place.path), 'history.db'))
    database.run(statement)
    database.close()
  }

  const textOf = (history: History, person: Person, id: string) =>
    history.read(person.id, [id]).then(([found]) => found?.text)

  async function written(history: History, person: Person, id: string, text: string, base = 0): Promise<number> {
    const outcome = await history.write(person, { id, base, text })
    if (outcome.kind !== 'written') throw new Error(outcome.kind)
    return outcome.version
  }

  test('are read as they were written, by their person only', async () => {
    const history = await opened()
    const version = await written(history, ann, 'c1', '{"a":"ä \\u0000 \u{1F600}"}')
    expect(await history.read(ann.id, ['c1', 'c2'])).toEqual([
      { id: 'c1', version, text: '{"a":"ä \\u0000 \u{1F600}"}' },
    ])
    expect(await history.read(ben.id, ['c1'])).toEqual([])
    expect(await history.remove(ben.id, 'c1', version)).toEqual({ kind: 'written', version: 0 })
    const other = await written(history, ben, 'c1', '{"b":1}')
    expect([await textOf(history, ann, 'c1'), await textOf(history, ben, 'c1')]).toEqual([
      '{"a":"ä \\u0000 \u{1F600}"}',
      '{"b":1}',
    ])
    expect((await history.changes(ben.id, { after: 0, isWhole: true })).entries).toEqual([
      { id: 'c1', version: other, isRemoved: false },
    ])
  })

  test('are replaced in the version that their writer knows only', async () => {
    const history = await opened(),
      sameDatabase = await opened()
    const first = await written(history, ann, 'c1', '1')
    const second = await written(sameDatabase, ann, 'c1', '2', first)
    for (const base of [0, first, second + 1])
      expect(await history.write(ann, { id: 'c1', base, text: '3' })).toEqual({ kind: 'conflict', version: second })
    expect(await history.remove(ann.id, 'c1', first)).toEqual({ kind: 'conflict', version: second })
    expect(await textOf(history, ann, 'c1')).toBe('2')
  })

  test('that were removed are listed as removed, and can come back', async () => {
    const history = await opened()
    const first = await written(history, ann, 'c1', '1')
    const after = await written(history, ann, 'c2', '2')
    const removed = await history.remove(ann.id, 'c1', first)
    expect(removed).toMatchObject({ kind: 'written' })
    expect(await textOf(history, ann, 'c1')).toBeUndefined()
    const since = await history.changes(ann.id, { after, isWhole: false })
    expect(since.entries).toEqual([{ id: 'c1', version: since.last, isRemoved: true }])
    expect((await history.changes(ann.id, { after: 0, isWhole: true })).entries.map(({ id }) => id)).toEqual(['c2'])
    expect(await history.write(ann, { id: 'c1', base: first, text: 'x' })).toEqual({ kind: 'conflict', version: 0 })
    expect(await written(history, ann, 'c1', '3')).toBeGreaterThan(since.last)
    expect(await textOf(history, ann, 'c1')).toBe('3')
  })

  const isPinned = async (text: string) => text.includes('true')

  test('that were not changed for long are removed, except pinned ones and those that cannot be read', async () => {
    let time = 1_000
    const history = await opened({ now: () => time })
    for (const id of ['old', 'changed', 'broken']) await written(history, ann, id, '{"isPinned":false}')
    await written(history, ann, 'pinned', '{"isPinned":true}')
    await written(history, ben, 'his', '{}')
    const bytes = place.place.kind === 'server' ? `'\\x01'` : `x'01'`
    await tamper(`UPDATE history_conversation SET content = ${bytes} WHERE id = 'broken'`)
    time = 2_000
    const after = await written(history, ann, 'new', '{}')
    const [{ version = 0 } = {}] = await history.read(ann.id, ['changed'])
    await written(history, ann, 'changed', '{}', version)
    expect(await history.lastWritten()).toBe(2_000)
    expect(await history.sweep(1_000, isPinned)).toBe(0)
    expect(await history.sweep(1_500, isPinned)).toBe(2)
    const { entries } = await history.changes(ann.id, { after, isWhole: false })
    expect(entries.map(({ id, isRemoved }) => [id, isRemoved])).toEqual([
      ['changed', false],
      ['old', true],
    ])
    const left = async (person: Person) =>
      (await history.changes(person.id, { after: 0, isWhole: true })).entries.map(({ id }) => id).toSorted()
    expect([await left(ann), await left(ben)]).toEqual([['broken', 'changed', 'new', 'pinned'], []])
    // Pinned ones are looked at again after the same time.
    expect(await history.sweep(1_999, isPinned)).toBe(0)
    expect(await history.sweep(9_000, isPinned)).toBe(2)
    expect(await left(ann)).toEqual(['broken', 'pinned'])
  })

  test('of writers at the same time are all listed, once each', async () => {
    const both = [await opened(), await opened()]
    const ids = Array.from({ length: 20 }, (_, index) => `c${index}`)
    await Promise.all(ids.map((id, index) => both[index % 2]?.write(ann, { id, base: 0, text: '{}' })))
    const history = await opened()
    const { entries, last } = await history.changes(ann.id, { after: 0, isWhole: false })
    expect(entries.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(new Set(entries.map(({ version }) => version)).size).toBe(20)
    expect(entries.at(-1)?.version).toBe(last)
  })

  test('are cleared until a change, and later pages compare the whole list', async () => {
    const history = await opened()
    const first = await written(history, ann, 'c1', '1')
    const second = await written(history, ann, 'c2', '2')
    await written(history, ben, 'c1', '1')
    await history.clear(ann.id, first)
    expect(await history.changes(ann.id, { after: second, isWhole: false })).toMatchObject({ isTooOld: true })
    const whole = await history.changes(ann.id, { after: 0, isWhole: true })
    expect(whole.entries.map(({ id }) => id)).toEqual(['c2'])
    expect(await history.changes(ann.id, { after: whole.last, isWhole: false })).toMatchObject({ isTooOld: false })
    expect(await textOf(history, ben, 'c1')).toBe('1')
  })

  test('have bounds for each person', async () => {
    const history = await opened({ bounds: { conversations: 2, bytes: 3_000, removed: 2 } })
    // Random text, so that it is not compressed below the bound.
    const large = Buffer.from(crypto.getRandomValues(new Uint8Array(2_500))).toString('hex')
    const first = await written(history, ann, 'c1', large)
    expect(await history.write(ann, { id: 'c2', base: 0, text: large })).toEqual({ kind: 'full' })
    const smaller = await written(history, ann, 'c1', '1', first)
    const second = await written(history, ann, 'c2', '2')
    expect(await history.write(ann, { id: 'c3', base: 0, text: '3' })).toEqual({ kind: 'full' })
    await written(history, ben, 'c3', '3')
    await history.remove(ann.id, 'c1', smaller)
    await history.remove(ann.id, 'c2', second)
    const third = await written(history, ann, 'c3', large)
    expect(await history.changes(ann.id, { after: second, isWhole: false })).toMatchObject({ isTooOld: false })
    await history.remove(ann.id, 'c3', third)
    expect(await history.changes(ann.id, { after: second, isWhole: false })).toMatchObject({ isTooOld: true })
  })

  test('are read in answers of a bounded size', async () => {
    const history = await opened()
    const text = `"${'x'.repeat(answerBytesMax * 0.6)}"`
    for (const id of ['c1', 'c2', 'c3']) await written(history, ann, id, id === 'c3' ? '3' : text)
    expect((await history.read(ann.id, ['c1', 'c2', 'c3'])).map(({ id }) => id)).toEqual(['c1', 'c3'])
  })

  test('cannot be read from the database, nor exchanged in it', async () => {
    const history = await opened()
    const secret = 'Zitronenfalter am Fenster'
    await written(history, ann, 'c1', JSON.stringify({ title: secret }))
    await written(history, ann, 'c2', '2')
    await written(history, ben, 'c1', '3')
    const rows = await place.query('SELECT * FROM history_conversation', 'history.db')
    expect(JSON.stringify(rows)).not.toContain(secret)
    for (const { content } of rows) expect(Buffer.from(content as Uint8Array).includes(secret)).toBe(false)
    if (place.kind === 'PostgreSQL') return
    const folder = dirname(place.place.kind === 'file' ? place.place.path : '')
    for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes(secret)).toBe(false)
  })

  test('that are exchanged in the database are named, and do not keep the others from their person', async () => {
    const history = await opened()
    await written(history, ann, 'c1', '1')
    await written(history, ann, 'c2', '2')
    await written(history, ben, 'c1', '3')
    for (const other of [`person = 1 AND id = 'c2'`, `person = 2 AND id = 'c1'`]) {
      const [row] = await place.query(`SELECT content FROM history_conversation WHERE ${other}`, 'history.db')
      const hex = Buffer.from(row?.['content'] as Uint8Array).toString('hex')
      const value = place.kind === 'SQLite' ? `x'${hex}'` : String.raw`'\x${hex}'`
      await tamper(`UPDATE history_conversation SET content = ${value} WHERE person = 1 AND id = 'c1'`)
      expect(await history.read(ann.id, ['c1', 'c2'])).toMatchObject([
        { id: 'c1', text: 'null', fault: expect.stringContaining('cannot be decrypted') },
        { id: 'c2', text: '2' },
      ])
    }
  })

  describe('with another key', () => {
    test('are not opened', async () => {
      const history = await opened()
      await opened({ keys: { current: await keyOf(9) } })
      await written(history, ann, 'c1', '1')
      const wrong = await errorOf(opened({ keys: { current: await keyOf(2), previous: await keyOf(3) } }))
      expect(wrong).toBeInstanceOf(HistoryKeyWrong)
      expect(String(wrong)).toContain((await keyOf(1)).id)
      expect(await textOf(await opened(), ann, 'c1')).toBe('1')
    })

    test('are opened when the one before is there, and without it from then on', async () => {
      await written(await opened(), ann, 'c1', '1')
      const rotated: number[] = []
      const keys = { current: await keyOf(2), previous: await keyOf(1) }
      const history = await opened({ keys, onRotated: (people) => rotated.push(people) })
      expect([rotated, await textOf(history, ann, 'c1')]).toEqual([[1], '1'])
      expect(await textOf(await opened({ keys: { current: await keyOf(2) } }), ann, 'c1')).toBe('1')
      expect(await errorOf(opened())).toBeInstanceOf(HistoryKeyWrong)
    })
  })
})
