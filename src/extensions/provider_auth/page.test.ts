import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { ada, settingsForTests, signInUnderTest } from './testing.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64')
const between = (html: string, tag: string) => new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? ''

async function pageOf(identity: Partial<typeof ada> | undefined): Promise<{ readonly html: string; readonly response: Response }> {
  const subject = signInUnderTest({ ...settingsForTests, restrictTo: { allows: () => true } })
  const response = await subject.page(identity === undefined ? {} : { headers: { cookie: `token=${await subject.signIn({ ...ada, ...identity })}` } })
  return { html: await response.text(), response }
}

describe('the page', () => {
  test('offers to sign in', async () => {
    const { html, response } = await pageOf(undefined)
    expect(response.status).toBe(200)
    expect(html).toContain('<a href="/auth/provider">Sign in with Example</a>')
    expect(html).not.toContain('Sign out')
  })

  test('shows who is signed in, and lets them sign out', async () => {
    const { html } = await pageOf({})
    expect(html).toContain('<img src="https://pictures.test/ada.png" alt="" referrerpolicy="no-referrer">')
    for (const text of ['Ada Lovelace', '<p>ada<small>ada@mail.test</small></p>', '<form method="post" action="/auth/logout"><button>Sign out</button></form>']) expect(html).toContain(text)
    expect(html).not.toContain('Sign in')
  })

  test.each<[Record<string, string>]>([[{ cookie: 'token=x' }], [{ 'x-session-token': '' }], [{ authorization: 'Bearer x' }], [{ cookie: 'token=1; token=2' }]])('offers to sign in to whoever shows %j', async (headers) => {
    expect(await (await signInUnderTest().page({ headers })).text()).toContain('/auth/provider')
  })

  test('leaves out what is not known', async () => {
    const { html } = await pageOf({ email: '', profileUrl: '' })
    expect(html).not.toContain('<img')
    expect(html).toContain('<p>ada</p>')
  })

  test.each(['http://pictures.test/a.png', 'javascript:alert(1)', 'data:text/html,x', '//pictures.test/a'])('shows no picture from %s', async (profileUrl) => {
    expect((await pageOf({ profileUrl })).html).not.toContain('<img')
  })

  test('writes what people call themselves as text, whatever it is', async () => {
    const text = fc.oneof(fc.constantFrom('</h1><script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'", '&lt;', '<!--'), fc.string())
    await fc.assert(fc.asyncProperty(text, text, text, text, async (displayName, userName, email, path) => {
      const { html } = await pageOf({ displayName, userName, email, profileUrl: `https://pictures.test/${path}` })
      const plain = (await pageOf({ email: email === '' ? '' : 'x' })).html
      expect(html.match(/[<>"']/g)).toEqual(plain.match(/[<>"']/g))
    }), { numRuns: 50 })
  })

  test('takes the name of the identity provider for text too', async () => {
    expect(await (await signInUnderTest({ ...settingsForTests, displayName: '<b>&' }).page()).text()).toContain('Sign in with &#60;b&#62;&#38;</a>')
  })

  test('is kept by nobody, framed by nobody, and runs nothing but its own', async () => {
    const { html, response } = await pageOf({})
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': `default-src 'none'; script-src 'sha256-${sha256(between(html, 'script'))}'; style-src 'sha256-${sha256(between(html, 'style'))}'; `
        + "img-src https: data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    })
    expect(html).not.toMatch(/ (?:style|on\w+)=/)
  })

  test('takes the token out of the address before anything else, and makes no use of it', async () => {
    const subject = signInUnderTest()
    const { html } = await pageOf(undefined)
    expect(html.indexOf('<script>')).toBeLessThan(html.indexOf('<link'))
    const seen: unknown[] = []
    const run = new Function('location', 'history', 'addEventListener', between(html, 'script'))
    run({ search: '?session=secret', pathname: '/' }, { replaceState: (...given: unknown[]) => seen.push(given) }, () => undefined)
    expect(seen).toEqual([[null, '', '/']])
    run({ search: '', pathname: '/' }, { replaceState: (...given: unknown[]) => seen.push(given) }, () => undefined)
    expect(seen).toHaveLength(1)
    expect(between(html, 'script')).not.toMatch(/session|cookie|URLSearchParams|innerHTML/)
    expect(await (await subject.page()).text()).toBe(html)
  })

  test('while nobody knows who is signed in is 503', async () => {
    const subject = signInUnderTest()
    const headers = { cookie: `token=${await subject.signIn()}` }
    for (const store of subject.host.stores.values()) store.isAway = true
    await expect(subject.page({ headers })).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
  })
})
