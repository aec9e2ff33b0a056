import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { databases, type TestDatabase } from '../../test/fakes/databases.ts'
import { parseArguments } from '../base/command-line/arguments.ts'
import type { LineEditor } from '../base/command-line/command.ts'
import { personIdAt } from '../base/person-entry.ts'
import { openContentWriter } from '../ledger/content/content-writer.ts'
import { readOwnerKey } from '../ledger/history/history-key.ts'
import { openHistory } from '../ledger/history/open-history.ts'
import type { KeyTable, Ledger } from '../ledger/ledger.ts'
import { storableKey, temporaryFolder, verifiedChain } from '../ledger/testing.ts'
import { batchOf, usedRequest } from '../ledger/use/testing.ts'
import { keyBook } from '../people/keys/key-book.ts'
import { hashOfKey, newKey, type FormedKey } from '../people/keys/key-form.ts'
import { sentBy } from '../people/testing.ts'
import { ampleOptions } from '../stores/testing.ts'
import { personCommand } from './person.ts'
import { capturedContext, runCommand } from './testing.ts'

const name = 'Annabel-Q.Zimmerman'
const userId = 'https://id.example/u/annabel.q@example.org'
const person = { id: 'annabel-7-of-provider', name, accountId: userId, seen: 5 }
/** As requests name the person. */
const sender = { user: name, person }
const told = new RegExp(`${name}|annabel|zimmerman`, 'i')

