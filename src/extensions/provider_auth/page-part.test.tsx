import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { part } from './page-part.tsx'

const SignIn = part.replace?.SignIn ?? (() => null)
const [signOut] = part.add?.userMenu ?? []

describe('the SignIn of provider_auth', () => {
  const html = (providerName: string) =>
    renderToStaticMarkup(
      <SignIn settings={{ providerName, startUrl: '/auth/provider' }} useToken={async () => false} />,
    )

  test('is a heading, and a link that says where it leads', () => {
    expect(html('GitHub').replace(/ class="[^"]*"/g, '')).toBe(
      '<h2>Sign in</h2><a href="/auth/provider">Sign in with GitHub</a>',
    )
  })

  test('takes the name of the identity provider for text', () => {
    expect(html('<b>&')).toContain('Sign in with &lt;b&gt;&amp;</a>')
  })
})

describe('Sign Out', () => {
  const ask = spyOn(globalThis, 'fetch')
  afterEach(() => {
    ask.mockReset()
  })
  const answering = (status: number) =>
    ask.mockImplementation(Object.assign(async () => new Response(null, { status }), { preconnect() {} }))

  test('is what the menu says, and asks the service by POST', async () => {
    answering(200)
    await signOut?.run()
    expect(signOut?.label).toBe('Sign Out')
    expect(ask.mock.calls).toEqual([['/auth/logout', { method: 'POST', cache: 'no-store' }]])
  })

  test.each([403, 429, 503])('says that it did not work when the service answers with %p', async (status) => {
    answering(status)
    await expect(signOut?.run()).rejects.toThrow(`answered with ${status}`)
  })

  test('says that the service cannot be reached', async () => {
    ask.mockImplementation(Object.assign(() => Promise.reject(new TypeError('fetch failed')), { preconnect() {} }))
    await expect(signOut?.run()).rejects.toThrow('cannot be reached')
  })
})
