import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fakeStore } from '../../testing.ts'
import { ada } from '../testing.ts'
import { credentials } from './credentials.ts'
import { randomToken } from './random-token.ts'
import { sessions, type Session } from './sessions.ts'

const grace = { ...ada, userId: '1906', userName: 'grace' }

async function subject() {
  const store = fakeStore<Session>()
  const known = sessions({
    store,
    now: () => 1_800_000_000_000,
    realm: 'r',
    restrictTo: undefined,
    names: fakeStore<readonly string[]>(),
    hasCaselessNames: true,
  })
  const under = credentials(known, 'token')
  const [adas, graces, dead] = [await known.begin(ada), await known.begin(grace), randomToken()]
  store.calls = 0
  /** Replaces ADA, GRACE and DEAD by their tokens. */
  function request(headers: Readonly<Record<string, string>>, target = '/auth'): Request {
    const filled = Object.entries(headers).map(([name, value]): [string, string] => [name, fill(value)])
    return new Request(`https://svc.test${fill(target)}`, { headers: filled })
  }
  const fill = (text: string) => text.replaceAll('ADA', adas).replaceAll('GRACE', graces).replaceAll('DEAD', dead)
  async function who(headers: Readonly<Record<string, string>>): Promise<string> {
    const found = await under.find(request(headers))
    return found.kind === 'valid' ? `${found.session.userName} by ${found.by}` : found.kind
  }
  return { store, under, who, request, adas, dead }
}

describe('a credential', () => {
  test.each<[Record<string, string>, string]>([
    [{}, 'absent'],
    [{ 'X-Session-Token': 'ADA' }, 'ada by header'],
    [{ 'x-session-token': ' ADA ' }, 'ada by header'],
    [{ authorization: 'Bearer ADA' }, 'ada by header'],
    [{ authorization: 'bEARER   ADA' }, 'ada by header'],
    [{ cookie: 'token=ADA' }, 'ada by cookie'],
    [{ cookie: 'a=b; token=ADA; c=d' }, 'ada by cookie'],
    [{ cookie: 'token=ADA; token=ADA' }, 'ada by cookie'],
    // X-Session-Token first, without fallback.
    [{ 'x-session-token': 'ADA', authorization: 'Bearer GRACE', cookie: 'token=GRACE' }, 'ada by header'],
    [{ 'x-session-token': 'DEAD', authorization: 'Bearer ADA', cookie: 'token=ADA' }, 'invalid'],
    [{ 'x-session-token': '', cookie: 'token=ADA' }, 'invalid'],
    [{ 'x-session-token': 'ADA, GRACE', cookie: 'token=ADA' }, 'invalid'],
    [{ 'x-session-token': 'short', cookie: 'token=ADA' }, 'invalid'],
    // Bearer next, if it is a valid session.
    [{ authorization: 'Bearer ADA', cookie: 'token=GRACE' }, 'ada by header'],
    [{ authorization: 'Bearer an-api-key', cookie: 'token=ADA' }, 'ada by cookie'],
    [{ authorization: 'Bearer DEAD', cookie: 'token=ADA' }, 'ada by cookie'],
    [{ authorization: 'Bearer DEAD' }, 'invalid'],
    [{ 'x-api-key': 'ADA', cookie: 'token=GRACE' }, 'ada by header'],
    [{ 'x-api-key': 'GRACE', authorization: 'Bearer ADA' }, 'ada by header'],
    [{ 'x-api-key': 'ADA', authorization: 'Bearer an-api-key' }, 'ada by header'],
    [{ 'x-api-key': 'ADA', authorization: 'Bearer DEAD' }, 'ada by header'],
    [{ 'x-api-key': 'an-api-key', cookie: 'token=ADA' }, 'ada by cookie'],
    [{ 'x-api-key': 'DEAD' }, 'invalid'],
    [{ authorization: 'Bearer an-api-key' }, 'absent'],
    [{ authorization: 'Bearer' }, 'absent'],
    [{ authorization: 'Bearer ' }, 'absent'],
    [{ authorization: 'BearerADA' }, 'absent'],
    [{ authorization: 'Bearer ADA x' }, 'absent'],
    [{ authorization: 'Bearer ADA, Bearer GRACE' }, 'absent'],
    [{ authorization: 'Bearer\tADA' }, 'absent'],
    [{ authorization: 'Basic ADA' }, 'absent'],
    [{ authorization: 'ADA' }, 'absent'],
    [{ authorization: 'Token ADA' }, 'absent'],
    [{ authorization: `Bearer ${'x'.repeat(100_000)}` }, 'absent'],
    // The cookie last, if it has one value.
    [{ cookie: 'token=DEAD' }, 'invalid'],
    [{ cookie: 'token=nonsense' }, 'invalid'],
    [{ cookie: 'token=' }, 'absent'],
    [{ cookie: 'token=ADA; token=GRACE' }, 'invalid'],
    [{ cookie: 'token=ADA; token=x' }, 'invalid'],
    [{ cookie: 'token=; token=ADA' }, 'invalid'],
    [{ cookie: 'Token=ADA' }, 'absent'],
    [{ cookie: '__Host-token=ADA' }, 'absent'],
    [{ cookie: 'token="ADA"' }, 'invalid'],
    [{ cookie: 'xtoken=ADA; token2=ADA; session=ADA' }, 'absent'],
    // Nothing else counts.
    [
      {
        'proxy-authorization': 'Bearer ADA',
        'x-forwarded-user': 'ada',
        'x-auth-request-user': 'ada',
        referer: 'https://svc.test/?session=ADA',
      },
      'absent',
    ],
  ])('%j is %s', async (headers, expected) => {
    expect(await (await subject()).who(headers)).toBe(expected)
  })

  test('is not read from the URL', async () => {
    const { under, request } = await subject()
    for (const target of ['/?session=ADA', '/auth?token=ADA&access_token=ADA', '/v1/models?key=ADA'])
      expect(await under.find(request({}, target))).toEqual({ kind: 'absent' })
  })

  test('without the form of a token is not looked up in the store', async () => {
    const { who, store } = await subject()
    await who({
      authorization: 'Bearer an-api-key',
      cookie: Array.from({ length: 2_000 }, (_, index) => `c${index}=x; token=x`).join('; '),
    })
    await who({ 'x-session-token': 'x' })
    expect(store.calls).toBe(0)
  })

  test('by the thousand is looked up once', async () => {
    const { who, store } = await subject()
    expect(
      await who({
        cookie: Array.from({ length: 1_000 }, randomToken)
          .map((token) => `token=${token}`)
          .join('; '),
      }),
    ).toBe('invalid')
    expect(store.calls).toBe(0)
    expect(await who({ cookie: Array.from({ length: 1_000 }, () => 'token=ADA').join('; ') })).toBe('ada by cookie')
    expect(store.calls).toBe(1)
  })

  test('of any form throws nothing', async () => {
    const { under } = await subject()
    const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) })
    await fc.assert(
      fc.asyncProperty(text, text, text, async (authorization, cookie, token) => {
        const headers = { authorization, cookie }
        expect(['absent', 'invalid']).toContain((await under.find(new Request('https://svc.test/', { headers }))).kind)
        expect(
          await under.find(new Request('https://svc.test/', { headers: { ...headers, 'x-session-token': token } })),
        ).toEqual({ kind: 'invalid' })
      }),
    )
  })
})