describe.each(databases)('svc person in %s', (kind, make) => {
  let place: TestDatabase
  let ledger: Ledger
  let keys: KeyTable
  let folder: string
  let environment: Readonly<Record<string, string>>
  beforeEach(async () => {
    place = await make()
    ledger = await place.open()
    keys = ledger.keysVia('page', () => undefined)
    folder = dirname(place.place.kind === 'file' ? place.place.path : place.place.cachePath)
    environment = { SVC_HOME: folder, ...(place.place.kind === 'server' ? { SVC_DATABASE: place.place.url } : {}) }
  }, 30_000)
  afterEach(() => place.remove())

  const run = (...argv: readonly string[]) => runCommand(personCommand, argv, { environment })
  const file = () => join(folder, 'export.json')

  /** Two own keys of the person, one of the service that the person made, and requests of two people. */
  async function fill(): Promise<void> {
    await keys.add(storableKey({ name: `laptop of ${name}`, madeBy: name, person }))
    await keys.add(storableKey({ name: 'phone', madeBy: name, person }))
    await keys.end(2, { at: 1_800_000_000_009, by: name })
    await keys.add(storableKey({ name: 'indexer', madeBy: name }))
    const store = place.useStore()
    const other = { ...sentBy({ user: 'bob', userId: 'id-of-bob' }) }
    const failed = {
      trail: [{ name: 'b', status: 500, ms: 1, failure: 'server_error' as const }, ...usedRequest().trail],
    }
    await store.write([
      batchOf(1, [
        usedRequest({ ...sender, id: '17', session: `ses-of-${name}` }),
        usedRequest({ ...sender, id: 'second', ...failed }),
        usedRequest(other),
      ]),
    ])
    const agents = ledger.lasting('agents', ampleOptions, Date.now)
    await agents.set('key', `agent of ${name}`, `${person.id} family`)
    await agents.set('other', 'agent of bob', 'bob family')
    const writer = await openContentWriter(place.place)
    const kept = (id: string, request: object) => ({
      request: { time: 5, id, ...request },
      keepMs: 86_400_000,
      redact: [],
      question: { bytes: Buffer.from(`{"input":"I am ${id === 'other' ? 'bob' : name}"}`), contentType: '' },
    })
    const own = { line: 1, person }
    expect(await writer.write([kept('17', sender), kept('own', own), kept('other', other)], {})).toEqual({
      lost: 0,
    })
    await writer.close()
  }

  test('export writes everything of one person, without hashes, for its owner only, with an entry', async () => {
    await fill()
    expect(await run('export', name, file())).toMatchObject({ code: 0, out: `${file()} was written\n` })
    expect((statSync(file()).mode & 0o777).toString(8)).toBe('600')
    const text = readFileSync(file(), 'utf8')
    expect(JSON.parse(text)).toMatchObject({
      names: [name],
      audit: { seq: 5, chain: (await ledger.audit.list(99, 1))[0]?.chain },
      people: [{ id: 1, subject: person.id, user_id: userId, name }],
      keys: [
        { id: 1, name: `laptop of ${name}`, grants: { scopes: ['chat'] } },
        { id: 2, ended_by: name },
      ],
      changes: [{ action: 'key.made' }, { action: 'key.made' }, { action: 'key.ended' }, { object: '3', actor: name }],
      days: [{ day: 20261123, model: 'm', provider: 'a', requests: 2, cost: 2_000 }],
      hours: [{ requests: 2 }],
      requests: [
        { id: '17', api: 'chat', model: 'm', provider: 'a', cost: 1_000, session: `ses-of-${name}`, trail: [] },
        { id: 'second', trail: [{ provider: 'b', class: 'server_error', status: 500 }, { provider: 'a' }] },
      ],
      content: [
        { id: '17', time: 5, line: 0, question: `[input]\nI am ${name}`, answer: '' },
        { id: 'own', line: 1 },
      ],
    })
    expect(text).not.toContain('hash')
    expect(text).not.toContain('bob')
    expect((await ledger.audit.list(99, 1))[0]).toMatchObject({ action: 'person.exported', object: '1', seq: 5 })
    await expect(run('export', name, file())).rejects.toThrow('exists: name a new file')
    expect((await verifiedChain(ledger.audit)).entries).toBe(5)
  })

  test('forget ends the keys at once, and removes the person from every table, but not the totals', async () => {
    await fill()
    const key: FormedKey = { kind: 'program', text: newKey('program') }
    const { id } = await keys.add(storableKey({ hash: hashOfKey(key), person }))
    const book = await keyBook({
      table: ledger.keys,
      fileKeys: () => [],
      onFault: () => undefined,
    })
    expect(await book.find(key)).toMatchObject({ id })
    expect(await place.query('SELECT session FROM usage_session')).toEqual([{ session: `ses-of-${name}` }])
    const sumsBefore = await place.query('SELECT * FROM usage_day ORDER BY person')
    const dry = await run('forget', name, '--dry-run')
    expect(dry.out).toBe(`${name}: 3 keys, of which 2 end; 4 changes; the use of person 1\n`)
    expect((await verifiedChain(ledger.audit)).entries).toBe(5)

    expect(await run('forget', name, '--yes')).toMatchObject({ code: 0 })
    const agents = ledger.lasting('agents', ampleOptions, Date.now)
    expect([await agents.get('key'), await agents.get('other')]).toEqual([undefined, 'agent of bob'])
    expect(await book.find(key)).toBeUndefined()
    expect(await ledger.keys.find(1)).toMatchObject({ name: 'forgotten', madeBy: 'forgotten', endedBy: 'command line' })
    expect(await ledger.keys.find(1)).not.toHaveProperty('person')
    expect(await ledger.keys.find(2)).toMatchObject({ ended: 1_800_000_000_009, endedBy: 'forgotten' })
    const ofService = await ledger.keys.find(3)
    expect(ofService).toMatchObject({ name: 'indexer', madeBy: 'forgotten' })
    expect(ofService).not.toHaveProperty('ended')
    expect(await place.query('SELECT id, subject, name, email FROM person ORDER BY id')).toEqual([
      { id: 1, subject: 'forgotten #1', name: 'forgotten #1', email: null },
      { id: 2, subject: 'id-of-bob', name: 'bob', email: null },
    ])
    expect(await place.query('SELECT * FROM usage_day ORDER BY person')).toEqual(sumsBefore)
    expect(await place.query('SELECT session FROM usage_session')).toEqual([])
    expect(await place.query('SELECT id FROM request WHERE session IS NOT NULL', 'requests.db')).toEqual([])
    expect(await place.query('SELECT id FROM content', 'requests.db')).toEqual([{ id: 'other' }])
    // Key 4 was made on the command line.
    const [entry, , ...earlier] = await ledger.audit.list(99, 9)
    expect(entry).toMatchObject({
      action: 'person.forgotten',
      object: '1',
      after: '{"keys":[1,4]}',
      actor: 'command line',
    })
    expect(earlier.every(({ actor }) => actor === undefined)).toBe(true)
    expect((await verifiedChain(ledger.audit)).faults).toEqual([])
    await expect(run('forget', name, '--yes')).rejects.toThrow('no person with the name')
  })

  test('conversations of people of two identity providers with the same user id are those of one of them', async () => {
    const history = await openHistory({
      place: place.place,
      keys: { current: await readOwnerKey(Buffer.alloc(32, 1).toString('base64')) },
      isService: true,
    })
    const write = (id: string, user: string, conversation: string) =>
      history.write({ id, accountId: 'u1', name: user }, { id: conversation, base: 0, text: '{}' })
    await write('first-1', 'ann', 'c1')
    await write('other-1', 'bea', 'c2')
    await write('other-1', 'bea', 'c3')
    const several = 'name one of "id:first-1", "id:other-1"'
    const conversations = async (wanted: string) =>
      /\d+ conversations/.exec((await run('forget', wanted, '--dry-run')).out)
    await expect(run('forget', 'id:u1', '--dry-run')).rejects.toThrow(several)
    expect(String(await conversations('id:first-1'))).toBe('1 conversations')
    expect(String(await conversations('bea'))).toBe('2 conversations')
    // Of an earlier version: their use is that of one of them.
    await place.useStore().write([batchOf(1, [usedRequest(sentBy({ user: 'ann', userId: 'u1' }))])])
    await expect(run('forget', 'id:u1', '--dry-run')).rejects.toThrow(several)
    expect(String(await conversations('ann'))).toBe('1 conversations')
    await history.close()
  })

  test('of two people with one user id, one is named with the identity provider', async () => {
    const used = ['https://one.test', 'https://two.test'].map((provider) =>
      usedRequest(sentBy({ user: 'ann', userId: 'u1', subject: personIdAt(provider, 'u1') })),
    )
    await place.useStore().write([batchOf(1, used)])
    await expect(run('forget', 'id:u1', '--dry-run')).rejects.toThrow('several people')
    expect((await run('forget', 'id:u1@https://two.test', '--yes')).code).toBe(0)
    expect(await place.query('SELECT subject FROM person WHERE gone IS NULL')).toEqual([
      { subject: personIdAt('https://one.test', 'u1') },
    ])
  })

  test('use after forget is that of a new person, also in a service that runs meanwhile', async () => {
    await ledger.keys.list(0, 1)
    const store = place.useStore()
    const used = usedRequest(sender)
    expect(await store.write([batchOf(1, [used])])).toEqual({})
    expect((await run('forget', name, '--yes')).code).toBe(0)
    expect(await store.write([batchOf(2, [used, used])])).toEqual({})
    const sums = 'SELECT person.name, requests FROM usage_day JOIN person ON person.id = person ORDER BY requests'
    expect(await place.query(sums)).toEqual([
      { name: 'forgotten #1', requests: 1 },
      { name, requests: 2 },
    ])
    const rows = await place.query('SELECT person FROM request ORDER BY person', 'requests.db')
    expect(rows.map((row) => row['person'])).toEqual([1, rows[1]?.['person'], rows[1]?.['person']])
    expect(rows[1]?.['person']).not.toBe(1)
  })

  test('forget leaves no byte of the person in a file', async () => {
    await fill()
    await place.tamper(`UPDATE person SET email = 'annabel@example.org' WHERE id = 1`)
    const inServer = () => (kind === 'SQLite' ? [] : tellingTables(place))
    if (kind === 'SQLite') expect(tellingFiles(folder).join(' ')).toMatch(/requests\.db.*svc\.db/)
    expect(tellingFiles(folder).length).toBeGreaterThan(0)
    if (kind === 'PostgreSQL') expect(await inServer()).toEqual(['key', 'audit', 'person', 'content', 'lasting'])
    expect((await run('forget', `id:${userId}`, '--yes')).code).toBe(0)
    expect(tellingFiles(folder)).toEqual([])
    expect(await inServer()).toEqual([])
    expect(existsSync(join(folder, kind === 'SQLite' ? 'svc.db' : 'keys.cache'))).toBe(true)
  })

  test('forget asks at a terminal, and names copies of the database', async () => {
    await fill()
    writeFileSync(join(folder, 'svc.db.before-4'), '')
    await expect(run('forget', name)).rejects.toThrow('confirm with --yes')
    const copies = kind === 'SQLite' ? `${folder}/svc.db.before-4 is an earlier copy: delete it, too\n` : ''
    for (const [typed, code, end] of [
      ['y', 1, 'nothing was changed\n'],
      [name, 0, `any more\n${copies}`],
    ] as const) {
      const context = capturedContext({ environment, stdout: { isTerminal: true } })
      const edit = async (): Promise<LineEditor> => ({
        read: async () => ({ kind: 'line', text: typed }),
        whileBusy: (work) => work,
        close: () => {},
      })
      const parsed = parseArguments(personCommand.flags, ['forget', name], environment)
      expect(await personCommand.run({ ...context, ...parsed, stdin: { ...context.stdin, edit } })).toBe(code)
      expect(context.stdout.text).toEndWith(end)
    }
  })

  test('a name of several people, and one of none, change nothing', async () => {
    await fill()
    await keys.add(storableKey({ person: { ...person, id: 'other', accountId: 'other-id' } }))
    await expect(run('forget', name, '--yes')).rejects.toThrow(/several people .* "id:https:.*", "id:other-id"/)
    for (const unknown of ['annabel', 'command line', "'; DROP TABLE key; --", 'x'.repeat(99_999), 'id:', 'id:\0'])
      await expect(run('forget', unknown, '--yes')).rejects.toThrow('the database has no person with the')
    await expect(run('export', 'key:indexer', file())).rejects.toThrow('no person')
    expect(existsSync(file())).toBe(false)
    expect((await verifiedChain(ledger.audit)).entries).toBe(5)
    expect(await keys.list(0, 9)).toHaveLength(4)
  })

  test('forget happens with its entry, or not at all', async () => {
    await fill()
    await place.refuseEntries('no entry')
    await expect(run('forget', name, '--yes')).rejects.toThrow('no entry')
    await expect(run('export', name, file())).rejects.toThrow('no entry')
    expect(existsSync(file())).toBe(false)
    expect(await ledger.keys.find(1)).toMatchObject({ person })
  })
})

