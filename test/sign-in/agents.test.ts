import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../src/ledger/testing.ts'
import { answerOf, pick } from '../client.ts'
import { claudeCode, type ClaudeCode } from '../fakes/claude-code.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import type { ServiceUnderTest } from '../harness.ts'
import { until } from '../ledger-rig.ts'
import { letAgentIn } from './let-agent-in.ts'
import { configPath, configText, startProtected, startSignIn, type SignInRig } from './rig.ts'

/** Sign-in of agents at a service with a database and two workers (docs/agents.md). */

const { folder, remove } = temporaryFolder()
const options = {
  isOnByFlag: false,
  flags: ['--auth', 'keys,provider_auth', '--workers', '2'],
  environment: { SVC_HOME: folder },
  owners: ['ada'],
} as const
let rig: SignInRig<Github>
let service: ServiceUnderTest
beforeAll(async () => {
  const start = async (registration: SignInRig['registration']) => {
    const fake = startGithub(registration)
    await configure({ agents: true }, fake, registration)
    return fake
  }
  rig = await startSignIn(start, options)
  service = rig.service
})
afterAll(async () => {
  if (service !== rig.service) await service[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
  remove()
})

async function configure(more: object, fake = rig.provider, registration = rig.registration): Promise<void> {
  const path = join(folder, configPath)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, configText(fake, registration, { requests_per_minute: 0, ...more }), { mode: 0o600 })
}

/** A person lets the agent in. */
async function letIn(client: ClaudeCode, person = 'ada'): Promise<void> {
  const { userCode, page } = await client.login()
  expect(page).toBe(`${service.url}/device?user_code=${userCode}`)
  expect(await client.poll()).toBe('pending')
  await letAgentIn(rig, service.url, userCode, person)
  expect(await client.poll()).toBe('signed in')
}

const client = () => claudeCode(service.url, rig.remember)

describe('Claude Code', () => {
  test('signs in, starts, lists models and asks a model that only speaks chat', async () => {
    const agent = client()
    await letIn(agent)
    await agent.start()
    expect(await agent.discover()).toEqual(['m m'])
    for (let round = 0; round < 4; round++) expect((await agent.ask('m')).status).toBe(200)
    expect(await agent.ask('unknown')).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } })
    const metrics = await fetch(`${service.url}/v1/metrics`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.tokens.access}` },
      body: '{}',
    })
    expect([metrics.status, await metrics.text()]).toEqual([200, ''])
  })

  test('may use models, and nothing that a person may', async () => {
    const agent = client()
    await letIn(agent)
    const headers = { authorization: `Bearer ${agent.tokens.access}` }
    for (const path of ['/api/providers', '/api/keys', '/api/people', '/api/requests', '/api/usage', '/metrics'])
      expect([path, (await fetch(service.url + path, { headers })).status]).toEqual([path, 403])
    for (const path of ['/auth/session', '/auth'])
      expect([path, (await fetch(service.url + path, { headers })).status]).toEqual([path, 401])
    const cookie = { cookie: `token=${agent.tokens.access}` }
    expect((await fetch(`${service.url}/v1/models`, { headers: cookie })).status).toBe(401)
    expect((await fetch(`${service.url}/v1/models?access_token=${agent.tokens.access}`)).status).toBe(401)
  })

  test('goes on after a restart with both of its tokens', async () => {
    const agent = client()
    await letIn(agent)
    await service.stop()
    service = await startProtected(rig.upstream.url, {}, { ...options, port: rig.service.port })
    expect((await agent.ask('m')).status).toBe(200)
    expect(await agent.renew()).toBe('renewed')
    expect((await agent.ask('m')).status).toBe(200)
  })

  test('keeps its sign-in while the database is away: the connection is closed', async () => {
    const agent = client()
    await letIn(agent)
    const database = new Database(join(folder, 'svc.db'))
    // The service may be writing.
    database.run('PRAGMA busy_timeout = 5000')
    database.run('ALTER TABLE lasting RENAME TO away')
    expect(await agent.renew()).toBe('kept')
    await agent.start()
    database.run('ALTER TABLE away RENAME TO lasting')
    database.close()
    expect(await agent.renew()).toBe('renewed')
  })

  test('is refused at once when it signs out, and when its person may not enter any more', async () => {
    const [agent, other] = [client(), client()]
    await letIn(agent)
    await letIn(other)
    await agent.logout()
    expect([(await agent.ask('m')).status, await agent.renew()]).toEqual([401, 'erased'])
    expect((await other.ask('m')).status).toBe(200)
    await configure({ agents: true, restrict_to: 'grace' })
    await until(async () => (await other.ask('m')).status === 401)
    expect(await other.renew()).toBe('erased')
    await configure({ agents: false })
    const path = `${service.url}/.well-known/oauth-authorization-server`
    await until(async () => (await fetch(path)).status === 401)
    await configure({ agents: true })
    await until(async () => (await fetch(path)).status === 200)
  })

  test('is ended by an owner', async () => {
    const agent = client()
    await letIn(agent, 'grace')
    const { token } = await rig.signIn('ada')
    const headers = { 'x-session-token': token, 'content-type': 'application/json' }
    const body = JSON.stringify({ user: 'grace' })
    const ended = await fetch(`${service.url}/api/people/end`, { method: 'POST', headers, body })
    expect(pick(answerOf(ended, await ended.text()).json, 'ended')).toBe(2)
    expect((await agent.ask('m')).status).toBe(401)
  })
})
