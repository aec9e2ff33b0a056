import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { errorOf } from '../client.ts'
import { goodText } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import type { FakeIdentityProvider, Registration } from '../fakes/identity/identity-provider.ts'
import { startMockServer } from '../fakes/identity/mock-server.ts'
import { startOidcProvider } from '../fakes/identity/oidc-provider.ts'
import { startSignIn, type SignedIn, type SignInRig } from './rig.ts'

interface Person {
  readonly userId: string
  readonly userName: string
  readonly displayName: string
  readonly profileUrl: string
  readonly email: string
}

interface Case {
  readonly name: string
  readonly start: (registration: Registration) => FakeIdentityProvider | Promise<FakeIdentityProvider>
  /** The user `ada` at this provider. */
  readonly person: Person
}

const picture = 'https://pictures.example/ada.png'
const cases: readonly Case[] = [
  {
    name: 'oidc-provider',
    start: startOidcProvider,
    person: {
      userId: 'id-ada',
      userName: 'ada',
      displayName: 'ada Ä. Lovelace',
      profileUrl: picture,
      email: 'ada@mail.example',
    },
  },
  {
    name: 'oauth2-mock-server',
    start: startMockServer,
    person: {
      userId: 'id-ada',
      userName: 'ada',
      displayName: 'ada Doe',
      profileUrl: picture,
      email: 'ada@mail.example',
    },
  },
  {
    name: 'GitHub',
    start: startGithub,
    person: {
      userId: '4260250381',
      userName: 'ada',
      displayName: 'ada',
      profileUrl: 'https://avatars.example/u/4260250381?v=4',
      email: 'ada@new.example',
    },
  },
]

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = ''
  for await (const part of stream) text += part.choices[0]?.delta.content ?? ''
  return text
}

const messages = [{ role: 'user' as const, content: 'hello' }]

describe.each(cases)('signing in at $name', ({ start, person }) => {
  let rig: SignInRig, ada: SignedIn
  beforeAll(async () => {
    rig = await startSignIn(start)
    ada = await rig.signIn()
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  const sdk = () => new OpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: ada.token, maxRetries: 0 }).chat.completions
  const cookie = () => ({ cookie: ada.browser.jar.header(rig.service.url) ?? '' })

  test('starts with 302 and ends with 302 to /?session=<session_token>, with the cookie token', () => {
    expect(ada.page.status).toBe(302)
    expect(ada.page.headers.get('location')).toBe(`/?session=${ada.token}`)
    expect(ada.browser.jar.cookies(rig.service.url).get('token')).toBe(ada.token)
  })

  test('GET /auth › 200 with the user', async () => {
    const { status, json } = await rig.get('/auth', cookie())
    expect([status, json]).toEqual([200, { ...person, authProvider: 'provider', expiresAt: expect.any(Number) }])
  })

  test('GET /auth/session › 200 with the record of docs/sign-in.md', async () => {
    const { status, json } = await rig.get('/auth/session', cookie())
    expect([status, json]).toEqual([200, { ...person, sessionToken: ada.token, created: expect.any(Number) }])
    const created: unknown = typeof json === 'object' && json !== null ? Reflect.get(json, 'created') : undefined
    expect(Math.abs(Number(created) - Date.now() / 1000)).toBeLessThan(60)
  })

  test('chat by cookie', async () => {
    expect((await rig.ask(cookie())).content).toBe(goodText())
    expect(
      (
        await rig.ask(
          { ...cookie(), origin: rig.service.url, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
          { stream: true },
        )
      ).content,
    ).toBe(goodText())
  })

  test('chat by X-Session-Token', async () => {
    expect((await rig.ask({ 'x-session-token': ada.token })).content).toBe(goodText())
  })

  test('chat by Bearer through the official SDK, plain and streamed', async () => {
    expect((await sdk().create({ model: 'm', messages })).choices[0]?.message.content).toBe(goodText())
    expect(await textOf(await sdk().create({ model: 'm', messages, stream: true }))).toBe(goodText())
  })

  test('an API key that is not a session › is ignored with a cookie, and 401 without', async () => {
    expect((await rig.ask({ ...cookie(), authorization: 'Bearer any' })).status).toBe(200)
    const alone = await rig.ask({ authorization: 'Bearer any' })
    expect([alone.status, errorOf(alone)?.code, alone.headers.get('www-authenticate')]).toEqual([
      401,
      'authentication_required',
      'Bearer realm="svc"',
    ])
  })

  test('the log names the user of sign-in and requests', async () => {
    await rig.ask({ 'x-session-token': ada.token })
    await rig.logged('"message":"request"', `"user":"${person.userName}"`)
    await rig.logged('"message":"signed in"', `"user":"${person.userName}"`, `"id":"${person.userId}"`)
  })

  test('POST /auth/logout › {"success":true}, cookie deleted; then every credential is refused', async () => {
    const before = cookie()
    const out = await ada.browser.visit(`${rig.service.url}/auth/logout`, {
      method: 'POST',
      headers: { accept: '*/*', origin: rig.service.url, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    })
    expect([out.status, JSON.parse(out.text)]).toEqual([200, { success: true }])
    expect(ada.browser.jar.cookies(rig.service.url).get('token')).toBeUndefined()
    const refusals = [
      await rig.ask(before),
      await rig.ask({ 'x-session-token': ada.token }),
      await rig.get('/auth', before),
      await rig.get('/auth/session', before),
    ]
    expect(refusals.map((answer) => [answer.status, errorOf(answer)?.message])).toEqual(
      Array.from({ length: 4 }, () => [401, 'Invalid or expired session']),
    )
    expect((await rig.ask({ authorization: `Bearer ${ada.token}` })).status).toBe(401)
    expect(
      await sdk()
        .create({ model: 'm', messages })
        .catch((error: unknown) => error),
    ).toBeInstanceOf(OpenAI.AuthenticationError)
    await rig.logged('"message":"signed out"', `"user":"${person.userName}"`)
  })

  test('again, by the same browser › another session', async () => {
    const again = await rig.signIn('ada', ada.browser)
    expect(again.token).not.toBe(ada.token)
    expect((await rig.ask({ 'x-session-token': again.token })).status).toBe(200)
  })
})

describe('two tabs of one browser', () => {
  test('both come back, in either order', async () => {
    await using rig = await startSignIn(startGithub)
    const browser = rig.browser()
    const [first, second] = [await rig.authorize(browser), await rig.authorize(browser)]
    expect([(await browser.visit(second)).status, (await browser.visit(first)).status]).toEqual([302, 302])
  })
})

describe('a user who denies at the identity provider', () => {
  test('gets 403 Access Denied and no session, and can try again', async () => {
    await using rig = await startSignIn(startOidcProvider)
    const browser = rig.browser()
    const begun = await browser.visit(`${rig.service.url}/auth/provider`)
    const page = await browser.visit(await rig.provider.refuse(browser, begun.location ?? ''))
    expect(page.status).toBe(403)
    expect(page.text).toContain('Access Denied')
    expect(browser.jar.cookies(rig.service.url).get('token')).toBeUndefined()
    expect((await rig.signIn('ada', browser)).page.status).toBe(302)
  })
})
