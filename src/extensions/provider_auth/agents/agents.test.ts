import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { NoAnswer } from '../../../formats/error.ts'
import { parseAllowList } from '../settings/restrict-to.ts'
import { ada, browserHeaders, settingsForTests, signInUnderTest } from '../testing.ts'
import { parseRefreshToken } from './agent-token.ts'
import { agentsUnderTest, deviceGrant, settingsWithAgents } from './testing.ts'
import { parseUserCode, randomUserCode } from './user-code.ts'

const grace = { ...ada, userId: '1906', userName: 'grace', displayName: 'Grace Hopper', email: 'grace@mail.test' }
const minute = 60_000

describe('sign-in of agents', () => {
  test('does not exist unless the settings have it', async () => {
    const { contribution } = signInUnderTest(settingsForTests)
    expect(contribution.recognise).toBeUndefined()
    expect(contribution.routes?.filter(({ path }) => !path.startsWith('/auth'))).toEqual([])
  })

  test('describes endpoints of the origin of redirect_uri, never of Host', async () => {
    const { subject } = agentsUnderTest()
    const options = { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } }
    const answer = await subject.request('/.well-known/oauth-authorization-server', options)
    expect(await answer.json()).toMatchObject({
      issuer: 'https://svc.test',
      device_authorization_endpoint: 'https://svc.test/oauth/device_authorization',
      token_endpoint: 'https://svc.test/oauth/token',
      revocation_endpoint: 'https://svc.test/oauth/revoke',
      gateway_protocol_version: 1,
    })
  })

  test('gives tokens to a program that a person has let in', async () => {
    const agents = agentsUnderTest()
    const { status, body, headers } = await agents.post('/oauth/device_authorization', {
      surface: 'claude_code',
      unknown: 'field',
    })
    expect([status, headers.get('cache-control'), body['expires_in'], body['interval']]).toEqual([
      200,
      'no-store',
      600,
      5,
    ])
    const user = String(body['user_code'])
    expect(user).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect([body['verification_uri'], body['verification_uri_complete']]).toEqual([
      'https://svc.test/device',
      `https://svc.test/device?user_code=${user}`,
    ])
    const codes = { device: String(body['device_code']), user }
    expect(codes.device).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(await agents.poll(codes)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })
    const page = await (await agents.browser()).decide(user.toLowerCase().replace('-', ' '), 'approve')
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Claude Code')])
    const given = await agents.poll(codes)
    expect(given).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600, email: ada.email } })
    expect(await agents.use(String(given.body['access_token']))).toBe(200)
    expect(await agents.poll(codes)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
  })

  test('tells a program that it was denied', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    await (await agents.browser()).decide(codes.user, 'deny')
    expect(await agents.poll(codes)).toMatchObject({ status: 400, body: { error: 'access_denied' } })
    expect((await agents.poll(codes)).body['error']).toBe('expired_token')
  })

  test('recognises a person with the rights to models alone', async () => {
    const agents = agentsUnderTest()
    const { access } = await agents.signIn()
    const request = new Request('https://svc.test/v1/messages', { headers: { 'x-api-key': access } })
    const caller = await agents.subject.contribution.recognise?.({ request, path: '/', address: '', id: '' })
    expect([caller?.name, caller?.person?.accountId, caller?.key]).toEqual(['ada', ada.userId, undefined])
    const scopes = ['chat', 'models:read', 'usage:read', 'log:read', 'metrics:read', 'keys:write'] as const
    expect(scopes.filter((scope) => caller?.access?.mayDo(scope))).toEqual(['chat', 'models:read'])
  })

  test('leaves other credentials to the guards', async () => {
    const { subject } = agentsUnderTest()
    const request = new Request('https://svc.test/', { headers: { authorization: 'Bearer other' } })
    expect(subject.contribution.recognise?.({ request, path: '/', address: '', id: '' })).toBeUndefined()
  })

  test('answers settings with 404, and drops telemetry of bounded size', async () => {
    const { subject } = agentsUnderTest()
    await expect(subject.request('/managed/settings')).rejects.toMatchObject({ status: 404 })
    for (const path of ['/v1/metrics', '/v1/logs', '/v1/traces']) {
      const answer = await subject.request(path, { method: 'POST', body: '{}' })
      expect([answer.status, await answer.text()]).toEqual([200, ''])
      const large = { method: 'POST', body: 'x'.repeat(1_048_577) }
      await expect(subject.request(path, large)).rejects.toMatchObject({ status: 413 })
    }
    const routes = subject.contribution.routes?.filter(({ path }) => path.startsWith('/v1/')) ?? []
    expect(routes.map(({ isPublic, scope }) => [isPublic, scope])).toEqual(Array(3).fill([undefined, 'chat']))
  })
})

