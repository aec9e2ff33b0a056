import { afterEach, expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import type { OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { provider } from '../harness.ts'
import type { SignInRig } from '../sign-in/rig.ts'
import { complaintsOf } from './complaints.ts'
import { converse, said } from './conversation.ts'
import { describeInChromium } from './in-chromium.ts'
import { account, enterSignedIn, inSignIn, signInLink, signInThroughPage, signOutLine } from './sign-in.ts'

let rig: SignInRig<OidcProvider>, browser: Person, tab: Tab
inSignIn((scene) => ({ rig, person: browser, tab } = scene))

const focused = `((element) => (element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim())(
  document.activeElement)`
const conversations = 'nav[aria-label="Conversations"]'

async function signOut(): Promise<void> {
  await tab.click(account)
  await tab.click(signOutLine)
  await tab.waitFor(signInLink)
}

/** Signs another person in, in the same browser, without the earlier session at the identity provider. */
async function switchTo(person: string): Promise<void> {
  await browser.forgetCookies()
  await enterSignedIn(browser, rig, person)
  await tab.waitFor('#message')
}

describeInChromium('a signed-in user', () => {
  afterEach(async () => {
    expect(await complaintsOf(tab)).toEqual([])
  })

  test('sees their name by pointer and by keyboard, signs out, and Back shows nothing of before', async () => {
    await signInThroughPage(browser, rig)
    await tab.waitFor('#message')
    const address = await converse(tab, 'What does Ada ask?')
    await tab.click(account)
    await tab.waitFor(signOutLine)
    const menu = await tab.textOf('[popover]:popover-open')
    expect(
      menu
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    ).toEqual([
      'ada Ä. Lovelace',
      'ada',
      'ada@mail.example',
      ...['Theme', 'System', 'Light', 'Dark', 'Language', 'Browser', 'English', 'Deutsch'],
      ...['Keyboard', '?'],
      'Sign Out',
      'Sign Out Everywhere',
    ])
    // A menu may contain only entries; the user is shown beside it, as its description.
    expect(
      await tab.evaluate(`(() => {
      const entries = document.querySelector('[popover]:popover-open [role="menu"]')
      const described = document.getElementById(entries.getAttribute('aria-describedby'))
      const areItems = [...entries.children].every((each) => ['group', 'menuitem'].includes(each.role))
      return [areItems, entries.contains(described), described?.textContent]
    })()`),
    ).toEqual([true, false, 'ada Ä. Lovelaceadaada@mail.example'])
    await tab.press('Escape')
    await tab.waitForGone(signOutLine)
    expect(await tab.evaluate(focused)).toBe('Account of ada Ä. Lovelace')
    // Closes and opens the menu twice within one task, as fast users do on a busy machine.
    await tab.evaluate(
      `document.querySelector('[popover]:popover-open')?.hidePopover()
      document.querySelector('${account}').click()
      document.querySelector('[popover]:popover-open').hidePopover()
      document.querySelector('${account}').click()`,
    )
    await tab.until(`${focused} === 'System'`)
    await tab.click(account)
    await tab.waitForGone(signOutLine)
    await tab.press('Enter')
    await tab.until(`${focused} === 'System'`)
    await tab.press('s')
    await tab.until(`${focused} === 'Sign Out'`)
    await tab.press('Enter')
    await tab.waitFor(signInLink)
    expect(await tab.url()).toBe(`${rig.service.url}/`)
    await tab.back()
    expect(await tab.text()).not.toContain('What does Ada ask?')
    await tab.goto(address)
    await tab.waitFor(signInLink)
    expect(await tab.text()).not.toContain('What does Ada ask?')
  }, 20_000)

  test('is not made by a token in the address, which is removed at once and sent nowhere', async () => {
    const { token } = await rig.signIn()
    await tab.goto(`${rig.service.url}/?session=${token}#/requests`)
    await tab.waitFor(signInLink)
    expect(await tab.url()).toBe(`${rig.service.url}/#/requests`)
    expect((await browser.asked()).filter((address) => address.includes(token))).toEqual([
      `${rig.service.url}/?session=${token}`,
    ])
    expect([...(await browser.cookies())]).toEqual([])
    expect(await tab.evaluate(`fetch('/v1/models').then(({ status }) => status)`)).toBe(401)
    expect(
      await tab.evaluate(
        `document.documentElement.outerHTML.includes('${token}') ||
          JSON.stringify([{ ...localStorage }, { ...sessionStorage }]).includes('${token}')`,
      ),
    ).toBe(false)
  })

  test('has their conversations for themselves, also where another takes the same browser', async () => {
    await enterSignedIn(browser, rig)
    await tab.waitFor('#message')
    const address = await converse(tab, 'What does Ada ask?')
    const other = browser.tab('other')
    await other.goto(address)
    await other.waitFor('article >> text=What does Ada ask?')
    await signOut()
    // The other tab is signed out as well.
    await other.waitFor(signInLink)
    expect([await other.url(), (await other.text()).includes('Ada')]).toEqual([`${rig.service.url}/`, false])
    await other.close()

    await switchTo('grace')
    await tab.waitFor(conversations)
    expect(await tab.text()).not.toContain('What does Ada ask?')
    await tab.goto(address)
    await tab.waitFor('text=There is no such conversation in this browser')
    await tab.goto(`${rig.service.url}/#/`)
    await tab.waitFor('#message')
    await converse(tab, 'What does Grace ask?')
    await tab.waitFor(`${conversations} >> text=What does Grace ask?`)
    await signOut()

    await switchTo('ada')
    await tab.waitFor(`${conversations} >> text=What does Ada ask?`)
    expect(await tab.text()).not.toContain('What does Grace ask?')
    await tab.click(`${conversations} >> text=What does Ada ask?`)
    await tab.waitFor(said('good-2'))
    expect(await tab.url()).toBe(address)
  }, 30_000)

  test('sees when signing out fails, and can retry', async () => {
    await enterSignedIn(browser, rig)
    await tab.waitFor('#message')
    await browser.setOffline(true)
    await tab.click(account)
    await tab.click(signOutLine)
    await tab.waitFor('dialog >> text=you are still signed in')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await browser.setOffline(false)
    await signOut()
  })

  test('signs out everywhere: the sessions of other browsers end too', async () => {
    await enterSignedIn(browser, rig)
    await tab.waitFor('#message')
    const [own, other] = [await rig.signIn(), await rig.signIn('grace')]
    await tab.click(account)
    await tab.click('role=menuitem[name="Sign Out Everywhere"]')
    await tab.waitFor(signInLink)
    const statusOf = async (token: string) => (await rig.get('/auth', { 'x-session-token': token })).status
    expect([await statusOf(own.token), await statusOf(other.token)]).toEqual([401, 200])
  })

  test('is signed out in a tab after another user has signed in', async () => {
    await enterSignedIn(browser, rig)
    await tab.waitFor('#message')
    await converse(tab, 'What does Ada ask?')
    const { token } = await rig.signIn('grace')
    const other = browser.tab('other')
    await browser.forgetCookies()
    await other.goto(`${rig.service.url}/health`)
    await other.evaluate(`document.cookie = 'token=${token}; path=/'`)
    await tab.evaluate(`dispatchEvent(new Event('focus'))`)
    await tab.waitFor('[aria-label="Account of grace Ä. Lovelace"]')
    await tab.waitFor('#message')
    expect(await tab.text()).not.toContain('What does Ada ask?')
  })
})

describeInChromium('an owner', () => {
  test('can change the providers and sees all requests as an owner; others see their own', async () => {
    await rig.service.configure({
      providers: [provider('a', rig.upstream.url), provider('b', rig.upstream.url)],
      owners: ['grace'],
    })
    await enterSignedIn(browser, rig)
    await tab.waitFor('#message')
    await converse(tab, 'What does Ada ask?')
    await tab.goto(`${rig.service.url}/#/providers`)
    await tab.waitFor('text=Only the owners of this service may change its providers')
    expect(await tab.evaluate(`document.querySelectorAll('main [role=switch]').length`)).toBe(0)

    await tab.click(account)
    await tab.waitFor(signOutLine)
    await tab.press('Escape')

    await switchTo('grace')
    await converse(tab, 'What does Grace ask?')
    await tab.goto(`${rig.service.url}/#/requests`)
    await tab.waitFor('[data-key] >> text="ada"')
    await tab.waitFor('[data-key] >> text="grace"')
    await tab.goto(`${rig.service.url}/#/providers`)
    await tab.click('[aria-label="Ask b"]')
    await tab.waitFor('li:nth-of-type(2) >> text=not asked')

    await switchTo('ada')
    await tab.goto(`${rig.service.url}/#/requests`)
    await tab.waitFor('text=Yours among the last 1,000')
    expect(
      await tab.evaluate(`[...document.querySelectorAll('[data-key]')].some((row) => row.innerText.includes('grace'))`),
    ).toBe(false)
    expect(await complaintsOf(tab)).toEqual([])
  }, 30_000)
})
