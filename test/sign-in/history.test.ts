import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerOf, parseJson, pick, type Answer } from '../client.ts'
import { databases } from '../fakes/databases.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { runSvcWith, type ServiceConfig } from '../harness.ts'
import { startSignIn, type SignInRig } from './rig.ts'

/** Conversations on the server, with two workers (docs/conversations.md). */

const key = randomBytes(32).toString('base64')
const secretText = 'Zitronenfalter am Fenster'

interface Call {
  readonly method?: string
  /** The session token. */
  readonly as?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

describe.each(databases)('conversations on a server with %s', (kind, make) => {
  let rig: SignInRig<Github>
  let ada: string
  let grace: string
  let environment: Readonly<Record<string, string>>
  let remove: () => Promise<void>
  /** Changes the database. */
  let age: (statement: string) => Promise<void>
  beforeAll(async () => {
    const database = await make()
    remove = () => database.remove()
    const { place } = database
    age = async (statement) => {
      if (place.kind === 'server') return await database.tamper(statement)
      using file = new Database(join(rig.service.home, 'history.db'))
      file.run(statement)
    }
    environment = { SVC_HISTORY_KEY: key, ...(place.kind === 'server' ? { SVC_DATABASE: place.url } : {}) }
    rig = await startSignIn(startGithub, { history: 'server', flags: ['--workers', '2'], environment })
    rig.remember(key)
    ada = (await rig.signIn('ada')).token
    grace = (await rig.signIn('grace')).token
  }, 40_000)
  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    await remove()
  })

  async function api(path: string, { method = 'GET', as = ada, body, headers }: Call = {}): Promise<Answer> {
    const response = await fetch(`${rig.service.url}${path}`, {
      method,
      headers: { ...(as === '' ? {} : { 'x-session-token': as }), 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return answerOf(response, await response.text())
  }

  const conversation = (id: string, title = secretText) => ({ id, title, messages: [] })
  const write = (id: string, base = 0, as = ada, title = secretText) =>
    api(`/api/history/conversations/${id}?base=${base}`, { method: 'POST', as, body: conversation(id, title) })
  const read = (ids: readonly string[], as = ada) => api('/api/history/read', { method: 'POST', as, body: { ids } })
  const versionOf = ({ json }: Answer): number => Number(pick(json, 'version'))

  test('are found by their person, by any worker, and by nobody else', async () => {
    const first = await write('mine')
    expect(first.status).toBe(200)
    // Each request may reach another worker.
    for (let round = 0; round < 4; round++)
      expect((await read(['mine'])).json).toEqual({
        conversations: [{ id: 'mine', version: versionOf(first), conversation: conversation('mine') }],
      })
    expect((await read(['mine'], grace)).json).toEqual({ conversations: [] })
    expect(pick((await api('/api/history', { as: grace })).json, 'entries')).toEqual([])
    await api(`/api/history/conversations/mine?base=${versionOf(first)}`, { method: 'DELETE', as: grace })
    expect((await write('mine', 0, grace, 'hers')).status).toBe(200)
    expect((await write('mine', 0)).status).toBe(409)
    const second = await write('mine', versionOf(first))
    expect(second.status).toBe(200)
    expect(pick((await read(['mine'])).json, 'conversations', 0, 'conversation', 'title')).toBe(secretText)
    expect(pick((await api('/api/boot')).json, 'hasHistory')).toBe(true)
  })

  test('are for sessions of this page only', async () => {
    expect((await api('/api/history', { as: '' })).status).toBe(401)
    const origin = { origin: 'https://evil.example' }
    const foreign = await api('/api/history/conversations/x?base=0', {
      ...{ method: 'POST', body: conversation('x'), headers: origin },
    })
    expect([foreign.status, pick((await read(['x'])).json, 'conversations')]).toEqual([403, []])
    const asText = { 'content-type': 'text/plain' }
    expect((await api('/api/history/read', { method: 'POST', body: { ids: [] }, headers: asText })).status).toBe(415)
  })

  test('are encrypted at rest', async () => {
    await write('secret')
    const files = readdirSync(rig.service.home, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    expect(files.some(({ name }) => name === 'history.db')).toBe(kind === 'SQLite')
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name)).includes(secretText)).toBe(false)
  })

  test('are deleted after days without a change, if the owner says so, but not pinned ones', async () => {
    const first = await write('old')
    const pinned = { ...conversation('pinned'), isPinned: true }
    await api('/api/history/conversations/pinned?base=0', { method: 'POST', body: pinned })
    await age(`UPDATE history_conversation SET written = written - 90000000 WHERE id IN ('old', 'pinned')`)
    const config = JSON.parse(readFileSync(rig.service.file, 'utf8')) as ServiceConfig
    await rig.service.configure({ ...config, history: { days: 1 } })
    await rig.logged('old conversations were deleted', '"conversations":1')
    const { json } = await api(`/api/history?after=${versionOf(first)}`)
    expect(pick(json, 'days')).toBe(1)
    expect(pick(json, 'entries')).toContainEqual({ id: 'old', version: expect.any(Number), isRemoved: true })
    expect((await read(['old', 'pinned'])).json).toMatchObject({ conversations: [{ id: 'pinned' }] })
    await rig.service.configure(config)
  })

  test('are exported and forgotten with their person', async () => {
    await write('told', 0, grace)
    const file = join(rig.service.home, 'grace.json')
    const svc = (more: Readonly<Record<string, string>>, ...argv: readonly string[]) =>
      runSvcWith({ ...environment, ...more }, rig.service.home, 'person', ...argv)
    const without = await svc({ SVC_HISTORY_KEY: '' }, 'export', 'grace', join(rig.service.home, 'without.json'))
    expect(without).toMatchObject({ code: 0, out: expect.stringContaining('without conversations') })
    const wrong = await svc({ SVC_HISTORY_KEY: randomBytes(32).toString('hex') }, 'export', 'grace', file)
    expect(wrong.code).not.toBe(0)
    expect(await svc({}, 'export', 'grace', file)).toMatchObject({ code: 0 })
    const told = parseJson(readFileSync(file, 'utf8'))
    const exported = pick(told, 'conversations')
    expect(Array.isArray(exported) && exported.map((each) => pick(each, 'id')).includes('told')).toBe(true)
    expect((await svc({}, 'forget', 'grace', '--dry-run')).out).toMatch(/; [12] conversations\n/)
    expect(await svc({}, 'forget', 'grace', '--yes')).toMatchObject({ code: 0 })
    expect((await read(['told'], grace)).json).toEqual({ conversations: [] })
    expect(pick((await api('/api/history', { as: grace })).json, 'person')).toBe(0)
    expect((await read(['secret'])).json).toMatchObject({ conversations: [{ id: 'secret' }] })
    expect((await write('new', 0, grace)).status).toBe(200)
  })
})

describe('a service that is to store conversations', () => {
  const start = (environment: Readonly<Record<string, string>>) =>
    startSignIn(startGithub, { history: 'server', environment }).then(
      async (rig) => {
        await rig[Symbol.asyncDispose]()
        return 'started'
      },
      (error: unknown) => String(error),
    )

  test.each([
    [{}, 'SVC_HISTORY_KEY is not set'],
    [{ SVC_HISTORY_KEY: 'too short' }, 'allowed: 32 random bytes'],
    [{ SVC_HISTORY_KEY: '/nowhere/key' }, 'cannot be read (ENOENT)'],
  ])('does not start with %j', async (environment, expected) => {
    const output = await start(environment)
    expect(output).toContain(expected)
    expect(output).not.toContain('too short')
  })
})
