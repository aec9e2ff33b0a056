import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WireError } from '../../formats/error.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { signInApi, type SignInApiOptions } from './sign-in-api.ts'

const wanted = {
  ...{ provider: 'github', clientId: 'abc', user: 'ada', others: ['grace', 'id:7'], hasKeys: true },
  origin: 'http://127.0.0.1:8000',
}
const path = '/api/sign-in'

interface Asking extends Partial<SignInApiOptions> {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The status with the code of an error, and what was asked for. */
async function call(method: 'GET' | 'POST', to: string, body?: unknown, { url, headers, ...more }: Asking = {}) {
  const asked: unknown[] = []
  const routes = router(
    signInApi({
      state: async () => ({ file: '/config.json', providers: [], callbackPath: '/back', mayAddKeys: true }),
      draft: async (change) => (asked.push(change), { version: 'v', files: [], faults: [] }),
      change: async (change) => void asked.push(change),
      isOwner: () => true,
      mayEdit: () => true,
      bodyTimes: { totalMs: 1_000, idleMs: 1_000 },
      ...more,
    }),
  )
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const request = new Request(`${url ?? 'http://127.0.0.1:8000'}${to}`, { method, headers: headers ?? {}, ...text })
  try {
    const response = await routes.find(method, to).handle(contextOf(request))
    return [response.status, ...asked]
  } catch (error) {
    if (error instanceof WireError) return [error.status, error.code, ...asked]
    throw error
  }
}

describe('the routes of the set-up of sign-in', () => {
  test('show, draft and make it', async () => {
    expect(await call('GET', path)).toEqual([200])
    expect(await call('POST', `${path}/draft`, wanted)).toEqual([200, wanted])
    const whole = { ...wanted, clientSecret: 'hush', version: 'a.b', place: 'https://git.example.org' }
    expect(await call('POST', path, whole)).toEqual([200, whole])
  })

  test.each([
    ['GET', path],
    ['POST', path],
    ['POST', `${path}/draft`],
  ] as const)('%s %s is for owners, on this machine or encrypted', async (method, to) => {
    const body = method === 'GET' ? undefined : wanted
    expect(await call(method, to, body, { isOwner: () => false })).toEqual([403, 'owners_only'])
    expect(await call(method, to, body, { mayEdit: () => false })).toEqual([403, 'not_from_here'])
    const far = { url: 'http://svc.example.org' }
    expect(await call(method, to, body, far)).toEqual([403, 'not_encrypted'])
    const origin = 'https://svc.example.org'
    const behindProxy = { ...far, headers: { origin } }
    expect((await call(method, to, body && { ...body, origin }, behindProxy))[0]).toBe(200)
  })

  test.each([
    ['a name with blanks', { user: 'ada lovelace' }],
    ['a name with a leading blank', { user: ' ada' }],
    ['a name of a variable', { user: '$USER' }],
    ['another one with a comma', { others: ['ada,grace'] }],
    ['too many others', { others: Array.from({ length: 501 }, (_, index) => `u${index}`) }],
    ['a secret of a variable', { clientSecret: '$SECRET' }],
    ['a secret with a line break', { clientSecret: 'a\nb' }],
    ['an address with a path', { origin: 'http://127.0.0.1:8000/x' }],
    ['no client', { clientId: undefined }],
  ])('refuse %s', async (_name, fault) => {
    expect((await call('POST', path, { ...wanted, ...fault }))[0]).toBe(400)
  })

  test('refuse an address at which the page is not open', async () => {
    const headers = { origin: 'http://127.0.0.1:9000' }
    expect(await call('POST', path, wanted, { headers })).toEqual([400, 'invalid_value'])
  })

  test('refuse a large body', async () => {
    expect((await call('POST', path, { ...wanted, more: 'x'.repeat(70_000) }))[0]).toBe(413)
  })

  test('pass on nothing that a file would read in another way, whatever is sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ user: fc.string(), clientSecret: fc.string() }), async (more) => {
        const [status, change] = await call('POST', path, { ...wanted, ...more })
        if (status !== 200) return expect(status).toBe(400)
        expect(change).toMatchObject({
          user: expect.stringMatching(/^[^$@\s,][^\s,]*$/),
          clientSecret: expect.stringMatching(/^[^$\s][^\r\n]*$/),
        })
      }),
    )
  })
})