/** Files of a folder with a byte of the person. */
function tellingFiles(folder: string): readonly string[] {
  return readdirSync(folder).filter((file) => told.test(readFileSync(join(folder, file), 'latin1')))
}

/** Tables of PostgreSQL with a byte of the person in their files. */
async function tellingTables({ query }: TestDatabase): Promise<readonly string[]> {
  await query('CHECKPOINT')
  const tables = ['key', 'audit', 'person', 'label', 'meta', 'batch', 'usage_day', 'request', 'content', 'lasting']
  const found = await Promise.all(
    tables.map(async (table) => {
      const [row] = await query(
        `SELECT encode(pg_read_binary_file(path), 'escape') AS bytes FROM pg_relation_filepath('${table}') AS path
         WHERE path IS NOT NULL`,
      )
      return told.test(String(row?.['bytes']))
    }),
  )
  return tables.filter((_, index) => found[index])
}

describe('svc person', () => {
  const home = temporaryFolder()
  afterAll(() => home.remove())
  const environment = { SVC_HOME: home.folder }
  const run = (...argv: readonly string[]) => runCommand(personCommand, argv, { environment })

  test.each([
    [[], 'found nothing, allowed: svc person export, svc person forget'],
    [['show', 'ann'], 'found show'],
    [['forget'], 'NAME is missing'],
    [['forget', 'ann', 'file'], 'has no FILE'],
    [['export', 'ann', 'file', '--yes'], 'neither --yes nor --dry-run'],
    [['forget', 'ann', '--yes'], 'does not exist'],
  ])('%j is refused', async (argv, message) => {
    await expect(run(...argv)).rejects.toThrow(message)
  })
})
