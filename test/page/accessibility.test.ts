import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startChromium, type Chromium, type PersonOptions, type Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { needs } from '../needs.ts'
import { startRig, type Rig } from '../rig.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { violationsOf } from './axe.ts'
import { signInThroughPage } from './sign-in.ts'

const executable = needs('chromium')
let chromium: Chromium, rig: Rig, closed: SignInRig<OidcProvider>

beforeAll(async () => {
  if (executable === undefined) return
  ;[chromium, rig, closed] = await Promise.all([startChromium(executable), startRig([(exchange) => exchange.write('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n'), good()]), startSignIn(startOidcProvider)])
})
afterAll(async () => {
  if (executable === undefined) return
  await chromium.close()
  await rig[Symbol.asyncDispose]()
  await closed[Symbol.asyncDispose]()
})

const looks: readonly (readonly [string, PersonOptions])[] = [
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 800 } }],
  ['phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true }],
]

/** What stands on the page, by what one does to come there from what stood there before. */
const steps: readonly (readonly [string, (tab: Tab, url: string) => Promise<void>])[] = [
  ['a new conversation', async (tab, url) => { await tab.goto(`${url}/`); await tab.waitFor('#message') }],
  ['an answer', async (tab) => { await tab.fill('#message', 'Hello'); await tab.press('Enter'); await tab.waitFor('text=/first token/i') }],
  ['the models', async (tab) => { await tab.press('Control+/'); await tab.waitFor('[role="listbox"]') }],
  ['the settings of a conversation', async (tab) => { await tab.press('Escape'); await tab.click('[aria-label="Settings"]'); await tab.waitFor('text=System prompt') }],
  ['the keys', async (tab) => { await tab.press('Escape'); await tab.evaluate('document.activeElement.blur()'); await tab.press('?'); await tab.waitFor('dialog >> text=Show this list') }],
  ['the menu of themes', async (tab) => { await tab.press('Escape'); await tab.click('[aria-label^="Theme"]'); await tab.waitFor('[role="menu"] >> text=Light') }],
  ['the providers', async (tab, url) => { await tab.press('Escape'); await tab.goto(`${url}/#/providers`); await tab.waitFor('h1') ; await tab.waitFor('text=/429|rate limit/i') }],
  ['the requests', async (tab, url) => { await tab.goto(`${url}/#/requests`); await tab.waitFor('h1'); await tab.waitFor('text=/→/') }],
]

describe.skipIf(executable === undefined)('axe-core finds nothing to mend', () => {
  test.each(looks)('%s', async (_, look) => {
    const tab = chromium.person(look).tab()
    const found: Record<string, readonly string[]> = {}
    for (const [name, go] of steps) {
      await go(tab, rig.service.url)
      const violations = await violationsOf(tab)
      if (violations.length > 0) found[name] = violations
    }
    expect(found).toEqual({})
    expect(await tab.complaints()).toEqual([])
  }, 60_000)

  test.each(looks)('%s, where people sign in', async (_, look) => {
    const browser = chromium.person(look), tab = browser.tab()
    await tab.goto(`${closed.service.url}/`)
    await tab.waitFor('text=Sign in with')
    expect(await violationsOf(tab)).toEqual([])
    await signInThroughPage(browser, closed)
    await tab.waitFor('#message')
    await tab.click('[aria-label^="Account of"]')
    await tab.waitFor('text=Sign Out')
    expect(await violationsOf(tab)).toEqual([])
  }, 60_000)
})
