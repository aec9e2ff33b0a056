import { afterAll, beforeAll, expect, test } from 'bun:test'
import { errorOf } from '../client.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { codedPaths, documentedRoutes, openPathOf } from '../routes.ts'
import { startSignIn, type SignInRig } from './rig.ts'

let rig: SignInRig
beforeAll(async () => {
  rig = await startSignIn(startGithub, { config: { agents: true } })
})
afterAll(() => rig[Symbol.asyncDispose]())

const publicPaths = [
  '/',
  '/openapi',
  '/openapi.json',
  '/auth',
  '/auth/provider',
  '/auth/provider/callback',
  '/auth/session',
  '/auth/logout',
  '/health',
  '/ready',
  '/api/boot',
  '/assets/m',
  '/preview',
  '/.well-known/oauth-authorization-server',
  '/.well-known/opencode',
  '/oauth/device_authorization',
  '/oauth/token',
  '/oauth/revoke',
  '/device',
  '/managed/settings',
]

test('the documents list all routes of the code', () => {
  const documented = documentedRoutes().map(({ path }) => openPathOf(path))
  // The catch-all routes below these answer 404.
  expect(codedPaths().filter((path) => !['/auth/', '/v1/responses/'].includes(path))).toEqual(
    [...new Set(documented)].toSorted(),
  )
  expect(documented.length).toBeGreaterThan(9)
})

test('without a session only public routes answer, and others do not reveal whether they exist', async () => {
  const { token } = await rig.signIn()
  async function statusOf(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    return (
      await fetch(`${rig.service.url}${path}`, {
        method,
        headers,
        redirect: 'manual',
        ...(method === 'POST' ? { body: '{}' } : {}),
      })
    ).status
  }
  for (const { method, path: pattern } of documentedRoutes()) {
    const path = pattern.replace(/\{\w+\}/, 'm')
    const isPublic = publicPaths.includes(path)
    const methods = [method, 'HEAD', 'PUT', 'DELETE', 'PATCH', method === 'GET' ? 'POST' : 'GET']
    const statuses = await Promise.all(methods.map(async (each) => [each, await statusOf(each, path)] as const))
    for (const [each, status] of statuses) {
      // GET /auth and GET /auth/session are public; without a session their own answer is 401.
      if (!isPublic) expect([each, path, status]).toEqual([each, path, 401])
      else if (!['/auth', '/auth/session'].includes(path))
        expect([each, path, status === 401]).toEqual([each, path, false])
    }
    if (!isPublic)
      expect([path, (await statusOf(method, path, { 'x-session-token': token })) === 401]).toEqual([path, false])
  }
})

test('clients of Messages send the token as x-api-key, and get 401 without one in their own shape', async () => {
  const { token } = await rig.signIn()
  const ask = (key: string) =>
    fetch(`${rig.service.url}/v1/messages`, { method: 'POST', body: '{}', headers: { 'x-api-key': key } })
  const refused = await ask('none')
  expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([401, 'false'])
  expect(await refused.json()).toEqual({
    type: 'error',
    error: { type: 'authentication_error', message: expect.any(String) },
    request_id: refused.headers.get('x-request-id'),
  })
  expect((await ask(token)).status).toBe(400)
})

test('clients of Gemini send the token as x-goog-api-key, and never in the address', async () => {
  const { token } = await rig.signIn()
  const path = '/v1beta/models/m:generateContent'
  const ask = (query: string, headers: Record<string, string>) =>
    fetch(`${rig.service.url}${path}${query}`, { method: 'POST', body: '{}', headers })
  for (const refused of [await ask('', { 'x-goog-api-key': 'none' }), await ask(`?key=${token}`, {})]) {
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([401, 'false'])
    expect(await refused.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } })
  }
  expect((await ask('', { 'x-goog-api-key': token })).status).toBe(400)
  expect(rig.service.output).not.toContain(token)
})

test.each([
  '/nothing',
  '/v1',
  '/v1/',
  '/v1/nothing',
  '/v1/models/none',
  '/api/boot2',
  '/authx',
  '/healthz',
  '/health/x',
  '/favicon.ico',
  '/robots.txt',
  '/.env',
  '/index.html',
  '/src/main.ts',
  '/providers',
  '/config',
])('unknown path %s › 401, like a known one', async (path) => {
  const [unknown, known] = [await rig.get(path), await rig.get('/v1/models')] as const
  expect([unknown.status, errorOf(unknown)]).toEqual([401, errorOf(known)])
})
