import { afterEach, expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { configPath, configText, startProtected, startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { complaintsOf } from './complaints.ts'
import { ask, converse } from './conversation.ts'
import { describeInChromium } from './in-chromium.ts'
import { account, inSignIn, passForms, signInLink, signInThroughPage } from './sign-in.ts'

let rig: SignInRig<OidcProvider>, browser: Person, tab: Tab
inSignIn((scene) => ({ rig, person: browser, tab } = scene))

/** Ends the session on the server, without the browser. */
async function endSession(): Promise<void> {
  const token = (await browser.cookies()).get('token') ?? ''
  const response = await fetch(`${rig.service.url}/auth/logout`, {
    method: 'POST',
    headers: { 'x-session-token': token },
  })
  expect(response.status).toBe(200)
}

/** Changes `restrict_to`, and waits until it is loaded. */
async function restrictTo(names: string | undefined): Promise<void> {
  const reloads = (): number => rig.service.output.split('extension reloaded').length
  const before = reloads()
  await rig.configure({ restrict_to: names })
  for (let round = 0; reloads() === before; round++) {
    if (round === 500) throw new Error('not reloaded')
    await Bun.sleep(10)
  }
}

/** Number of sign-ins begun. */
async function starts(): Promise<number> {
  return (await browser.asked()).filter((address) => new URL(address).pathname === '/auth/provider').length
}

describeInChromium('a session that ends in the middle of work', () => {
  afterEach(async () => {
    expect(await complaintsOf(tab)).toEqual([])
  })

  const dialog = 'dialog >> text=Your session has ended'

  test('leads to a new sign-in in place; the sent message is kept and answered afterwards', async () => {
    await signInThroughPage(browser, rig)
    await tab.waitFor('#message')
    const address = await converse(tab, 'The first question')
    await endSession()
    await ask(tab, 'The second question')
    await tab.waitFor(dialog)
    await tab.waitFor('article >> text=You are not signed in any more')
    await tab.click('dialog >> role=button[name=/sign in with/i]')
    await tab.waitForUrl(address)
    await tab.waitFor('article >> text=The second question')
    await tab.click('article >> role=button[name="Retry"] >> nth=0')
    await tab.until(
      `document.querySelectorAll('article').length === 4 &&
        document.querySelector('article:last-of-type').innerText.includes('good-2')`,
    )
    expect(await tab.text()).not.toContain('You are not signed in any more')
    expect(await starts()).toBe(2)
  }, 20_000)

  test('keeps unsent text; a sign-in that was put off can be resumed', async () => {
    await signInThroughPage(browser, rig)
    await tab.waitFor('#message')
    const address = await converse(tab, 'The first question')
    await tab.fill('#message', 'Half a thought')
    await endSession()
    await tab.evaluate(`dispatchEvent(new Event('focus'))`)
    await tab.waitFor(dialog)
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(`document.querySelector('#message').value`)).toBe('Half a thought')
    await tab.click('role=button[name="Sign in again"]')
    await tab.click('dialog >> role=button[name=/sign in with/i]')
    await tab.waitForUrl(address)
    await tab.until(`document.querySelector('#message')?.value === 'Half a thought'`)
    await tab.waitFor('article >> text=The first question')
  }, 20_000)

  test('and goes on in another tab is gone on with here', async () => {
    await signInThroughPage(browser, rig)
    await tab.waitFor('#message')
    await tab.fill('#message', 'Half a thought')
    await endSession()
    await tab.evaluate(`dispatchEvent(new Event('focus'))`)
    await tab.waitFor(dialog)
    const other = browser.tab('other')
    await other.goto(`${rig.service.url}/`)
    await other.click(signInLink)
    await other.waitFor(account)
    await tab.evaluate(`dispatchEvent(new Event('focus'))`)
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(`document.querySelector('#message').value`)).toBe('Half a thought')
  }, 20_000)

  test('because the service was restarted is asked for anew, too', async () => {
    await using own = await startSignIn(startOidcProvider)
    await signInThroughPage(browser, own)
    await tab.waitFor('#message')
    await own.service.stop()
    await using again = await startProtected(
      own.upstream.url,
      { [configPath]: configText(own.provider, own.registration) },
      { port: own.service.port },
    )
    await ask(tab, 'Is anybody there?')
    await tab.waitFor(dialog)
    await tab.click('dialog >> role=button[name=/sign in with/i]')
    await tab.waitFor(account)
    expect(await tab.url()).toStartWith(`${again.url}/#/chat/`)
    await tab.waitFor('article >> text=Is anybody there?')
  }, 20_000)
})

describeInChromium('a sign-in that does not succeed', () => {
  afterEach(async () => {
    expect(await complaintsOf(tab)).toEqual([])
  })

  /** Checks the page of an error: its text, its link back, and that it does not redirect. */
  async function goBackFrom(...words: readonly string[]): Promise<void> {
    await tab.waitFor('role=link[name="Back to the start"]')
    const text = await tab.text()
    for (const word of words) expect(text).toContain(word)
    const begun = await starts()
    await tab.click('role=link[name="Back to the start"]')
    await tab.waitFor(signInLink)
    expect([await starts(), await tab.url()]).toEqual([begun, `${rig.service.url}/`])
  }

  test('by a refusal at the identity provider is explained, with links back and on', async () => {
    await tab.goto(`${rig.service.url}/`)
    await tab.click(signInLink)
    await tab.click('text=Cancel')
    await goBackFrom('Access Denied')
    await tab.click(signInLink)
    await passForms(tab, rig, 'ada')
    await tab.waitFor(account)
  })

  test('by restrict_to is explained, once each time', async () => {
    await restrictTo('grace')
    await tab.goto(`${rig.service.url}/`)
    await tab.click(signInLink)
    await passForms(tab, rig, 'ada')
    await tab.waitFor('text=/You are signed in at .* as ada\\. Ask the owner of this service to let you in\\./')
    expect(await tab.evaluate(`document.querySelector('a').textContent`)).toBe('Sign in as someone else')
    await goBackFrom('Access Denied')
    // The identity provider has a session by now, and shows no form.
    await tab.click(signInLink)
    await goBackFrom('Access Denied')
    expect(await starts()).toBe(2)
    await restrictTo(undefined)
    await tab.click(signInLink)
    await tab.waitFor(account)
  }, 20_000)

  test.each([
    ['it was never started', '?code=any&state=any', 'Invalid state parameter'],
    ['the callback is malformed', '', 'Invalid state parameter'],
  ])('because %s is explained in words', async (_, query, words) => {
    await tab.goto(`${rig.service.url}/auth/provider/callback${query}`)
    await goBackFrom(words)
  })

  test('by a failure of the identity provider is explained, without its own text', async () => {
    await tab.goto(`${rig.service.url}/auth/provider`)
    const state =
      (await browser.asked())
        .map((address) => new URL(address).searchParams.get('state'))
        .find((value) => value !== null) ?? ''
    const query = new URLSearchParams({
      error: 'server_error',
      error_description: '<img src=x onerror=alert(1)>Buy this',
      state,
      iss: rig.provider.issuer,
    })
    await tab.goto(`${rig.service.url}/auth/provider/callback?${query.toString()}`)
    expect(await tab.text()).not.toContain('Buy this')
    await goBackFrom('The identity provider')
  })
})
