import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, errorOf, pick, type Answer } from '../client.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { documentedRoutes } from '../routes.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'

type Headers = Readonly<Record<string, string>>

async function ask(
  url: string,
  headers: Headers = {},
  { method = 'GET', path = '/api/boot', body = '{}' } = {},
): Promise<Answer> {
  const response = await fetch(url + path, { method, headers, ...(method === 'POST' ? { body } : {}) })
  return answerOf(response, await response.text())
}

/** Routes below /api/, with a value for `{id}`. Those of keys are in test/sign-in/own-keys.test.ts. */
const routes = documentedRoutes()
  .filter(({ path }) => path.startsWith('/api/') && !path.startsWith('/api/keys'))
  .map(({ method, path }) => ({ method, path: path.replace(/\{.*/, 'x') }))
const json = { 'content-type': 'application/json' }

/** Status and error code of an answer. */
function statusAndCode(answer: Answer): readonly unknown[] {
  return [answer.status, errorOf(answer)?.code]
}

describe('without sign-in', () => {
  let service: ServiceUnderTest
  beforeAll(async () => {
    service = await startService(
      { providers: [{ id: 'echo' }], owners: ['other-user'] },
      { environment: { SVC_CORS_ORIGINS: 'https://svc.example' } },
    )
  })
  afterAll(() => service.stop())

  test('GET /api/boot without sign-in: no user, and every user is an owner', async () => {
    const answer = await ask(service.url)
    expect(answer.json).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      isClosed: false,
      isOwner: true,
      hasLimits: true,
      parts: [],
    })
    expect(
      Object.fromEntries(
        ['cache-control', 'x-content-type-options', 'referrer-policy', 'cross-origin-resource-policy'].map((name) => [
          name,
          answer.headers.get(name),
        ]),
      ),
    ).toEqual({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  test('there are routes below /api/, some of which change something', () => {
    expect(routes.filter(({ method }) => method === 'GET').length).toBeGreaterThan(3)
    expect(routes.some(({ method }) => method === 'POST')).toBe(true)
  })

  // Sessions, and so their route, exist with sign-in only.
  for (const { method, path } of routes.filter((route) => !route.path.startsWith('/api/sessions'))) {
    describe(`${method} ${path}`, () => {
      const asked = (headers: Headers) =>
        ask(service.url, { ...(method === 'POST' ? json : {}), ...headers }, { method, path })

      test('is refused under a host name that any website could point here', async () => {
        for (const host of [
          'evil.example',
          `evil.example:${service.port}`,
          'localhost.evil.example',
          '127.0.0.1.evil.example',
        ])
          expect(statusAndCode(await asked({ host }))).toEqual([403, 'host_not_allowed'])
      })

      test('is answered under host names that only this machine has', async () => {
        for (const host of [
          `127.0.0.1:${service.port}`,
          'localhost',
          'my.localhost:8000',
          '[::1]:8000',
          '192.0.2.1',
          'svc.example',
        ])
          expect([host, errorOf(await asked({ host }))?.code]).not.toEqual([host, 'host_not_allowed'])
      })

      test('allows no page of another origin to read it, not even one that may call /v1', async () => {
        for (const origin of ['https://evil.example', 'https://svc.example']) {
          expect((await asked({ origin })).headers.get('access-control-allow-origin')).toBeNull()
          const preflight = await fetch(service.url + path, {
            method: 'OPTIONS',
            headers: {
              origin,
              'access-control-request-method': method,
              'access-control-request-headers': 'content-type',
            },
          })
          expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
        }
      })

      if (method !== 'POST') return

      test('changes nothing for a page of another site, or what a form can send', async () => {
        for (const headers of [
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
          { origin: 'http://localhost:3000' },
        ]) {
          expect([headers, statusAndCode(await asked(headers))]).toEqual([headers, [403, 'cross_site_request']])
        }
        for (const origin of ['https://evil.example', 'null', 'http://svc.example'])
          expect([origin, statusAndCode(await asked({ origin }))]).toEqual([origin, [403, 'origin_not_allowed']])
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
          expect(statusAndCode(await asked({ 'content-type': type }))).toEqual([415, 'unsupported_media_type'])
      })

      test('lets pass our own page, and programs', async () => {
        for (const headers of [
          { 'sec-fetch-site': 'same-origin' },
          { origin: service.url },
          { origin: 'https://svc.example' },
          {},
        ])
          expect(['cross_site_request', 'unsupported_media_type']).not.toContain(errorOf(await asked(headers))?.code)
      })
    })
  }
})

describe('with sign-in', () => {
  let rig: SignInRig<Github>
  beforeAll(async () => {
    rig = await startSignIn(startGithub, { config: { display_name: 'Octo & Co' } })
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  const boot = async (headers: Headers = {}): Promise<Answer> => ask(rig.service.url, headers)

  test('GET /api/boot requires sign-in, and names the part of the page for it', async () => {
    const answer = await boot()
    expect(answer.json).toEqual({
      version: expect.any(String),
      isClosed: true,
      isOwner: false,
      parts: [
        {
          extension: 'provider_auth',
          modules: { en: expect.stringMatching(/^\/assets\/[\w-]+\.js$/), de: expect.any(String) },
          slots: ['SignIn'],
          settings: { providerName: 'Octo & Co', startUrl: '/auth/provider' },
        },
      ],
    })
    const module = await fetch(rig.service.url + String(pick(answer.json, 'parts', 0, 'modules', 'en')))
    expect([module.status, module.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(await module.text()).toContain('Sign Out')
  })

  test('it does so under any host name, and with an invalid session', async () => {
    for (const headers of [
      { host: 'svc.example' },
      { cookie: `token=${'A'.repeat(43)}` },
      { 'x-session-token': 'x' },
      { authorization: 'Bearer x' },
    ]) {
      expect((await boot(headers)).json).toMatchObject({ isClosed: true, isOwner: false })
      expect(pick((await boot(headers)).json, 'user')).toBeUndefined()
    }
  })

  test.each([
    ['the cookie', (token: string) => ({ cookie: `token=${token}` })],
    ['a header', (token: string) => ({ authorization: `Bearer ${token}` })],
  ])('it says who is signed in, by %s, and no token', async (_name, shown) => {
    const { token } = await rig.signIn('grace')
    const answer = await boot(shown(token))
    expect(pick(answer.json, 'user')).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      userName: 'grace',
      displayName: expect.stringContaining('grace'),
      email: expect.any(String),
      avatarUrl: expect.stringMatching(/^(?:https:\/\/|$)/),
    })
    expect(pick(answer.json, 'isOwner')).toBe(true)
    expect(answer.text).not.toContain(token)
  })

  test('it recognizes a user after another sign-in, and keeps users apart', async () => {
    const people = ['grace', 'grace', 'ada']
    const ids: unknown[] = []
    for (const person of people)
      ids.push(pick((await boot({ cookie: `token=${(await rig.signIn(person)).token}` })).json, 'user', 'id'))
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(ids[2])
  })

  test('it takes no token from the address', async () => {
    const { token } = await rig.signIn()
    expect(pick((await ask(rig.service.url, {}, { path: `/api/boot?session=${token}` })).json, 'user')).toBeUndefined()
  })

  test('everything else below /api/ is 401', async () => {
    for (const { method, path } of routes.filter((route) => route.path !== '/api/boot')) {
      expect([
        path,
        ...statusAndCode(await ask(rig.service.url, method === 'POST' ? json : {}, { method, path })),
      ]).toEqual([path, 401, 'authentication_required'])
    }
  })

  test('what changes something wants proof that our own page sends it, also with a token in a header', async () => {
    const { token } = await rig.signIn()
    for (const { method, path } of routes.filter((route) => route.method === 'POST')) {
      for (const shown of [{ cookie: `token=${token}` }, { authorization: `Bearer ${token}` }]) {
        expect(
          statusAndCode(
            await ask(rig.service.url, { ...json, ...shown, 'sec-fetch-site': 'cross-site' }, { method, path }),
          ),
        ).toEqual([403, 'cross_site_request'])
        expect(
          statusAndCode(await ask(rig.service.url, { ...shown, 'content-type': 'text/plain' }, { method, path })),
        ).toEqual([415, 'unsupported_media_type'])
      }
    }
  })

  test('owners are those of the file, as soon as it changes', async () => {
    const [ada, grace] = [await rig.signIn('ada'), await rig.signIn('grace')]
    const areOwners = () =>
      Promise.all(
        [ada, grace].map(async ({ token }) => pick((await boot({ cookie: `token=${token}` })).json, 'isOwner')),
      )
    expect(await areOwners()).toEqual([true, true])
    await rig.service.configure({ providers: [provider('a', rig.upstream.url)], owners: ['Grace'] })
    await rig.logged('configuration reloaded')
    expect(await areOwners()).toEqual([false, true])
  })
})
