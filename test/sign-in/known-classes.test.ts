import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { pick, question } from '../client.ts'
import { good, goodText } from '../fakes/good.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { runSvc } from '../harness.ts'
import { until } from '../ledger-rig.ts'
import { documentedRoutes } from '../routes.ts'
import { startSignIn, type SignInRig } from './rig.ts'

/** Classes of faults between people, by the CVE that made them known; the others are in test/known-classes.test.ts. */

const people = ['ada', 'eve', 'lead', 'Owner'] as const
const scopes = ['chat', 'models:read', 'usage:read', 'log:read', 'metrics:read'] as const
const roles = ['none', ...people, ...scopes, 'keys:write'] as const
type Role = (typeof roles)[number]

let rig: SignInRig<Github>
const credentials = new Map<Role, Readonly<Record<string, string>>>([['none', {}]])
const historyKey = randomBytes(32).toString('base64')

async function call(
  role: Role,
  method: string,
  path: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`${rig.service.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', connection: 'close', ...credentials.get(role), ...more },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json: unknown = /^[{[]/.test(text) ? JSON.parse(text) : undefined
  return { status: response.status, text, json }
}

beforeAll(async () => {
  rig = await startSignIn(startGithub, {
    isOnByFlag: false,
    flags: ['--auth', 'provider_auth,keys', '--workers', '2'],
    owners: ['Owner'],
    config: { agents: true },
    history: 'server',
    environment: { SVC_HISTORY_KEY: historyKey },
    // A lead sees the use of the team's keys, not the data of its members.
    files: { 'access.json': JSON.stringify({ teams: { search: { leads: ['lead'], members: ['ada'] } } }) },
  })
  rig.remember(historyKey)
  for (const person of people) credentials.set(person, { 'x-session-token': (await rig.signIn(person)).token })
  for (const scope of [...scopes, 'keys:write'] as const) {
    const grants = scope === 'keys:write' ? ['--kind', 'management'] : ['--scopes', scope]
    const key = (await runSvc(rig.service.home, 'keys', 'make', '--name', scope, ...grants)).out.trim()
    rig.remember(key)
    credentials.set(scope, { authorization: `Bearer ${key}` })
  }
}, 60_000)
afterAll(() => rig[Symbol.asyncDispose]())

describe('CVE-2026-44571: what may be read may be written', () => {
  const everyone = new RegExp(
    ['', 'health', 'ready', 'preview', 'openapi', 'openapi.json', 'api/boot', 'device', 'managed/settings']
      .concat('(?:assets|oauth|\\.well-known)/.*', 'auth(?:/.*)?')
      .map((path) => `^/${path}$`)
      .join('|'),
  )
  const ofOwners = new RegExp(
    ['POST /api/(?:program-keys|providers|presets)', 'GET /api/providers/']
      .concat('(?:GET|POST) /api/(?:limits|audit|people|sign-in)')
      .map((route) => `^${route}`)
      .join('|'),
  )
  const ofLogs = /^GET \/api\/(?:log|requests|running)/

  /** The roles that a route is for. A new route that is not named here is for people with a session alone. */
  function rolesOf(method: string, path: string): readonly Role[] {
    const route = `${method} ${path}`
    if (everyone.test(path)) return roles
    if (path === '/v1/key') return roles.filter((role) => role !== 'none')
    if (path.startsWith('/v1/keys')) return ['Owner', 'keys:write']
    if (path === '/metrics') return ['Owner', 'metrics:read']
    if (/^GET \/v1(?:beta)?\/models/.test(route)) return [...people, 'models:read']
    if (path.startsWith('/v1')) return [...people, 'chat']
    if (ofOwners.test(route)) return ['Owner']
    if (ofLogs.test(route)) return [...people, 'log:read']
    return route === 'GET /api/usage' ? [...people, 'usage:read'] : people
  }

  // Their answer without a session is 401, too; a logout would end those of the test. A form is refused by its origin.
  const others = ['GET /auth', 'GET /auth/session', 'POST /auth/logout', 'POST /device']
  const routes = documentedRoutes().filter(({ method, path }) => !others.includes(`${method} ${path}`))

  test.each(routes)('$method $path › is for its roles alone', async ({ method, path }) => {
    const filled = path.replaceAll(/\{\w+\}/g, 'no-such-thing')
    const admitted: Role[] = []
    for (const role of roles) {
      const { status } = await call(role, method, filled, method === 'GET' ? undefined : {})
      if (status !== (role === 'none' ? 401 : 403)) admitted.push(role)
    }
    expect(admitted.toSorted()).toEqual(rolesOf(method, path).toSorted())
  })

  test('a key cannot be made by one that only uses models, nor with more than its own scopes by a person', async () => {
    expect((await call('chat', 'POST', '/v1/keys', { name: 'more' })).status).toBe(403)
    for (const scope of ['keys:write', 'metrics:read'])
      expect((await call('eve', 'POST', '/api/keys', { name: 'more', scopes: [scope] })).status).toBe(400)
  })
})

describe("CVE-2026-30886, CVE-2026-31950: another's things by their id", () => {
  const asked = question({ stream: true })
  const ids = { request: 'of-ada-request', answer: `of-ada-answer-${'0'.repeat(20)}`, conversation: 'of-ada' }
  const conversation = { id: ids.conversation, title: 'secret title', messages: [] }
  const strangers: readonly Role[] = ['none', 'eve', 'lead', 'chat', 'log:read', 'usage:read', 'keys:write']
  let key = { id: 0, value: '' }

  beforeAll(async () => {
    const headers = { 'x-request-id': ids.request, 'x-svc-answer': ids.answer }
    expect((await call('ada', 'POST', '/api/chat', asked, headers)).status).toBe(200)
    const path = `/api/history/conversations/${ids.conversation}?base=0`
    expect((await call('ada', 'POST', path, conversation)).status).toBe(200)
    const { json } = await call('ada', 'POST', '/api/keys', { name: 'laptop' })
    key = { id: Number(pick(json, 'id')), value: String(pick(json, 'key')) }
    rig.remember(key.value)
    await until(async () => (await call('ada', 'GET', `/api/requests/${ids.request}`)).status === 200)
  })

  /** The id of the thing of ada that a path is about. */
  const idOf = (path: string): string => {
    if (/\/keys\//.test(path)) return String(key.id)
    if (path.includes('/answers/')) return ids.answer
    return path.includes('/requests/') ? ids.request : ids.conversation
  }
  const routes = documentedRoutes().filter(
    ({ path }) => path.includes('{id}') && !/^\/v1(?:beta)?\/models|\/history\//.test(path),
  )

  test.each(routes)('$method $path › is found by no other person, lead or key', async ({ method, path }) => {
    expect(routes.length).toBeGreaterThan(7)
    for (const role of strangers) {
      // Keys that manage keys may see and end all of them.
      if (role === 'keys:write' && path.startsWith('/v1/keys')) continue
      const { status, text } = await call(role, method, path.replace('{id}', idOf(path)))
      // To stop an answer that is none of one's own has no effect.
      const refusals = path.includes('/answers/') && method === 'DELETE' ? [204, 401, 403] : [401, 403, 404]
      expect(status, role).toBeOneOf(refusals)
      expect(text).not.toMatch(/good-0|secret title|laptop/)
    }
    // Nothing was ended.
    expect((await rig.ask({ authorization: `Bearer ${key.value}` })).status).toBe(200)
    expect((await call('ada', 'GET', `/api/answers/${ids.answer}`)).text).toContain('good-0')
  })

  test.each(['/api/requests', '/api/log', '/api/running', '/api/usage?by=user', '/api/keys', '/api/history'])(
    'GET %s › lists no data of another person',
    async (path) => {
      for (const role of strangers)
        expect((await call(role, 'GET', path)).text).not.toMatch(/of-ada|secret title|"ada"/)
    },
  )

  test('a conversation with the same id is another one for another person', async () => {
    const path = `/api/history/conversations/${ids.conversation}`
    expect((await call('eve', 'POST', '/api/history/read', { ids: [ids.conversation] })).text).not.toContain('secret')
    const mine = { ...conversation, title: 'mine' }
    expect((await call('eve', 'POST', `${path}?base=0`, mine)).status).toBe(200)
    expect((await call('eve', 'DELETE', `${path}?base=1`)).status).toBeLessThan(500)
    const read = await call('ada', 'POST', '/api/history/read', { ids: [ids.conversation] })
    expect(read.text).toContain('secret title')
    expect(read.text).not.toContain('mine')
  })

  test('an answer that is under way is stopped by its own person alone', async () => {
    rig.upstream.use(good({ tokens: 20, pauseMs: 50 }))
    const answer = `under-way-${'0'.repeat(20)}`
    const asking = call('ada', 'POST', '/api/chat', asked, { 'x-svc-answer': answer })
    const path = `/api/answers/${answer}`
    await rig.upstream.nextHit()
    for (const role of strangers) await call(role, 'DELETE', path)
    expect((await asking).text).toContain('good-19')
    const again = call('ada', 'POST', '/api/chat', asked, { 'x-svc-answer': answer.replace('0', '1') })
    await rig.upstream.nextHit()
    await until(async () => (await call('ada', 'DELETE', path.replace('0', '1'))).status === 204)
    expect((await again).text).toContain('event: stopped')
    rig.upstream.use(good())
  })

  test('an answer is read by its own person alone, and not after the end of the session', async () => {
    const path = `/api/answers/${ids.answer}`
    const { token } = await rig.signIn('ada')
    const own = { 'x-session-token': token }
    expect((await call('none', 'GET', path, undefined, own)).text).toContain(goodText().slice(0, 6))
    for (const role of ['eve', 'Owner', 'chat', 'log:read'] as const)
      expect((await call(role, 'GET', path)).status).toBeOneOf([403, 404])
    expect((await call('none', 'POST', '/auth/logout', undefined, own)).status).toBe(200)
    for (let worker = 0; worker < 6; worker += 1)
      expect((await call('none', 'GET', path, undefined, own)).status).toBe(401)
  })

  test('a person who is removed from restrict_to reads no more of it, in any worker', async () => {
    const path = `/api/answers/${ids.answer}`
    expect((await call('ada', 'GET', path)).status).toBe(200)
    await rig.configure({ restrict_to: ['eve', 'lead', 'Owner'] })
    await until(async () => (await call('ada', 'GET', '/api/models')).status !== 200)
    await Bun.sleep(300)
    for (let worker = 0; worker < 6; worker += 1) expect((await call('ada', 'GET', path)).status).toBeOneOf([401, 403])
    expect((await call('eve', 'GET', '/api/models')).status).toBe(200)
    expect((await rig.ask({ authorization: `Bearer ${key.value}` })).status).toBeOneOf([401, 403])
  })
})
