import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import type { TakenContent } from '../../content/taken-content.ts'
import { newKey } from '../../people/keys/key-form.ts'
import { personOf } from '../../people/testing.ts'
import { openLedger } from '../open-ledger.ts'
import { postgresClient } from '../postgres/postgres-client.ts'
import { deleteSomeServerContent } from '../postgres/server-content.ts'
import { temporaryFolder } from '../testing.ts'
import { openUseReader } from '../use/read-use.ts'
import { batchOf, usedRequest } from '../use/testing.ts'
import type { UseReader } from '../use/use-reader.ts'
import { deleteSomeContent, rowsPathBeside } from './content-file.ts'
import { openContentWriter, type ContentWriter } from './content-writer.ts'

const dayMs = 86_400_000
const ann = { person: personOf({ user: 'ann', userId: 'id-of-ann' }) }

function taken(more: Partial<TakenContent['request']> = {}, facts: Partial<TakenContent> = {}): TakenContent {
  return {
    request: { time: 5, id: 'r', ...more },
    keepMs: dayMs,
    redact: [],
    question: { bytes: Buffer.from('{"model":"m","messages":[{"role":"user","content":"Why?"}]}'), contentType: '' },
    answer: { kind: 'parts', pieces: ['Be', 'cause.'], isCut: false },
    ...facts,
  }
}

describe.each(databases)('content in %s', (_kind, make) => {
  let place: TestDatabase
  let writer: ContentWriter
  let reader: UseReader
  beforeEach(async () => {
    place = await make()
    await place.open()
    await place.useStore().write([batchOf(1, [usedRequest()])])
    writer = await openContentWriter(place.place)
    reader = await place.useReader()
  }, 30_000)
  afterEach(async () => {
    await writer.close()
    await place.remove()
  })

  const count = async () => (await place.query('SELECT count(*) AS count FROM content', 'requests.db'))[0]?.['count']

  test('is found by id, time, line and person, the newest first', async () => {
    const result = await writer.write(
      [taken(ann), taken({ time: 6, line: 3 }), taken({ time: 7, person: personOf({ user: 'bob' }) })],
      {},
    )
    expect(result).toEqual({ lost: 0 })
    const found = async (question: object) => await reader.content({ id: 'r', ...question })
    expect(await found({ time: 5 })).toMatchObject({
      time: 5,
      line: 0,
      personId: 'id-of-ann',
      question: '[user]\nWhy?',
      answer: 'Because.',
      isQuestionCut: false,
    })
    expect(await found({})).toMatchObject({ time: 7, personId: 'bob' })
    expect(await found({ line: 3 })).toMatchObject({ time: 6, line: 3, person: 0 })
    expect(await found({ line: 4 })).toBeUndefined()
    expect(await found({ people: ['id-of-ann'] })).toMatchObject({ time: 5 })
    expect(await found({ people: ["'; DROP TABLE content; --"] })).toBeUndefined()
    expect(await reader.content({ id: 'other' })).toBeUndefined()
  })

  test('of a person who was forgotten since has no person', async () => {
    await writer.write([taken(ann)], {})
    await place.tamper("UPDATE person SET gone = 5, subject = 'forgotten #1' WHERE subject = 'id-of-ann'")
    expect(await reader.content({ id: 'r' })).not.toHaveProperty('personId')
    expect(await reader.content({ id: 'r', people: ['id-of-ann'] })).toBeUndefined()
  })

  test('is compressed, and without secrets, whichever text is hostile', async () => {
    const own = newKey('program')
    const secret = 'pk-4f9a8c7b6d5e4f3a2b1c'
    const hostile = `\0 \ud800 ${own} ${secret} 4111 1111 1111 1111 ${'lorem ipsum '.repeat(5_000)}`
    const question = { bytes: Buffer.from(JSON.stringify({ input: hostile })), contentType: '' }
    const redact = ['\\d{4}(?: \\d{4}){3}']
    const answer = { kind: 'parts', pieces: [own.slice(0, 9), own.slice(9), secret], isCut: false } as const
    expect(await writer.write([taken({}, { question, redact, answer })], { '0 key': secret })).toEqual({ lost: 0 })
    const kept = await reader.content({ id: 'r' })
    expect(kept?.question).toContain('[removed] [redacted] [removed] lorem')
    expect(kept?.answer).toBe('[removed][redacted]')
    const [row] = await place.query('SELECT bytes FROM content', 'requests.db')
    expect(Number(row?.['bytes'])).toBeLessThan(2_000)
  })

  test('whose removal takes too long is lost, and keeps nothing else from being stored', async () => {
    const long = { bytes: Buffer.from(JSON.stringify({ input: 'a '.repeat(125_000) })), contentType: '' }
    const slow = taken({ id: 'slow' }, { question: long, redact: ['(?:[a ]?){300}b'] })
    expect(await writer.write([slow, taken()], {})).toMatchObject({
      lost: 1,
      reason: expect.stringContaining('TooManySteps'),
    })
    expect(await count()).toBe(1)
  }, 20_000)

  test('is not shown when its time is over, and is swept', async () => {
    await writer.write([taken({ id: 'short' }, { keepMs: 0 }), taken()], {})
    const now = Date.now() + 10
    expect(await reader.content({ id: 'short' })).toBeUndefined()
    const store = place.useStore({ now })
    while (await store.sweep());
    expect(await count()).toBe(1)
    const later = place.useStore({ now: now + 2 * dayMs })
    while (await later.sweep());
    expect(await count()).toBe(0)
  })

  test('beyond its limit is deleted, the oldest first', async () => {
    await writer.write(
      ['a', 'b', 'c'].map((id) => taken({ id })),
      {},
    )
    const bytesMax = 1
    const sweep = async (): Promise<boolean> => {
      if (place.place.kind === 'server') {
        const client = postgresClient({ url: place.place.url })
        const deleted = await client.transaction((query) => deleteSomeServerContent(query, 0, bytesMax))
        await client.close()
        return deleted
      }
      const database = new Database(rowsPathBeside(place.place.path))
      const deleted = deleteSomeContent(database, 0, bytesMax)
      database.close()
      return deleted
    }
    expect([await sweep(), await count(), await sweep()]).toEqual([true, 0, false])
  })
})

describe('content in files', () => {
  test.each(['absent', 'of a version without content'])('is found nowhere while requests.db is %s', async (state) => {
    const { folder, path, remove } = temporaryFolder()
    const ledger = await openLedger({ path })
    if (state !== 'absent') new Database(rowsPathBeside(path)).run('CREATE TABLE request (seq INTEGER)')
    const reader = await openUseReader(path)
    expect(await reader.content({ id: 'r' })).toBeUndefined()
    expect(readdirSync(folder).includes('requests.db')).toBe(state !== 'absent')
    await reader.close()
    await ledger.close()
    remove()
  })
})