describe('tokens of an agent', () => {
  test('are renewed by a refresh token that ends with its use', async () => {
    const agents = agentsUnderTest()
    const first = await agents.signIn()
    const { status, body } = await agents.refresh(first.refresh)
    expect([status, body['refresh_token'] === first.refresh]).toEqual([200, false])
    expect([await agents.use(first.access), await agents.use(String(body['access_token']))]).toEqual([200, 200])
    expect((await agents.refresh(String(body['refresh_token']))).status).toBe(200)
  })

  test('are the same for two processes that renew within a minute', async () => {
    const agents = agentsUnderTest()
    const { refresh } = await agents.signIn()
    const answers = await Promise.all([agents.refresh(refresh), agents.refresh(refresh), agents.refresh(refresh)])
    agents.host.clock.ms += minute
    answers.push(await agents.refresh(refresh))
    expect(new Set(answers.map(({ body }) => body['refresh_token'])).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body['access_token'])).size).toBe(4)
  })

  test('end, with all others of the agent, when a used refresh token is sent again later', async () => {
    const agents = agentsUnderTest()
    const { access, refresh } = await agents.signIn()
    const other = await agents.signIn()
    const { body } = await agents.refresh(refresh)
    agents.host.clock.ms += minute + 1
    expect(await agents.refresh(refresh)).toMatchObject({ status: 401, body: { error: 'invalid_grant' } })
    expect((await agents.refresh(String(body['refresh_token']))).status).toBe(401)
    expect(await Promise.all([access, String(body['access_token']), other.access].map(agents.use))).toEqual([
      401, 401, 200,
    ])
    expect(agents.host.lines.some(([level, text]) => level === 'warn' && text.includes('used refresh token'))).toBe(
      true,
    )
  })

  test('expire: an access token after an hour, the agent after the days of the settings', async () => {
    const agents = agentsUnderTest()
    const { access, refresh } = await agents.signIn()
    agents.host.clock.ms += 60 * minute
    expect(await agents.use(access)).toBe(200)
    agents.host.clock.ms += 1
    expect(await agents.use(access)).toBe(401)
    agents.host.clock.ms += 7 * 24 * 60 * minute - 60 * minute
    expect((await agents.refresh(refresh)).status).toBe(401)
  })

  test('end at once when the person may not enter any more, also between approval and poll', async () => {
    const agents = agentsUnderTest()
    const { access, refresh } = await agents.signIn()
    const codes = await agents.start()
    await (await agents.browser()).decide(codes.user, 'approve')
    const closed = agents.withSettings({ ...settingsWithAgents, restrictTo: parseAllowList('grace', true) })
    expect(await closed.use(access)).toBe(401)
    expect(await closed.refresh(refresh)).toMatchObject({ status: 401, body: { error: 'invalid_grant' } })
    expect(await closed.poll(codes)).toMatchObject({ status: 400, body: { error: 'access_denied' } })
    const moved = agents.withSettings({
      ...settingsWithAgents,
      endpoints: { kind: 'openid', issuer: 'https://new.test' },
    })
    expect(await moved.use(access)).toBe(401)
  })

  test('are stored as hashes alone', async () => {
    const agents = agentsUnderTest()
    const { access, refresh } = await agents.signIn()
    const codes = await agents.start()
    const stored = JSON.stringify([...agents.host.stores].map(([name, { entries }]) => [name, ...entries]))
    const secrets = [
      access,
      refresh,
      parseRefreshToken(refresh)?.familyId ?? '',
      parseRefreshToken(refresh)?.secret ?? '',
    ]
    expect([...secrets, codes.device, codes.user].filter((secret) => stored.includes(secret))).toEqual([])
    expect(JSON.stringify(agents.host.lines)).not.toContain(access)
  })

  test('are revoked by either token; unknown ones are answered alike', async () => {
    const agents = agentsUnderTest()
    for (const which of ['access', 'refresh'] as const) {
      const tokens = await agents.signIn()
      expect((await agents.post('/oauth/revoke', { token: tokens[which] })).status).toBe(200)
      expect([await agents.use(tokens.access), (await agents.refresh(tokens.refresh)).status]).toEqual([401, 401])
    }
    expect((await agents.post('/oauth/revoke', { token: 'unknown' })).status).toBe(200)
  })

  test('do not come back when the agent is ended during a renewal', async () => {
    const agents = agentsUnderTest()
    const { refresh } = await agents.signIn()
    const families = agents.host.stores.get('agents')
    const rotations = agents.host.stores.get('agent-rotations')
    if (families === undefined || rotations === undefined) throw new Error('there are no stores')
    const { set } = rotations
    rotations.set = async (...given) => {
      families.entries.clear()
      await set(...given)
    }
    expect((await agents.refresh(refresh)).status).toBe(401)
    expect(agents.host.stores.get('agent-access')?.entries.size).toBe(1)
    expect(rotations.entries.size).toBe(0)
  })

  test('are not given, and not refused either, while a store is away: the connection is closed', async () => {
    const agents = agentsUnderTest()
    const { access, refresh } = await agents.signIn()
    for (const store of agents.host.stores.values()) store.isAway = true
    await expect(agents.refresh(refresh)).rejects.toBeInstanceOf(NoAnswer)
    await expect(
      agents.post('/oauth/token', { grant_type: deviceGrant, device_code: 'x'.repeat(43) }),
    ).rejects.toBeInstanceOf(NoAnswer)
    await expect(agents.post('/oauth/revoke', { token: refresh })).rejects.toBeInstanceOf(NoAnswer)
    expect(await agents.use(access)).toBe(503)
    for (const store of agents.host.stores.values()) store.isAway = false
    expect(await agents.use(access)).toBe(200)
    for (const store of agents.host.stores.values()) store.isAway = true
    expect(await agents.use(access)).toBe(200)
  })

  test('are asked for too often: the connection is closed, since 429 would end the sign-in', async () => {
    const agents = agentsUnderTest()
    const { refresh } = await agents.signIn()
    for (let count = 0; count < 1_199; count++) await agents.post('/oauth/token', { grant_type: 'x' })
    await expect(agents.refresh(refresh)).rejects.toBeInstanceOf(NoAnswer)
  })
})

