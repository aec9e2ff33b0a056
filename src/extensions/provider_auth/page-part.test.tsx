import { afterAll, afterEach, describe, expect, spyOn, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { part } from './page-part.tsx'

const SignIn = part.replace?.SignIn ?? (() => null)
const entries = part.add?.userMenu ?? []
const [signOut, signOutEverywhere] = entries

describe('the SignIn of provider_auth', () => {
  const html = (settings: Readonly<Record<string, string>>) =>
    renderToStaticMarkup(
      <SignIn settings={{ startUrl: '/auth/provider', ...settings }} enterToken={async () => false} />,
    ).replace(/ class="[^"]*"/g, '')

  test('is a form with a button that names the identity provider, after its first letter', () => {
    expect(html({ providerName: 'gitHub' })).toBe(
      '<form action="/auth/provider"><button type="submit">' +
        '<span aria-hidden="true" data-initial="G"></span>Sign in with gitHub</button></form>',
    )
  })

  test('has the note above, and the icon of the identity provider', () => {
    expect(html({ providerName: 'A', note: 'For the lab.', icon: 'data:image/png;base64,AA==' })).toBe(
      '<p dir="auto">For the lab.</p><form action="/auth/provider"><button type="submit">' +
        '<img src="data:image/png;base64,AA==" alt=""/>Sign in with A</button></form>',
    )
  })

  test('escapes the name of the identity provider', () => {
    expect(html({ providerName: '<b>&' })).toContain('Sign in with &lt;b&gt;&amp;</button>')
  })
})

describe('Sign Out', () => {
  const ask = spyOn(globalThis, 'fetch')
  afterEach(() => {
    ask.mockReset()
  })
  // Other test files run in this process.
  afterAll(() => ask.mockRestore())
  const answering = (status: number) =>
    ask.mockImplementation(Object.assign(async () => new Response(null, { status }), { preconnect() {} }))

  test('is a menu item, and sends POST /auth/logout', async () => {
    answering(200)
    await signOut?.run()
    expect(signOut?.label).toBe('Sign Out')
    expect(ask.mock.calls).toEqual([['/auth/logout', { method: 'POST', cache: 'no-store' }]])
  })

  test.each([403, 429, 503])('reports the failure when the service answers with %p', async (status) => {
    answering(status)
    await expect(signOut?.run()).rejects.toThrow(`answered with ${status}`)
  })

  test('reports that the service cannot be reached', async () => {
    ask.mockImplementation(Object.assign(() => Promise.reject(new TypeError('fetch failed')), { preconnect() {} }))
    await expect(signOut?.run()).rejects.toThrow('cannot be reached')
  })

  test('Everywhere asks with JSON, and reports the failure without a valid session', async () => {
    ask.mockImplementation(Object.assign(async () => Response.json({ success: true, ended: 2 }), { preconnect() {} }))
    await signOutEverywhere?.run()
    expect(signOutEverywhere?.label).toBe('Sign Out Everywhere')
    expect(ask.mock.calls).toEqual([
      [
        '/auth/logout',
        {
          method: 'POST',
          cache: 'no-store',
          headers: { 'content-type': 'application/json' },
          body: '{"everywhere":true}',
        },
      ],
    ])
    ask.mockImplementation(Object.assign(async () => Response.json({ success: true, ended: 0 }), { preconnect() {} }))
    await expect(signOutEverywhere?.run()).rejects.toThrow('no other was ended')
  })
})
