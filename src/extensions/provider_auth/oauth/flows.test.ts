import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { WireError } from '../../../formats/error.ts'
import { memoryStores } from '../../../stores/memory.ts'
import { fakeStore } from '../../testing.ts'
import { randomToken } from '../session/random-token.ts'
import { fakeIdentityProvider } from '../testing.ts'
import { flows, flowStoreOptions, StateError, type Flow, type FlowsOptions } from './flows.ts'

const mozilla = { 'user-agent': 'Mozilla/5.0' }
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

function request(headers: Readonly<Record<string, string>> = {}): Request {
  return new Request('https://svc.test/auth/provider/callback', { headers })
}

function subject(options: Partial<FlowsOptions> = {}) {
  const clock = { ms: 1_800_000_000_000 }
  const store = fakeStore<Flow>()
  const provider = fakeIdentityProvider()
  const all = { store, now: () => clock.ms, ownOrigin: 'https://svc.test', realm: 'https://id.test', ...options }
  const under = flows(all)
  async function begin(headers: Readonly<Record<string, string>> = mozilla, client = 'client') {
    const { url, setCookies } = await under.begin(provider, { request: request(headers), client })
    const [own = '', ...others] = setCookies
    const [cookie = ''] = own.split(';')
    return { state: new URL(url).searchParams.get('state') ?? '', own, cookie, others }
  }
  async function redeem(state: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
    return (await under.redeem({ state, code: 'c' }, request(headers))).secrets
  }
  return {
    clock,
    store,
    provider,
    begin,
    redeem,
    flows: under,
    with: (changed: Partial<FlowsOptions>) => flows({ ...all, ...changed }),
  }
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(WireError)
  expect(error).toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    code: 'invalid_state',
    message: 'Invalid state parameter',
  })
  return error instanceof WireError && error.cause instanceof StateError ? error.cause.message : ''
}

describe('a new flow', () => {
  test('has a new state of 32 random bytes; the store holds its SHA-256 and no data of the request', async () => {
    const { store, begin, provider } = subject()
    const { state, cookie } = await begin({ ...mozilla, 'x-from': 'the request', cookie: 'other=the-request' })
    expect(state).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect((await begin()).state).not.toBe(state)
    const [, value = ''] = cookie.split('=')
    expect(store.entries.get(sha256(state))).toEqual({
      value: {
        secrets: provider.secrets,
        cookieHash: sha256(value),
        created: 1_800_000_000_000,
        realm: 'https://id.test',
      },
      owner: 'client',
    })
    const kept = JSON.stringify([...store.entries])
    for (const secret of [state, value, 'the-request']) expect(kept).not.toContain(secret)
  })

  test('sets its own cookie to bind the browser', async () => {
    const { begin } = subject()
    const { state, own } = await begin()
    const name = `__Host-svc_flow_${sha256(state).slice(0, 8)}`
    expect(own).toMatch(
      new RegExp(`^${RegExp.escape(name)}=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$`),
    )
  })

  test('sets a cookie without Secure over http', async () => {
    const { begin } = subject({ ownOrigin: 'http://127.0.0.1:8000' })
    const { state, own } = await begin()
    expect(own.startsWith(`svc_flow_${sha256(state).slice(0, 8)}=`)).toBeTrue()
    expect(own).not.toContain('Secure')
  })

  test('deletes the oldest flow cookie when the browser has five', async () => {
    const { begin } = subject()
    const four = (await Promise.all(['', '', '', ''].map(() => begin()))).map(({ cookie }) => cookie)
    expect((await begin({ cookie: four.join('; ') })).others).toEqual([])
    const five = [...four, (await begin()).cookie]
    const { others } = await begin({ cookie: `token=x; ${five.join('; ')}` })
    expect(others).toEqual([`${five[0]?.split('=')[0]}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure`])
  })

  test('deletes only flow cookies, and at most 20 of them', async () => {
    const { begin } = subject()
    const odd = [
      '__Host-svc_flow_=1',
      '__Host-svc_flow_short=1',
      '__Host-svc_flow_a\r\nb=1',
      '__Host-svc_flow_ninechars=1',
      'svc_flow_12345678=1',
      '__Host-svc_flow_a;b c=1',
      '__proto__=1',
    ]
    const none = await begin({ cookie: odd.join('; ').replaceAll(/[\r\n]/g, '') })
    expect(none.others).toEqual([])
    const many = Array.from({ length: 3_000 }, (_, index) => `__Host-svc_flow_${String(index).padStart(8, '0')}=1`)
    expect((await begin({ cookie: many.join('; ').slice(0, 60_000) })).others).toHaveLength(20)
  })

  test('is not stored when the identity provider fails', async () => {
    const { flows: under, store } = subject()
    const failing = { ...fakeIdentityProvider(), begin: () => Promise.reject(new Error('away')) }
    await expect(under.begin(failing, { request: request(), client: 'client' })).rejects.toThrow('away')
    expect(store.entries.size).toBe(0)
  })
})