describe('forms of agents', () => {
  test.each([
    ['no grant', {}, 'invalid_request'],
    ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no device code', { grant_type: deviceGrant }, 'invalid_request'],
    ['an unknown device code', { grant_type: deviceGrant, device_code: 'x'.repeat(43) }, 'expired_token'],
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
  ])('%s', async (_name, form, error) => {
    const { status, body, headers } = await agentsUnderTest().post('/oauth/token', form)
    expect([status, body['error'], headers.get('x-should-retry')]).toEqual([400, error, 'false'])
  })

  test('must be forms: JSON is refused, and so is a name that is there twice', async () => {
    const { subject } = agentsUnderTest()
    const requests = [
      ['application/json', '{"grant_type":"refresh_token"}'],
      ['application/x-www-form-urlencoded', 'grant_type=a&grant_type=b'],
    ]
    for (const [type = '', body = ''] of requests) {
      const answer = await subject.request('/oauth/token', { method: 'POST', headers: { 'content-type': type }, body })
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }])
    }
  })

  test('with any content get an answer of OAuth', async () => {
    const agents = agentsUnderTest()
    const name = fc.constantFrom('grant_type', 'device_code', 'refresh_token', 'token', 'surface', 'machine', 'x')
    const value = fc.oneof(fc.string(), fc.constantFrom('refresh_token', deviceGrant, `svc_rt_${'x'.repeat(65)}`))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/oauth/token', '/oauth/revoke'),
        fc.dictionary(name, value),
        async (path, form) => {
          const { status } = await agents.post(path, form)
          expect([200, 400, 401]).toContain(status)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('a user code is read as people type it, and nothing else is', () => {
    fc.assert(
      fc.property(fc.constant(0).map(randomUserCode), fc.string(), (code, text) => {
        expect(parseUserCode(` ${code.toLowerCase().replace('-', '\u2013')}`)).toBe(code)
        expect(parseUserCode(text) ?? 'BCDF-GHJK').toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
      }),
    )
  })
})

describe('RFC 8628 section 5', () => {
  test('5.1: ten wrong codes close the page to the person for an hour, in all browsers', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    const statuses: number[] = []
    for (let guess = 0; guess < 12; guess++) {
      agents.host.clock.ms += 10_000
      statuses.push((await (await agents.browser()).enter(randomUserCode())).status)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(400), 429, 429])
    expect((await (await agents.browser()).enter(codes.user)).status).toBe(429)
    expect((await (await agents.browser(grace)).enter(codes.user)).status).toBe(200)
  })

  test('5.1: guesses at once are bounded, too', async () => {
    const agents = agentsUnderTest()
    const browser = await agents.browser()
    const answers = await Promise.all(Array.from({ length: 50 }, () => browser.enter(randomUserCode())))
    expect(answers.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(10)
  })

  test('5.2: a device code is redeemed once, by one of many', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    await (await agents.browser()).decide(codes.user, 'approve')
    const other = agentsUnderTest(agents.subject)
    const answers = await Promise.all(Array.from({ length: 10 }, () => other.poll(codes)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('5.2: too many questions for one sign-in are slowed down', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    const errors: unknown[] = []
    for (let count = 0; count < 16; count++) errors.push((await agents.poll(codes)).body['error'])
    expect(errors.at(-2)).toBe('authorization_pending')
    expect(errors.at(-1)).toBe('slow_down')
  })

  test('5.3: the page shows the program as it calls itself, its address and its age, escaped', async () => {
    const agents = agentsUnderTest()
    const form = { surface: '<b>x</b>', machine: '"><script>alert(1)</script>' }
    const { body } = await agents.post('/oauth/device_authorization', form, '198.51.100.7')
    agents.host.clock.ms += 5_000
    const page = await (await agents.browser()).enter(String(body['user_code']))
    for (const shown of ['198.51.100.7', '5 seconds ago', 'Ada Lovelace (ada)']) expect(page.text).toContain(shown)
    expect(page.text).not.toMatch(/<b>|<script/)
  })

  test('5.4: a link approves nothing and looks nothing up; the form has no default', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    const browser = await agents.browser()
    const page = await browser.get(`/device?user_code=${codes.user}`)
    expect(page.text).toContain(`value="${codes.user}"`)
    expect([page.fieldsOf('approve'), page.text.includes('Claude Code')]).toEqual([undefined, false])
    const asked = await browser.enter(codes.user)
    expect(asked.text).not.toMatch(/autofocus|checked|selected|<script/)
    expect((await agents.poll(codes)).body['error']).toBe('authorization_pending')
  })

  test('5.4: the page cannot be framed, has no script, and sends forms to its origin alone', async () => {
    const { headers, text } = await (await agentsUnderTest().browser()).get('/device')
    expect(headers.get('x-frame-options')).toBe('DENY')
    const policy = headers.get('content-security-policy')
    for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(part)
    expect([policy?.includes('script-src'), headers.get('cache-control')]).toEqual([false, 'no-store'])
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(text) ?? []
    expect(policy).toContain(`'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'`)
  })

  test('5.4: people sign in first, and the code goes with them', async () => {
    const { subject } = agentsUnderTest()
    const options = { headers: browserHeaders }
    const page = await (await subject.request('/device?user_code=bcdfghjk', options)).text()
    expect(page).toContain('href="/auth/provider?device=BCDF-GHJK"')
    expect(page).not.toContain('<form')
    const response = await subject.request('/auth/provider?device=BCDF-GHJK', options)
    const state = new URL(response.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
    const back = await subject.finish(state, { headers: { ...browserHeaders, cookie } })
    expect(back.headers.get('location')).toBe('/device?user_code=BCDF-GHJK')
  })

  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of a sibling', { 'sec-fetch-site': 'same-site' }],
    ['that a person typed', { 'sec-fetch-site': 'none' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of an opaque origin', { origin: 'null' }],
    ['without any sign of its page', {}],
  ])('5.4: a form %s is refused', async (_name, headers) => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    const browser = await agents.browser()
    const fields = (await browser.enter(codes.user)).fieldsOf('approve') ?? {}
    await expect(browser.post(fields, { cookie: browser.cookie, ...headers })).rejects.toMatchObject({ status: 403 })
    expect((await agents.poll(codes)).body['error']).toBe('authorization_pending')
    const own = { cookie: browser.cookie, origin: 'https://svc.test' }
    expect((await browser.post(fields, own)).status).toBe(200)
  })

  test('5.4: a form of another session, of another code or as JSON is refused', async () => {
    const agents = agentsUnderTest()
    const [codes, others] = [await agents.start(), await agents.start()]
    const [browser, other] = [await agents.browser(), await agents.browser()]
    const fields = (await browser.enter(codes.user)).fieldsOf('approve') ?? {}
    await browser.enter(others.user)
    await expect(other.post(fields)).rejects.toMatchObject({ status: 403, code: 'stale_form' })
    await expect(browser.post({ ...fields, user_code: others.user })).rejects.toMatchObject({ code: 'stale_form' })
    await expect(browser.post({ ...fields, state: '' })).rejects.toMatchObject({ code: 'stale_form' })
    await expect(
      browser.post(fields, { ...browserHeaders, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }),
    ).rejects.toMatchObject({ status: 415 })
  })

  test('5.4: an agent of another network is shown as a danger, and needs a fresh sign-in', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start('198.51.100.7')
    const browser = await agents.browser()
    const fresh = await browser.enter(codes.user)
    expect([fresh.text.includes('class="warning"'), fresh.fieldsOf('approve') !== undefined]).toEqual([true, true])
    agents.host.clock.ms += 10 * minute - 1
    const fields = (await browser.enter(codes.user)).fieldsOf('approve') ?? {}
    agents.host.clock.ms += 1
    expect((await browser.post(fields)).status).toBe(200)
    const later = await agents.start('198.51.100.7')
    agents.host.clock.ms += minute
    const stale = await browser.enter(later.user)
    expect([stale.fieldsOf('approve'), stale.text.includes(`?device=${later.user}`)]).toEqual([undefined, true])
    const forged = { ...stale.fieldsOf('deny'), action: 'approve' }
    expect((await browser.post(forged)).status).toBe(403)
    expect((await agents.poll(later)).body['error']).toBe('authorization_pending')
    expect((await browser.post(stale.fieldsOf('deny') ?? {})).status).toBe(200)
  })

  test('5.5: a code that one person has entered is unknown to others, and dies with the decision', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    const browser = await agents.browser()
    await browser.enter(codes.user)
    expect((await (await agents.browser(grace)).enter(codes.user)).status).toBe(400)
    await browser.decide(codes.user, 'approve')
    expect((await browser.enter(codes.user)).status).toBe(400)
  })

  test('5.5: a code dies after ten minutes, also one that was looked at', async () => {
    const agents = agentsUnderTest()
    const codes = await agents.start()
    const browser = await agents.browser()
    const fields = (await browser.enter(codes.user)).fieldsOf('approve') ?? {}
    agents.host.clock.ms += 10 * minute + 1
    expect((await browser.post(fields)).status).toBe(400)
    expect((await agents.poll(codes)).body['error']).toBe('expired_token')
  })

  test('flooding: a client asks for 120 pages in a minute, together with the routes of sign-in', async () => {
    const { subject } = agentsUnderTest()
    for (let count = 0; count < 120; count++) await subject.request('/device')
    await expect(subject.request('/device')).rejects.toMatchObject({ status: 429, code: 'rate_limited' })
    await expect(subject.request('/auth/provider')).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('flooding: a client starts 30 flows a minute', async () => {
    const agents = agentsUnderTest()
    const statuses: number[] = []
    for (let count = 0; count < 31; count++)
      statuses.push((await agents.post('/oauth/device_authorization', {}, '198.51.100.7')).status)
    expect(statuses).toEqual([...Array<number>(30).fill(200), 429])
    expect((await agents.post('/oauth/device_authorization', {})).status).toBe(200)
  })
})

describe('agents of people', () => {
  test('are listed to themselves, and ended one by one', async () => {
    const agents = agentsUnderTest()
    const tokens = await agents.signIn()
    const others = await agents.signIn(grace)
    const browser = await agents.browser()
    const page = await browser.get('/device')
    expect(page.text.match(/name="agent"/g)).toHaveLength(1)
    const fields = page.fieldsOf('end') ?? {}
    const ofGrace = (await (await agents.browser(grace)).get('/device')).fieldsOf('end') ?? {}
    await expect(browser.post(ofGrace)).rejects.toMatchObject({ code: 'stale_form' })
    expect((await browser.post(fields)).text).toContain('None is signed in')
    expect([await agents.use(tokens.access), (await agents.refresh(tokens.refresh)).status]).toEqual([401, 401])
    expect(await agents.use(others.access)).toBe(200)
  })

  test('are listed to owners beside sessions, and ended by id or with all of a person', async () => {
    const agents = agentsUnderTest()
    const [first, second] = [await agents.signIn(), await agents.signIn()]
    await agents.use(first.access)
    const { people } = agents.subject.contribution
    const listed = (await people?.sessions(new Request('https://svc.test/'))) ?? []
    const ofAgents = listed.filter(({ agent }) => agent !== undefined)
    expect(ofAgents.map(({ agent, visitor }) => [agent, visitor.user])).toEqual(Array(2).fill(['Claude Code', 'ada']))
    expect(JSON.stringify(listed)).not.toContain('salt')
    expect((await people?.end(ofAgents[0]?.id ?? ''))?.visitor.user).toBe('ada')
    expect([await agents.use(first.access), await agents.use(second.access)].toSorted()).toEqual([200, 401])
    await people?.endAll('ADA')
    expect([await agents.use(first.access), await agents.use(second.access)]).toEqual([401, 401])
  })
})
