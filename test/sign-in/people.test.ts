import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pick } from '../client.ts'
import { navigation } from '../fakes/browser.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { configPath, startSignIn, type SignInRig } from './rig.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** Sends JSON with a session token. */
async function post(rig: SignInRig, token: string, path: string, body: unknown): Promise<[number, unknown]> {
  const response = await fetch(`${rig.service.url}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-session-token': token },
  })
  const answer: unknown = await response.json()
  return [response.status, response.ok ? answer : pick(answer, 'error', 'code')]
}

const people = (rig: SignInRig, token: string) => rig.get('/api/people', { 'x-session-token': token })

describe.each([[[]], [['--workers', '2']]])('people, for owners: %j', (flags) => {
  test('have their sessions without tokens, and owners end one or all', async () => {
    await using rig = await startSignIn(startGithub, { flags, owners: ['ada'] })
    const ada = await rig.signIn('ada', rig.browser({ headers: { ...navigation, 'user-agent': firefox } }))
    const grace = [await rig.signIn('grace'), await rig.signIn('grace')]
    const answer = await people(rig, ada.token)
    expect(pick(answer.json, 'people')).toMatchObject([
      { userName: 'grace', isOwner: false, sessions: [{ isCurrent: false }, {}] },
      { userName: 'ada', isOwner: true, sessions: [{ browser: 'Firefox', system: 'Linux', isCurrent: true }] },
    ])
    for (const { token } of [ada, ...grace]) expect(answer.text).not.toContain(token)
    // An id of a session is no credential.
    const id = String(pick(answer.json, 'people', 0, 'sessions', 0, 'id'))
    expect((await people(rig, id)).status).toBe(401)
    expect(await post(rig, ada.token, '/api/people/end', { session: id })).toEqual([200, { ended: 1 }])
    expect(await post(rig, ada.token, '/api/people/end', { session: id })).toEqual([200, { ended: 0 }])
    const left = await Promise.all(grace.map(async ({ token }) => (await rig.ask({ 'x-session-token': token })).status))
    expect(left).toEqual([200, 401])
    expect(pick((await people(rig, ada.token)).json, 'people', 0, 'sessions')).toMatchObject([
      { used: expect.any(Number) },
    ])
    expect(await post(rig, ada.token, '/api/people/end', { user: 'grace' })).toEqual([200, { ended: 1 }])
    const own = String(pick((await people(rig, ada.token)).json, 'people', 0, 'sessions', 0, 'id'))
    expect(await post(rig, ada.token, '/api/people/end', { session: own })).toEqual([200, { ended: 1 }])
    expect((await people(rig, ada.token)).status).toBe(401)
  }, 60_000)

  test('who are refused are shown, let in and blocked by a change of restrict_to', async () => {
    await using rig = await startSignIn(startGithub, { flags, owners: ['ada'], config: { restrict_to: 'ada' } })
    const file = join(rig.service.home, configPath)
    const text = readFileSync(file, 'utf8').replace('{', '{ // ours')
    await rig.configure(text)
    await rig.logged('extension reloaded')
    const { token } = await rig.signIn('ada')
    for (const _ of [1, 2]) {
      const browser = rig.browser()
      expect((await browser.visit(await rig.authorize(browser, 'grace'))).status).toBe(403)
    }
    const { json } = await people(rig, token)
    expect(pick(json, 'hasList')).toBe(true)
    expect(pick(json, 'refused')).toMatchObject([{ user: 'grace', tries: 2, last: expect.any(Number) }])
    const grace = { user: 'grace', userId: pick(json, 'refused', 0, 'userId') }
    const path = '/api/people/admission'
    const [status, draft] = await post(rig, token, path, { ...grace, mayEnter: true })
    expect([status, draft]).toMatchObject([
      200,
      { before: '"restrict_to": "ada"', after: '"restrict_to": "ada, grace"', line: expect.any(Number) },
    ])
    expect(JSON.stringify(draft)).not.toContain(rig.registration.clientSecret)
    expect(readFileSync(file, 'utf8')).toBe(text)
    const version = pick(draft, 'version')
    expect((await post(rig, token, path, { ...grace, mayEnter: true, version }))[0]).toBe(200)
    expect(await post(rig, token, path, { ...grace, mayEnter: true, version })).toEqual([409, 'conflict'])
    expect(readFileSync(file, 'utf8')).toBe(text.replace('"ada"', '"ada, grace"'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const browser = rig.browser()
    const entered = await rig.signIn('grace', browser)
    expect(pick((await people(rig, token)).json, 'refused')).toEqual([])
    // Blocked at once, and by no one for themselves.
    const [, blocking] = await post(rig, token, path, { ...grace, mayEnter: false })
    const block = { ...grace, mayEnter: false, version: pick(blocking, 'version') }
    expect((await post(rig, token, path, block))[0]).toBe(200)
    expect((await rig.ask({ 'x-session-token': entered.token })).status).toBe(401)
    const own = pick((await people(rig, token)).json, 'people', 0)
    const self = { user: 'ada', userId: pick(own, 'userId'), mayEnter: false }
    expect(await post(rig, token, path, self)).toEqual([409, 'own_access'])
  }, 60_000)
})

describe('people, for owners', () => {
  test('are for owners alone, with bodies of a few bytes', async () => {
    await using rig = await startSignIn(startGithub, { owners: ['ada'] })
    const [ada, grace] = [(await rig.signIn('ada')).token, (await rig.signIn('grace')).token]
    expect([(await people(rig, grace)).status, (await rig.get('/api/people')).status]).toEqual([403, 401])
    const admission = { user: 'eve', userId: '9', mayEnter: true }
    for (const [path, body] of [
      ['/api/people/end', { user: 'ada' }],
      ['/api/people/admission', admission],
    ] as const)
      expect(await post(rig, grace, path, body)).toEqual([403, 'owners_only'])
    const refusals: [string, unknown, number, string][] = [
      ['end', '{', 400, 'invalid_json'],
      ['end', {}, 400, 'invalid_value'],
      ['end', { user: 'a', session: 'b' }, 400, 'invalid_value'],
      ['end', { session: 'x'.repeat(65) }, 400, 'invalid_value'],
      ['end', { user: 'x'.repeat(5_000) }, 413, 'request_too_large'],
      ['admission', { ...admission, user: 'a\nb' }, 400, 'invalid_value'],
      ['admission', { ...admission, userId: 'x'.repeat(257) }, 400, 'invalid_value'],
      ['admission', { ...admission, mayEnter: 'yes' }, 400, 'invalid_type'],
      // Anyone may sign in: there is no list.
      ['admission', admission, 409, 'not_changeable'],
    ]
    for (const [path, body, ...expected] of refusals)
      expect(await post(rig, ada, `/api/people/${path}`, body)).toEqual(expected)
    // Another website cannot use the cookie.
    const crossing = await fetch(`${rig.service.url}/api/people/end`, {
      ...{ method: 'POST', body: '{"user":"grace"}' },
      headers: { cookie: `token=${ada}`, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(crossing.status).toBe(403)
  }, 60_000)

  test('are not let in where a variable has the list', async () => {
    await using rig = await startSignIn(startGithub, {
      owners: ['ada'],
      config: { restrict_to: '$PROVIDER_USERS' },
      environment: { PROVIDER_USERS: 'ada' },
    })
    const { token } = await rig.signIn('ada')
    const change = { user: 'eve', userId: '9', mayEnter: true }
    expect(await post(rig, token, '/api/people/admission', change)).toEqual([409, 'not_changeable'])
  }, 60_000)
})