describe('a state', () => {
  test('returns the secrets of the flow, once', async () => {
    const { begin, redeem, provider, store } = subject()
    const { state, cookie } = await begin()
    expect(await redeem(state, { ...mozilla, cookie })).toEqual(provider.secrets)
    expect(store.entries.size).toBe(0)
    expect(await refusalOf(redeem(state, { ...mozilla, cookie }))).toContain('unknown, used or expired')
  })

  test('is redeemed by one of several concurrent callbacks', async () => {
    const { begin, redeem } = subject()
    const { state, cookie } = await begin()
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => redeem(state, { ...mozilla, cookie })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    for (const reason of reasons) expect(await refusalOf(Promise.reject(reason))).toContain('just used')
  })

  test.each([
    [0, true],
    [599_999, true],
    [600_000, false],
    [600_001, false],
    [86_400_000, false],
    [-300_000, true],
    [-300_001, false],
  ])('is valid after %d ms: %p', async (ms, isValid) => {
    const { begin, redeem, clock, provider } = subject()
    const { state, cookie } = await begin()
    clock.ms += ms
    if (isValid) expect(await redeem(state, { cookie })).toEqual(provider.secrets)
    else expect(await refusalOf(redeem(state, { cookie }))).toContain('expired')
  })

  test.each<[string, (cookie: string, other: string) => Record<string, string>, string]>([
    ['without any cookie', () => mozilla, 'missing'],
    ['with the cookie of another flow', (_, other) => ({ cookie: other }), 'missing'],
    [
      "with the value of another flow's cookie",
      (cookie, other) => ({ cookie: `${cookie.split('=')[0]}=${other.split('=')[1]}` }),
      'does not match',
    ],
    [
      'with its cookie, and the same of another value',
      (cookie) => ({ cookie: `${cookie}; ${cookie.split('=')[0]}=${randomToken()}` }),
      'missing',
    ],
    ['with its cookie in quotes', (cookie) => ({ cookie: cookie.replace(/=(.*)/, '="$1"') }), 'does not match'],
    ['with an empty cookie', (cookie) => ({ cookie: cookie.replace(/=.*/, '=') }), 'does not match'],
    ['with a huge cookie', (cookie) => ({ cookie: cookie.replace(/=.*/, `=${'a'.repeat(20_000)}`) }), 'does not match'],
    ['with its cookie under the name for http', (cookie) => ({ cookie: cookie.replace('__Host-', '') }), 'missing'],
    ['with a cookie of our service only', () => ({ cookie: 'token=abc' }), 'missing'],
    ['with nothing but Sec-Fetch-Site', () => ({ 'sec-fetch-site': 'none' }), 'missing'],
  ])('%s is refused, and stays valid for its own browser', async (_, headersOf, reason) => {
    const { begin, redeem, provider } = subject()
    const { state, cookie } = await begin()
    const { cookie: other } = await begin()
    expect(await refusalOf(redeem(state, headersOf(cookie, other)))).toContain(reason)
    expect(await redeem(state, { ...mozilla, cookie })).toEqual(provider.secrets)
  })

  test('needs no cookie from a client that is not a browser', async () => {
    const { begin, redeem, provider } = subject()
    const { state } = await begin({ 'user-agent': 'curl/8.1' })
    expect(await redeem(state, { 'user-agent': 'curl/8.1' })).toEqual(provider.secrets)
  })

  test('works in two tabs of one browser, in any order', async () => {
    const { begin, redeem, provider } = subject()
    const [one, two] = [await begin(), await begin()]
    const cookie = `${one.cookie}; ${two.cookie}`
    expect(await redeem(two.state, { cookie })).toEqual(provider.secrets)
    expect(await redeem(one.state, { cookie })).toEqual(provider.secrets)
  })

  test.each([
    ['an unknown token', randomToken()],
    ['a key of every object', '__proto__'],
    ['its own hash', sha256('x')],
    ['a byte', 'a'],
  ])('that is %s is refused', async (_, state) => {
    expect(await refusalOf(subject().redeem(state, {}))).toContain('unknown')
  })

  test('of another identity provider is refused', async () => {
    const { begin, with: changed } = subject()
    const { state, cookie } = await begin()
    expect(await refusalOf(changed({ realm: 'https://other.test' }).redeem({ state }, request({ cookie })))).toContain(
      'another identity provider',
    )
  })

  test('that is refused names the address to start again at', async () => {
    await expect(subject().redeem('x', {})).rejects.toMatchObject({
      advice: expect.stringContaining('Start again at https://svc.test,'),
    })
  })

  test('has a cookie that is deleted with the attributes it was set with', async () => {
    const { begin, flows: under } = subject()
    const { state, own } = await begin()
    expect(under.cookieDeletion(state)).toBe(own.replace(/=[^;]+/, '=').replace('Max-Age=600', 'Max-Age=0'))
  })
})

describe('the store of flows', () => {
  test('holds 200 flows per client; the next one evicts the oldest of the same client', async () => {
    const { begin, redeem } = subject({ store: memoryStores(() => 1_800_000_000_000).open('states', flowStoreOptions) })
    const other = await begin({}, 'another client')
    const all = await Promise.all(Array.from({ length: 201 }, () => begin({}, 'client')))
    await refusalOf(redeem(all[0]?.state ?? '', {}))
    for (const state of [all[1]?.state, all[200]?.state, other.state]) await redeem(state ?? '', {})
  })

  test('parses a serialised flow, and rejects other values', async () => {
    const { begin, store, redeem } = subject()
    const { state } = await begin()
    const [[key, { value, owner }] = ['', { value: undefined, owner: '' }]] = [...store.entries]
    const parsed = flowStoreOptions.parse(JSON.parse(JSON.stringify(value)))
    expect(parsed).toEqual(value)
    if (parsed !== undefined) store.entries.set(key, { value: parsed, owner })
    await redeem(state, {})
    const flow = { secrets: {}, cookieHash: 'h', created: 1, realm: 'r' }
    expect(flowStoreOptions.parse(flow)).toEqual(flow)
    for (const broken of [
      null,
      [],
      'x',
      {},
      { ...flow, secrets: null },
      { ...flow, cookieHash: 1 },
      { ...flow, created: '1' },
      { ...flow, realm: undefined },
    ]) {
      expect(flowStoreOptions.parse(broken)).toBeUndefined()
    }
  })
})
