import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../base/start-errors.ts'
import { keysCommand } from './keys.ts'
import { runCommand } from './testing.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-keys-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const run = (...argv: readonly string[]) => runCommand(keysCommand, argv, { environment: { SVC_HOME: home } })

async function json(...argv: readonly string[]): Promise<unknown> {
  const { out } = await run(...argv, '--json')
  return JSON.parse(out)
}

describe('svc keys', () => {
  test('makes a key, and prints it alone to standard output', async () => {
    const { code, out, err } = await run('make', '--name', 'indexer')
    expect([code, err]).toEqual([0, 'key 1 (indexer); it is shown this once:\n'])
    expect(out).toMatch(/^sk-svc_[0-9A-Za-z]{44}\n$/)
  })

  test('makes a key with grants, as JSON', async () => {
    const grants = ['--models', 'gpt-5*,claude', '--providers', 'groq', '--networks', '10.0.0.0/8', '--scopes', 'chat']
    expect(await json('make', '--name', 'a b', ...grants, '--days', '9')).toMatchObject({
      id: 1,
      key: expect.stringMatching(/^sk-svc_/),
      name: 'a b',
      models: ['gpt-5*', 'claude'],
      providers: ['groq'],
      networks: ['10.0.0.0/8'],
      scopes: ['chat'],
      expires: expect.stringMatching(/^20/),
    })
    expect(await json('make', '--name', 'boss', '--kind', 'management')).toMatchObject({
      id: 2,
      key: expect.stringMatching(/^svcm_/),
      scopes: ['keys:write'],
      expires: null,
    })
  })

  test('makes a key of a team of access.json', async () => {
    writeFileSync(join(home, 'access.json'), '{ "teams": { "search": {} } }')
    expect(await json('make', '--name', 'nightly', '--team', 'search')).toMatchObject({ team: 'search', person: null })
    expect((await run('list')).out).toContain('chat,models:read; team search')
    await expect(run('make', '--name', 'a', '--team', 'serch')).rejects.toThrow('did you mean "search"')
  })

  test('lists keys without their text', async () => {
    expect((await run('list')).out).toBe('There is no key. svc keys make --name NAME makes one.\n')
    const made = (await run('make', '--name', 'in\u001b[31mdexer', '--models', 'a*').catch(() => undefined))?.out
    expect(made).toBeUndefined()
    const { out: key } = await run('make', '--name', 'indexer', '--models', 'a*')
    await run('make', '--name', 'old')
    await run('end', '2')
    const { out } = await run('list')
    expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').trim())).toEqual([
      'ID  NAME  KEY  STATE  EXPIRES  LAST USED  MAY',
      `1  indexer  ${key.slice(0, 10)}…${key.trim().slice(-4)}  active  never  never  chat,models:read; models a*`,
      expect.stringMatching(/^2 {2}old {2}sk-svc_\w{3}….{4} {2}ended /),
      '',
    ])
    expect(await json('list')).toMatchObject({ keys: [{ id: 1 }, { id: 2, state: 'ended', ended_by: 'command line' }] })
    expect(JSON.stringify(await json('list'))).not.toContain(key.trim())
  })

  test('makes a key for access.json, and stores nothing', async () => {
    const { out, err } = await run('make', '--name', 'ci', '--hash-only', '--models', 'a*', '--days', '9')
    const [key = '', entry = ''] = out.split('\n')
    expect(err).toContain('it is shown this once, and stored nowhere')
    expect(JSON.parse(entry)).toEqual({
      ...{ name: 'ci', hash: new Bun.CryptoHasher('sha256').update(key).digest('hex'), models: ['a*'] },
      ...{ expires: expect.stringMatching(/^20/), scopes: ['chat', 'models:read'] },
    })
    expect(readdirSync(home)).toEqual([])
    // The entry is one of the file.
    writeFileSync(join(home, 'access.json'), `{ "keys": [${entry}] }`)
    expect((await run('list')).out).toMatch(
      / – +ci +sha256 .{8}… +in access.json +20.{8} +never +chat,models:read; models a/,
    )
    expect((await run('show', 'ci')).out).toContain('source:     access.json\n')
    for (const action of ['end', 'rotate'])
      await expect(run(action, 'ci')).rejects.toThrow('key ci is in access.json: remove it there')
    expect(await json('make', '--name', 'b', '--hash-only')).toMatchObject({ entry: { name: 'b' } })
    writeFileSync(join(home, 'access.json'), '{ "keys": 5 }')
    expect((await run('list')).err).toContain('access.json:1:11: keys: found 5')
  })

  test('shows, rotates and ends a key by its id', async () => {
    await run('make', '--name', 'indexer')
    expect((await run('show', '1')).out).toContain('name:       indexer\n')
    const rotated = await run('rotate', '1', '--overlap', '0')
    expect(rotated.err).toBe('key 2 (indexer); it is shown this once:\n')
    expect(await json('show', '1')).toMatchObject({ state: 'expired' })
    expect((await run('end', '2')).out).toBe('key 2 (indexer) has ended\n')
    expect((await run('end', '2')).code).toBe(0)
  })

  test.each([
    [[], 'found nothing, allowed: svc keys make, list, show, rotate, end'],
    [['constructor'], 'found constructor, allowed: svc keys make'],
    [['make'], '--name is missing'],
    [['make', '--name', ' '], '--name: allowed: one line of text'],
    [['make', '--name', 'a', '--scopes', 'keys:write'], 'metrics:read, at a program key'],
    [['make', '--name', 'a', '--networks', 'home'], '--networks: found "home"'],
    [['make', '--name', 'a', '--overlap', '2'], 'svc keys make has no --overlap'],
    [['make', '--name', '7', '--hash-only'], '--name: found 7, allowed with --hash-only: a name of letters'],
    [['make', '--name', 'a', '--hash-only', '--kind', 'management'], '--kind: a management key cannot stand'],
    [['list', '--hash-only'], 'svc keys list has no --hash-only'],
    [['end', '1', '--name', 'a'], 'svc keys end has no --name'],
    [['end'], 'found nothing, allowed: svc keys end ID'],
    [['show', 'indexer'], 'found indexer, allowed: svc keys show ID'],
    [['rotate', '0'], 'found 0, allowed: svc keys rotate ID'],
  ])('refuses %j', async (argv, message) => {
    const failure = await run(...argv).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain(message)
  })

  test.each(['show', 'rotate', 'end'])('fails for an unknown key: %s', async (action) => {
    await expect(run(action, '7')).rejects.toThrow('there is no key 7')
  })

  test('fails for a damaged database, with its path and the way out', async () => {
    writeFileSync(join(home, 'svc.db'), 'text'.repeat(999))
    await expect(run('list')).rejects.toThrow(`${join(home, 'svc.db')} is damaged: put back a copy`)
  })

  test('is wrong usage, exit code 2, for the database of a newer version', async () => {
    const { Database } = await import('bun:sqlite')
    await run('list')
    const database = new Database(join(home, 'svc.db'))
    database.run('PRAGMA user_version = 99')
    database.close()
    await expect(run('list')).rejects.toThrow(UsageError)
  })
})