describe('a request that needs one', () => {
  test('and has none is 401 authentication_required', async () => {
    const { under, request } = await subject()
    await expect(under.require(request({}))).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'authentication_required',
      message: 'Authentication required',
      headers: { 'www-authenticate': 'Bearer realm="svc"' },
    })
  })

  test.each<[Record<string, string>]>([
    [{ 'x-session-token': 'x' }],
    [{ authorization: 'Bearer DEAD' }],
    [{ cookie: 'token=DEAD' }],
    [{ cookie: 'token=ADA; token=GRACE' }],
  ])('and has %j is 401 invalid_session', async (headers) => {
    const { under, request } = await subject()
    await expect(under.require(request(headers))).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_session',
      message: 'Invalid or expired session',
      headers: { 'www-authenticate': 'Bearer realm="svc"' },
    })
  })
})

describe('tokens', () => {
  test('are all tokens of a request, with at most four from cookies', async () => {
    const { under, request, adas, dead } = await subject()
    expect(
      under.tokens(
        request({
          'x-session-token': 'ADA',
          authorization: 'Bearer DEAD',
          cookie: 'token=1; token=2; token=2; token=; token=3; token=4; token=5',
        }),
      ),
    ).toEqual({ byHeader: [adas, dead], byCookie: ['1', '2', '3', '4'] })
    expect(under.tokens(request({ authorization: 'Bearer an-api-key' }))).toEqual({ byHeader: [], byCookie: [] })
  })
})
