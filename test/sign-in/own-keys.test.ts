import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { answerOf, pick, type Answer } from '../client.ts'
import { goodText } from '../fakes/good.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { runSvc } from '../harness.ts'
import { until } from '../ledger-rig.ts'
import { startSignIn, type SignInConfig, type SignInRig } from './rig.ts'

/** Keys that people make for themselves, with two workers (docs/keys.md). */

let rig: SignInRig<Github>
let ada: string
let grace: string
let owner: string
beforeAll(async () => {
  rig = await startSignIn(startGithub, {
    isOnByFlag: false,
    flags: ['--auth', 'provider_auth,keys', '--workers', '2'],
    owners: ['Owner'],
    files: { 'access.json': JSON.stringify({ own_keys: { most: 3, days_most: 30 } }) },
  })
  ada = (await rig.signIn('ada')).token
  grace = (await rig.signIn('grace')).token
  owner = (await rig.signIn('Owner')).token
})
afterAll(() => rig[Symbol.asyncDispose]())

interface Call {
  readonly method?: string
  /** The session token. */
  readonly as?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

async function api(path: string, { method = 'GET', as, body, headers }: Call = {}): Promise<Answer> {
  const response = await fetch(`${rig.service.url}${path}`, {
    method,
    headers: { ...(as === undefined ? {} : { 'x-session-token': as }), 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return answerOf(response, await response.text())
}

interface Made {
  readonly id: number
  readonly key: string
}

async function make(as: string, request: object = {}): Promise<Made> {
  const { status, json, text } = await api('/api/keys', { method: 'POST', as, body: { name: 'laptop', ...request } })
  const [id, key] = [pick(json, 'id'), pick(json, 'key')]
  if (status !== 200 || typeof id !== 'number' || typeof key !== 'string') throw new Error(`${status} ${text}`)
  rig.remember(key)
  return { id, key }
}

const end = (as: string, id: number) => api(`/api/keys/${id}`, { method: 'DELETE', as })
const ask = (key: string) => rig.ask({ authorization: `Bearer ${key}` })
const refusal = ({ status, json }: Answer) => [status, pick(json, 'error', 'code'), pick(json, 'error', 'param')]

/** Makes a key, and ends it afterwards. */
async function withKey(as: string, work: (made: Made) => Promise<void>, request: object = {}): Promise<void> {
  const made = await make(as, request)
  try {
    await work(made)
  } finally {
    await end(as, made.id)
  }
}

async function access(policy: object): Promise<void> {
  const count = () => rig.service.logs.filter(({ message }) => message === 'limits reloaded').length
  const before = count()
  await rig.service.write('access.json', JSON.stringify(policy))
  await until(() => count() > before)
  // The other worker follows the same message.
  await Bun.sleep(200)
}

describe('a key of a person', () => {
  test('is shown once, works, and is refused from the answer to its end on, in every worker', async () => {
    const { id, key } = await make(ada, { models: ['m'], days: 7 })
    for (let round = 0; round < 4; round += 1) expect((await ask(key)).status).toBe(200)
    const list = await api('/api/keys', { as: ada })
    expect(list.json).toMatchObject({ most: 3, days_most: 30, data: [{ id, person: 'ada', state: 'active' }] })
    expect(list.text).not.toContain(key)
    expect(list.headers.get('cache-control')).toBe('no-store')
    expect((await end(ada, id)).json).toMatchObject({ id, state: 'ended', ended_by: 'ada' })
    for (let round = 0; round < 6; round += 1)
      expect(refusal(await ask(key)).slice(0, 2)).toEqual([401, 'invalid_api_key'])
  })

  test('says whether content is kept, which its person may see, and an owner with an entry', async () => {
    await withKey(ada, async ({ id, key }) => {
      await access({ own_keys: { most: 3, days_most: 30 }, content: [{ for: `key:${id}`, keep: '2d' }] })
      const newest: unknown = pick((await api('/api/keys', { as: ada })).json, 'data', 0)
      expect(newest).toMatchObject({ id, content: { kept_seconds: 172_800 } })
      await rig.ask({ authorization: `Bearer ${key}`, 'x-request-id': 'kept' })
      await until(async () => (await api('/api/requests/kept/content', { as: ada })).status === 200)
      expect((await api('/api/requests/kept/content', { as: ada })).json).toMatchObject({ answer: goodText() })
      expect(refusal(await api('/api/requests/kept/content', { as: grace })).slice(0, 2)).toEqual([
        404,
        'content_not_kept',
      ])
      const looks = async () => {
        const { json } = await api('/api/audit', { as: owner })
        const entries = pick(json, 'entries')
        return Array.isArray(entries) ? entries.filter((entry) => pick(entry, 'action') === 'content.read') : []
      }
      expect(await looks()).toEqual([])
      expect((await api('/api/requests/kept/content', { as: owner })).json).toMatchObject({ answer: goodText() })
      expect(await looks()).toMatchObject([{ object: 'kept', actor: 'Owner' }])
      await access({ own_keys: { most: 3, days_most: 30 } })
    })
  })

  test('kept content of a person is gone after forget, beside the running service', async () => {
    const linus = (await rig.signIn('linus')).token
    await access({ own_keys: { most: 3, days_most: 30 }, content: [{ for: 'person:linus', keep: '2d' }] })
    const marked = { messages: [{ role: 'user', content: 'marked-question' }] }
    await rig.ask({ 'x-session-token': linus, 'x-request-id': 'linus-1' }, marked)
    await until(async () => (await api('/api/requests/linus-1/content', { as: linus })).status === 200)
    const telling = () =>
      readdirSync(rig.service.home).filter(
        (file) => /\.db/.test(file) && readFileSync(join(rig.service.home, file), 'latin1').includes('marked-question'),
      )
    expect(telling().join(' ')).toContain('requests.db')
    expect(await runSvc(rig.service.home, 'person', 'forget', 'linus', '--yes')).toMatchObject({ code: 0 })
    expect(telling()).toEqual([])
    expect((await api('/api/requests/linus-1/content', { as: owner })).status).toBe(404)
    await access({ own_keys: { most: 3, days_most: 30 } })
  })

  test('is neither seen nor ended by another person, and both by an owner, with its name', async () => {
    await withKey(ada, async ({ id, key }) => {
      expect(pick((await api('/api/keys', { as: grace })).json, 'data')).toEqual([])
      expect(refusal(await end(grace, id)).slice(0, 2)).toEqual([404, 'key_not_found'])
      expect(refusal(await api('/v1/keys', { as: grace })).slice(0, 2)).toEqual([403, 'owners_only'])
      expect((await ask(key)).status).toBe(200)
      expect((await api(`/v1/keys/${id}`, { as: owner })).json).toMatchObject({ id, person: 'ada', name: 'laptop' })
      const rotated = await api(`/v1/keys/${id}/rotate`, { method: 'POST', as: owner })
      expect(refusal(rotated).slice(0, 2)).toEqual([409, 'key_not_rotatable'])
      expect((await api(`/v1/keys/${id}`, { method: 'DELETE', as: owner })).json).toMatchObject({ ended_by: 'Owner' })
      expect((await ask(key)).status).toBe(401)
    })
  })

  test('reaches neither keys, nor the page, nor what owners see', async () => {
    await withKey(
      owner,
      async ({ key }) => {
        const headers = { authorization: `Bearer ${key}` }
        for (const path of ['/api/keys', '/v1/keys', '/api/providers', '/metrics', '/api/requests'])
          expect([path, ...refusal(await api(path, { headers }))]).toEqual([path, 403, 'scope_missing', null])
        const made = await api('/api/keys', { method: 'POST', headers, body: { name: 'another' } })
        expect(refusal(made).slice(0, 2)).toEqual([403, 'scope_missing'])
      },
      { scopes: ['chat', 'models:read', 'usage:read'] },
    )
  })

  test('is refused above the ceilings, and with members that are not for people', async () => {
    const refused = async (body: unknown) => refusal(await api('/api/keys', { method: 'POST', as: ada, body }))
    expect(await refused({ name: 'a', days: 31 })).toEqual([400, 'invalid_value', 'days'])
    expect(await refused({ name: 'a', days: 0 })).toEqual([400, 'invalid_value', 'days'])
    expect(await refused({ name: 'a', scopes: ['log:read'] })).toEqual([400, 'invalid_value', 'scopes'])
    expect(await refused({ name: 'a', scopes: ['keys:write'] })).toEqual([400, 'invalid_value', 'scopes'])
    for (const member of ['kind', 'providers', 'networks', 'person', '__proto__x'])
      expect(await refused({ name: 'a', [member]: ['x'] })).toEqual([400, 'invalid_value', member])
    for (const name of ['', '\u0000', 'a\nb', 'a\u202eb', 'x'.repeat(65), 7, null])
      expect(await refused({ name })).toEqual([400, 'invalid_value', 'name'])
    expect((await refused('{"name":'))[0]).toBe(400)
    expect((await refused(`{"name":"${'x'.repeat(70_000)}"}`))[0]).toBe(413)
    const made = [await make(ada), await make(ada), await make(ada)]
    expect(await refused({ name: 'a fourth' })).toEqual([409, 'too_many_keys', null])
    await Promise.all(made.map(({ id }) => end(ada, id)))
  })

  test('keeps a hostile name as it is', async () => {
    const name = '<img src=x onerror=alert(1)>"\',;--'
    await withKey(
      ada,
      async () => {
        expect(pick((await api('/api/keys', { as: ada })).json, 'data', 0, 'name')).toBe(name)
      },
      { name },
    )
  })

  test('is made and ended by the pages of this service only', async () => {
    const post = (headers: Readonly<Record<string, string>>) =>
      api('/api/keys', { method: 'POST', body: { name: 'a' }, headers })
    const cookie = `token=${ada}`
    expect((await post({})).status).toBe(401)
    expect(refusal(await post({ cookie, origin: 'https://evil.test' })).slice(0, 2)).toEqual([
      403,
      'cross_site_request',
    ])
    expect((await post({ cookie, 'sec-fetch-site': 'same-site' })).status).toBe(403)
    const text = await post({ cookie, origin: rig.service.url, 'content-type': 'text/plain' })
    expect(refusal(text).slice(0, 2)).toEqual([415, 'unsupported_media_type'])
    await withKey(ada, async ({ id, key }) => {
      const foreign = { cookie, origin: 'https://evil.test' }
      expect((await api(`/api/keys/${id}`, { method: 'DELETE', headers: foreign })).status).toBe(403)
      expect((await ask(key)).status).toBe(200)
    })
  })
})

describe('limits and use', () => {
  test('a key counts as its person too, together with the session', async () => {
    await access({
      limits: [
        { for: 'each person', requests: 3, per: 'day' },
        { for: 'each key', at_once: 5 },
      ],
    })
    await withKey(grace, async ({ id, key }) => {
      expect((await rig.ask({ 'x-session-token': grace })).status).toBe(200)
      expect([(await ask(key)).status, (await ask(key)).status]).toEqual([200, 200])
      const shown = await api('/v1/key', { headers: { authorization: `Bearer ${key}` } })
      expect(shown.json).toMatchObject({
        id,
        limits: [
          { for: 'each person', remaining: 0 },
          { for: 'each key', remaining: 5 },
        ],
      })
      expect((await ask(key)).status).toBe(429)
      expect((await rig.ask({ 'x-session-token': grace })).status).toBe(429)
    })
    await access({ limits: [{ for: 'person:Ada', requests: 0 }] })
    await withKey(ada, async ({ key }) => expect((await ask(key)).status).toBe(429))
    await withKey(grace, async ({ key }) => expect((await ask(key)).status).toBe(200))
    await access({})
  })

  test('its use is kept by the key and by its person', async () => {
    await withKey(
      owner,
      async ({ key }) => {
        const requests = async () => {
          const { json } = await api('/api/usage?by=person', { as: owner })
          const rows = pick(json, 'rows')
          return Array.isArray(rows) ? rows.filter((row) => pick(row, 'name') === 'Owner') : []
        }
        expect((await ask(key)).status).toBe(200)
        await until(async () => pick((await requests())[0], 'requests') === 1)
        const byKey = await api('/api/usage?by=key', { as: owner })
        expect(byKey.text).toContain('"laptop, of Owner"')
      },
      { name: 'laptop, of Owner' },
    )
  })
})

describe('leaving', () => {
  async function configured(restrictTo: string | undefined, more: SignInConfig = {}): Promise<void> {
    const count = () => rig.service.logs.filter(({ message }) => message === 'extension reloaded').length
    const before = count()
    await rig.configure({ ...(restrictTo === undefined ? {} : { restrict_to: restrictTo }), ...more })
    await until(() => count() > before)
    await Bun.sleep(200)
  }

  test('a person who is removed from restrict_to loses the keys, and has them again when added again', async () => {
    const { id, key } = await make(ada)
    await configured('grace, owner')
    for (let round = 0; round < 4; round += 1) {
      const answer = await ask(key)
      expect(refusal(answer).slice(0, 2)).toEqual([401, 'invalid_api_key'])
      expect(pick(answer.json, 'error', 'message')).toContain('may not sign in')
    }
    await configured(undefined)
    expect((await ask(key)).status).toBe(200)
    ada = (await rig.signIn('ada')).token
    await end(ada, id)
  })

  test('a person of another identity provider with the same user id sees nothing of the one before', async () => {
    const seen = async (session: string): Promise<readonly [boolean, number]> => {
      const { json } = await api('/api/log', { as: session })
      const live = await api('/api/requests/of-first', { as: session })
      return [JSON.stringify(pick(json, 'requests')).includes('of-first'), live.status]
    }
    await rig.ask({ 'x-session-token': grace, 'x-request-id': 'of-first' })
    await until(async () => (await seen(grace))[0])
    const { url } = rig.provider
    await configured(undefined, { base_url: url.replace('127.0.0.1', 'localhost') })
    const other = (await rig.signIn('grace')).token
    await rig.ask({ 'x-session-token': other, 'x-request-id': 'of-other' })
    await until(async () => JSON.stringify((await api('/api/log', { as: other })).json).includes('of-other'))
    expect(await seen(other)).toEqual([false, 404])
    await configured(undefined)
    grace = (await rig.signIn('grace')).token
    expect(await seen(grace)).toEqual([true, 200])
    ada = (await rig.signIn('ada')).token
    owner = (await rig.signIn('Owner')).token
  }, 20_000)

  test('keys rest after 30 days without their person, who wakes them by signing in', async () => {
    await withKey(grace, async ({ id, key }) => {
      const ledger = await openLedger({ path: join(rig.service.home, 'svc.db') })
      const person = (await ledger.keys.find(id))?.person
      if (person === undefined) throw new Error('the key has no person')
      await ledger.keys.notePerson({ ...person, seen: Date.now() - 31 * 86_400_000 })
      await ledger.close()
      const resting = await ask(key)
      expect(refusal(resting).slice(0, 2)).toEqual([401, 'invalid_api_key'])
      expect(pick(resting.json, 'error', 'message')).toContain('signing in wakes it')
      const { token } = await rig.signIn('grace')
      await api('/api/boot', { as: token })
      for (let round = 0; round < 4; round += 1) expect((await ask(key)).status).toBe(200)
    })
  })

  test('with "most": 0 nobody makes keys, and those that there are rest', async () => {
    const { key, id } = await make(grace)
    await access({ own_keys: { most: 0 } })
    const made = await api('/api/keys', { method: 'POST', as: grace, body: { name: 'a' } })
    expect(refusal(made).slice(0, 2)).toEqual([403, 'own_keys_off'])
    expect((await ask(key)).status).toBe(401)
    await access({})
    expect((await ask(key)).status).toBe(200)
    await end(grace, id)
  })
})
