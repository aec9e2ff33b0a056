import { expect, test } from 'bun:test'
import { pick } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { goodText } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import type { OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { describeInChromium } from '../page/in-chromium.ts'
import { inSignIn, passForms, rememberCookies, signInLink, signOutLine } from '../page/sign-in.ts'
import { startSignIn, type SignInRig } from './rig.ts'

const avatar = 'role=button[name=/^Account of/]'

/** Sends a chat request from a page, with its cookies. */
const chatInPage = `fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
  })
  .then(async (response) => ({ status: response.status, body: await response.json() }))`

describeInChromium('in Chromium', () => {
  let rig: SignInRig<OidcProvider>, browser: Person, tab: Tab
  inSignIn((scene) => ({ rig, person: browser, tab } = scene), { form: 'chromium' })

  /** The focused element, with its label. */
  async function focused(tab: Tab): Promise<string> {
    return String(
      await tab.evaluate(
        '((element) => `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent.trim()}`)' +
          '(document.activeElement)',
      ),
    )
  }

  /** Presses Tab until an element with a matching label has the focus. */
  async function tabTo(tab: Tab, name: RegExp): Promise<void> {
    for (let times = 0; !name.test(await focused(tab)); times++) {
      if (times === 40) throw new Error(`Tab never gets to ${String(name)}`)
      await tab.press('Tab')
    }
  }

  test('a user signs in from the page, sees the own name, chats, signs out and is refused', async () => {
    await tab.goto(`${rig.service.url}/`)
    expect(pick(await tab.evaluate(chatInPage), 'status')).toBe(401)
    await tab.click(signInLink)
    await passForms(tab, rig, 'ada')
    await tab.click(avatar)
    await tab.waitFor(signOutLine)
    for (const shown of ['ada Ä. Lovelace', 'ada@']) expect(await tab.text()).toContain(shown)
    const answer = await tab.evaluate(chatInPage)
    expect([pick(answer, 'status'), pick(answer, 'body', 'choices', 0, 'message', 'content')]).toEqual([
      200,
      goodText(),
    ])
    await rememberCookies(browser, rig)
    const token = (await browser.cookies()).get('token') ?? ''
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect([
      (await tab.url()).includes('session'),
      await tab.evaluate('document.cookie'),
      await tab.evaluate('document.referrer'),
    ]).toEqual([false, '', ''])
    expect(String(await tab.evaluate('document.documentElement.outerHTML')).includes(token)).toBe(false)
    await tab.click(signOutLine)
    await tab.waitFor(signInLink)
    expect(pick(await tab.evaluate(chatInPage), 'status')).toBe(401)
    expect((await rig.ask({ 'x-session-token': token })).status).toBe(401)
    expect((await browser.cookies()).has('token')).toBe(false)
    // The complaints also contain missing pictures.
    expect((await tab.complaints()).filter((complaint) => /polic|trusted/i.test(complaint))).toEqual([])
  }, 30_000)

  test('by keyboard alone', async () => {
    await tab.goto(`${rig.service.url}/`)
    await tab.waitFor(signInLink)
    await tab.press('Tab')
    expect(await focused(tab)).toMatch(/^BUTTON Sign in with/)
    await tab.press('Enter')
    await tab.waitFor('input[name=login]:focus')
    await tab.type('id-grace')
    await tab.press('Tab')
    await tab.type('any')
    await tab.press('Enter')
    await tab.waitFor('role=button[name=Continue]')
    await tab.press('Enter')
    await tab.waitFor(avatar)
    await rememberCookies(browser, rig)
    await tabTo(tab, /^BUTTON Account of/)
    await tab.press('Enter')
    await tab.waitFor(signOutLine)
    expect(await tab.text()).toContain('grace Ä. Lovelace')
    expect(await focused(tab)).toBe('BUTTON System')
    await tab.press('s')
    expect(await focused(tab)).toBe('BUTTON Sign Out')
    await tab.press('Enter')
    await tab.waitFor(signInLink)
  }, 30_000)

  test('a page of another site, or of another port, cannot use the session: neither chat nor sign out', async () => {
    await tab.goto(`${rig.service.url}/auth/provider`)
    await passForms(tab, rig, 'ada')
    await rememberCookies(browser, rig)
    const token = (await browser.cookies()).get('token') ?? ''
    const before = rig.upstream.hits.length
    using evil = evilPages(rig.service.url)
    for (const host of ['localhost', '127.0.0.1']) {
      for (const form of ['chat', 'logout', 'start']) {
        const other = browser.tab(`${host} ${form}`)
        await other.goto(`http://${host}:${evil.port}/${form}`)
        await other.click('button')
        await other.waitForUrl(`${rig.service.url}/**`)
        // The browser adds the cookie to forms of the same site, not to those of another site.
        if (form === 'chat')
          expect(await other.text()).toContain(host === '127.0.0.1' ? 'cross_site_request' : 'origin_not_allowed')
      }
      const script = browser.tab(`${host} script`)
      await script.goto(`http://${host}:${evil.port}/script`)
      const outcome = await script.evaluate(
        `fetch('${rig.service.url}/v1/models', { credentials: 'include' })
          .then((response) => response.text(), () => 'not read')`,
      )
      expect([host, outcome]).toEqual([host, 'not read'])
    }
    expect(rig.upstream.hits.length).toBe(before)
    expect((await rig.ask({ 'x-session-token': token })).status).toBe(200)
    expect((await browser.cookies()).get('token')).toBe(token)
  }, 30_000)

  test('a name with markup and an invalid picture › are shown as text, and no script runs', async () => {
    const serviceName = '</title><script>alert(7)</script>"\'&amp; 👩‍🚀 مختبر'
    const note = 'For <b>members</b> &amp; "friends" 👩‍🚀 مختبر'
    await using other = await startSignIn(startGithub, { name: serviceName, config: { sign_in_note: note } })
    await tab.goto(`${other.service.url}/`)
    await tab.waitFor(signInLink)
    expect(await tab.textOf('h1')).toBe(serviceName)
    expect(await tab.textOf('main')).toContain(note)
    expect(await tab.evaluate('document.title')).toBe(serviceName)
    expect(
      await tab.evaluate(
        'fetch(document.querySelector("link[rel=manifest]").href).then((response) => response.json())',
      ),
    ).toMatchObject({ name: serviceName, short_name: serviceName })
    const name = '"><img src=x onerror=alert(7)></title><script>alert(7)</script>'
    const user = JSON.stringify({ login: 'ada', id: 9, name, avatar_url: 'javascript:alert(7)', email: null })
    other.provider.use('user', 'ada', (exchange) =>
      exchange.write(
        Buffer.from(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${user.length}\r\n\r\n${user}`,
        ),
      ),
    )
    await tab.goto(`${other.service.url}/auth/provider`)
    await tab.click(avatar)
    await tab.waitFor(signOutLine)
    expect(await tab.text()).toContain(name)
    expect(await tab.textOf('#sidebar')).toStartWith(serviceName)
    expect(await tab.evaluate('document.title')).toBe(`Chat · ${serviceName}`)
    expect([
      await tab.evaluate('document.querySelectorAll("img, script:not([src])").length'),
      await tab.complaints(),
    ]).toEqual([0, []])
    for (const value of (await browser.cookies()).values()) other.remember(value)
  }, 30_000)

  test('a link with another user’s session › does not sign in', async () => {
    const { token } = await rig.signIn('mallory')
    await tab.goto(`${rig.service.url}/?session=${token}`)
    await tab.waitFor(signInLink)
    expect([
      pick(await tab.evaluate(chatInPage), 'status'),
      (await browser.cookies()).has('token'),
      (await tab.url()).includes('session'),
    ]).toEqual([401, false, false])
  }, 30_000)
})

/** Pages of another site that send requests to the service. */
function evilPages(service: string): Bun.Server<undefined> & Disposable {
  const forms: Readonly<Record<string, string>> = {
    // JSON that a form can send.
    '/chat': `<form method="post" enctype="text/plain" action="${service}/v1/chat/completions">
      <input name='{"model":"m","messages":[{"role":"user","content":"hello' value='"}]}'><button>go</button></form>`,
    '/logout': `<form method="post" action="${service}/auth/logout"><button>go</button></form>`,
    '/start': `<form method="post" action="${service}/auth/provider"><button>go</button></form>`,
    '/script': '<p>a page with a script</p>',
  }
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      new Response(`<!doctype html>${forms[new URL(url).pathname] ?? ''}`, {
        headers: { 'content-type': 'text/html' },
      }),
  })
}
