import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../base/start-errors.ts'
import { temporaryFolder } from '../ledger/testing.ts'
import { auditCommand } from './audit.ts'
import { backupCommand } from './backup.ts'
import { keysCommand } from './keys.ts'
import { runCommand } from './testing.ts'

let place: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(() => place.remove())

const options = () => ({ environment: { SVC_HOME: place.folder } })
const audit = (...argv: readonly string[]) => runCommand(auditCommand, argv, options())
const backup = (...argv: readonly string[]) => runCommand(backupCommand, argv, options())
const keys = (...argv: readonly string[]) => runCommand(keysCommand, argv, options())

describe('svc audit', () => {
  test('lists changes, newest first, a bounded number of them', async () => {
    await keys('list')
    expect((await audit()).out).toBe('No change of a key is recorded.\n')
    expect((await audit('verify')).out).toBe('0 entries\n')
    await keys('make', '--name', 'indexer')
    await keys('rotate', '1')
    await keys('end', '2')
    const { out } = await audit()
    expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(-4, -1).join(' '))).toEqual([
      'VIA ACTION OBJECT',
      'command line key.ended 2',
      'command line key.made 2',
      'command line key.rotated 1',
      'command line key.made 1',
      '',
    ])
    const { entries } = JSON.parse((await audit('--json', '--limit', '2', '--before', '4')).out)
    expect(entries).toMatchObject([
      { seq: 3 },
      { seq: 2, actor: 'command line', chain: expect.stringMatching(/^\w{64}$/) },
    ])
    expect(Object.keys(entries[0])).not.toContain('actorSalt')
  })

  test('verify prints the newest chain, compares an older one, and ends with 1 at a fault', async () => {
    for (const name of ['a', 'b']) await keys('make', '--name', name)
    const { code, out } = await audit('verify')
    expect([code, out]).toEqual([0, expect.stringMatching(/^2 entries, the newest is 2 with chain [0-9a-f]{64}\n$/)])
    const chain = out.trim().slice(-64)
    await keys('make', '--name', 'c')
    expect((await audit('verify', '--expect', chain)).code).toBe(0)
    const unknown = await audit('verify', '--expect', '0'.repeat(64))
    expect([unknown.code, unknown.out]).toEqual([1, expect.stringContaining('no entry has the expected chain')])
    const database = new Database(place.path)
    database.run(`UPDATE audit SET object = '9' WHERE seq = 2`)
    database.close()
    const faulty = await audit('verify', '--json')
    expect(faulty.code).toBe(1)
    expect(JSON.parse(faulty.out)).toMatchObject({
      entries: 3,
      newest: { seq: 3 },
      faults: [expect.stringContaining('entry 2')],
    })
  })

  test.each([
    [['check'], 'found check, allowed: svc audit, svc audit verify'],
    [['--expect', '0'.repeat(64)], '--expect needs verify'],
    [['verify', '--limit', '5'], 'svc audit verify has neither'],
    [['verify', '--expect', 'abc'], '--expect: found abc, allowed: 64 digits'],
    [['--limit', '10001'], '--limit'],
  ])('refuses %j', async (argv, message) => {
    await keys('list')
    const failure = await Promise.try(() => audit(...argv)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain(message)
  })

  test('makes no database', async () => {
    await expect(audit()).rejects.toThrow(`${place.path} does not exist`)
    expect(existsSync(place.path)).toBe(false)
  })
})

describe('svc backup', () => {
  test('names the command for a database in PostgreSQL', async () => {
    const environment = { SVC_HOME: place.folder, SVC_DATABASE: 'postgres://svc@db/svc' }
    const failure = await runCommand(backupCommand, ['copy'], { environment }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain('pg_dump -Fc --schema=svc')
  })

  test('copies the database, and the requests if asked to', async () => {
    await keys('make', '--name', 'indexer')
    const file = join(place.folder, 'copy')
    await expect(backup('--requests', file)).rejects.toThrow('requests.db does not exist')
    expect(existsSync(file)).toBe(false)
    new Database(join(place.folder, 'requests.db')).run('CREATE TABLE request (seq INTEGER)')
    expect((await backup('--requests', file)).out).toBe(`${file}\n${file}-requests\n`)
    for (const path of [file, `${file}-requests`]) expect(statSync(path).mode & 0o777).toBe(0o600)
    await expect(backup(file)).rejects.toThrow(`${file} exists: name a new file`)
  })

  test('needs a file and a database', async () => {
    await expect(backup()).rejects.toThrow(UsageError)
    await expect(backup(join(place.folder, 'copy'))).rejects.toThrow(`${place.path} does not exist`)
    writeFileSync(place.path, 'text'.repeat(999))
    await expect(backup(join(place.folder, 'copy'))).rejects.toThrow(`${place.path} is damaged`)
  })
})
