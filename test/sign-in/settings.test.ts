import { expect, test } from 'bun:test'
import { pick } from '../client.ts'
import { cookieParts } from '../fakes/cookie-jar.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { configText, register, startSignIn } from './rig.ts'

/** The optional members of config.json (docs/sign-in.md), with the real process. */

const none = { provider: undefined, base_url: undefined }

function addressesOf({ url }: Pick<Github, 'url'>): Readonly<Record<string, string>> {
  return {
    authorize_url: `${url}/login/oauth/authorize`,
    token_url: `${url}/login/oauth/access_token`,
    user_url: `${url}/api/v3/user`,
  }
}

/** A GitHub that is configured only by these members. */
function reachedBy(config: (github: Github) => Readonly<Record<string, unknown>>): typeof startGithub {
  return (registration) => {
    const github = startGithub(registration)
    return { ...github, config: config(github) }
  }
}

test('three URLs, user_fields, scope and display_name › sign in at any OAuth 2.0 server', async () => {
  await using rig = await startSignIn(
    reachedBy((github) => ({
      ...addressesOf(github),
      scope: 'who am-i',
      display_name: 'Our "own" <server>',
      user_fields: { id: 'node_id', username: 'login', display_name: 'type', avatar: '', email: '' },
    })),
  )
  expect(pick((await rig.get('/api/boot')).json, 'parts', 0, 'settings', 'providerName')).toBe('Our "own" <server>')
  const { token } = await rig.signIn()
  expect((await rig.get('/auth', { 'x-session-token': token })).json).toMatchObject({
    userId: 'U_4260250381',
    userName: 'ada',
    displayName: 'User',
    profileUrl: '',
    email: '',
  })
  const [begun] = rig.provider.asked('authorize')
  expect(new URL(begun?.path ?? '', rig.provider.url).searchParams.get('scope')).toBe('who am-i')
  expect(rig.provider.asked('emails')).toEqual([])
})

test('provider: gitea with base_url', async () => {
  await using rig = await startSignIn(reachedBy(({ url }) => ({ provider: 'gitea', base_url: url })))
  const { token } = await rig.signIn()
  expect(pick((await rig.get('/auth', { 'x-session-token': token })).json, 'userName')).toBe('ada')
  expect(pick((await rig.get('/api/boot')).json, 'parts', 0, 'settings', 'providerName')).toBe('Gitea')
})

test('pkce: false › sends neither challenge nor verifier', async () => {
  await using rig = await startSignIn(startGithub, { config: { pkce: false } })
  expect((await rig.signIn()).page.status).toBe(302)
  expect([
    rig.provider.asked('authorize')[0]?.path.includes('code_challenge'),
    new TextDecoder().decode(rig.provider.asked('token')[0]?.body).includes('code_verifier'),
  ]).toEqual([false, false])
})

test('cookie_name › names the only valid cookie; __Host- with an https redirect_uri', async () => {
  const registration = { ...register(), redirectUri: 'https://svc.example/auth/provider/callback' }
  await using rig = await startSignIn(startGithub, { registration, port: 0, config: { cookie_name: '__Host-token' } })
  const browser = rig.browser({ headers: {} })
  const begun = await browser.visit(`${rig.service.url}/auth/provider`)
  const callback = new URL(await rig.provider.approve(browser, begun.location ?? '', 'ada'))
  const back = await browser.visit(`${rig.service.url}${callback.pathname}${callback.search}`)
  const cookie = back.headers
    .getSetCookie()
    .map(cookieParts)
    .find(({ name }) => name === '__Host-token')
  expect(cookie?.attributes).toEqual({ path: '/', httponly: true, samesite: 'Lax', 'max-age': '86400', secure: true })
  const statuses = await Promise.all(
    ['__Host-token', 'token'].map(
      async (name) => (await rig.get('/auth', { cookie: `${name}=${cookie?.value ?? ''}` })).status,
    ),
  )
  expect(statuses).toEqual([200, 401])
})

test('restrict_to as an array, with ids › matches renamed users', async () => {
  await using rig = await startSignIn(startGithub, { config: { restrict_to: ['id:4260250381', '@Grace'] } })
  for (const person of ['ada', 'grace']) expect((await rig.signIn(person)).page.status).toBe(302)
  const browser = rig.browser()
  expect((await browser.visit(await rig.authorize(browser, 'id:4260250381'))).status).toBe(403)
})

test('comments, trailing commas and values from the environment › are accepted', async () => {
  const registration = register()
  await using rig = await startSignIn(startGithub, { registration, environment: { LIMIT: '2', IS_ON: 'true' } })
  const text = configText(rig.provider, registration, { requests_per_minute: '$LIMIT', enabled: '$IS_ON' })
  await rig.configure(text.replace('{', '{ // who may come in').replace(/\n\}$/, ',\n}'))
  await rig.logged('extension reloaded')
  const statuses: number[] = []
  for (let time = 0; time < 3; time++) statuses.push((await rig.get('/auth/provider')).status)
  expect(statuses).toEqual([302, 302, 429])
})

test('plain http to an identity provider on another machine › only with allow_insecure_http', async () => {
  const config = {
    ...none,
    authorize_url: 'http://id.example/a',
    token_url: 'http://id.example/t',
    user_url: 'http://id.example/u',
  }
  const failure = await startSignIn(startGithub, { config }).then(() => 'it started', String)
  expect(failure).toContain('exited with 2')
  await using rig = await startSignIn(startGithub, { config: { ...config, allow_insecure_http: true } })
  expect((await rig.get('/auth/provider')).headers.get('location')).toStartWith('http://id.example/a?')
  await rig.logged('"level":"warn"', 'allow_insecure_http')
})
