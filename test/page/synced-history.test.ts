import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Person, Tab } from '../fakes/chromium.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { provider } from '../harness.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { converse, said } from './conversation.ts'
import { describeInChromium, inChromium, useChromium, wide } from './in-chromium.ts'
import { account, signInLink, enterSignedIn, signOutLine } from './sign-in.ts'

/** Conversations of a person on two devices (docs/conversations.md). */

const conversations = 'nav[aria-label="Conversations"]'

describeInChromium('conversations of a person at the service', () => {
  let rig: SignInRig<OidcProvider>, browser: Person, tab: Tab
  inChromium(
    () =>
      startSignIn(startOidcProvider, {
        history: 'server',
        environment: { SVC_HISTORY_KEY: randomBytes(32).toString('base64') },
      }),
    (scene) => ({ rig, person: browser, tab } = scene),
    { look: wide },
  )
  const chromium = useChromium()

  /** A browser on another device, signed in. */
  async function otherDevice(): Promise<Tab> {
    const other = chromium.person(wide)
    await enterSignedIn(other, rig)
    await other.tab().waitFor('#message')
    return other.tab()
  }

  async function enter(): Promise<void> {
    await enterSignedIn(browser, rig)
    await tab.waitFor('#message')
  }

  /**
   * Returns to the window until it shows a text, or its sidebar does not any more: a page asks the service when its
   * window gets the focus.
   */
  async function shows(at: Tab, text: string, isShown = true): Promise<void> {
    const part = isShown ? 'document.body' : `document.querySelector('#sidebar')`
    const expression = `dispatchEvent(new Event('focus')) && ${part}.textContent.includes('${text}')`
    for (const end = performance.now() + 30_000; (await at.evaluate(expression)) !== isShown; await Bun.sleep(50))
      if (performance.now() > end) throw new Error(`${isShown ? 'lacks' : 'has'} '${text}': ${await at.text()}`)
  }

  test('are on every device, also what is changed and deleted there, and encrypted at rest', async () => {
    await enter()
    await tab.waitFor('text=The service stores them, encrypted')
    const address = await converse(tab, 'Zitronenfalter am Fenster')
    const other = await otherDevice()
    await shows(other, 'Zitronenfalter')
    await other.goto(address)
    await other.waitFor(said('Zitronenfalter am Fenster'))
    await converse(other, 'And the second question')
    await shows(tab, 'And the second question')
    for (const file of readdirSync(rig.service.home, { recursive: true, withFileTypes: true }))
      if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name)).includes('Zitronenfalter')).toBe(false)

    await tab.click(`${conversations} >> [data-row] >> nth=0 >> a`)
    await tab.press('Delete')
    await shows(other, 'Zitronenfalter', false)
    expect(await complaintsOf(tab)).toEqual([])
  }, 120_000)

  test('wait in the browser while the service cannot store them, which it says, and are sent later', async () => {
    await enter()
    const other = await otherDevice()
    await browser.refuse('**/api/history**')
    await converse(tab, 'Written without the service')
    await tab.waitFor('text=1 change is not at the service yet')
    expect(await violationsOf(tab)).toEqual([])
    await tab.reload()
    await tab.waitFor(said('Written without the service'))
    await browser.admit('**/api/history**')
    await shows(tab, 'not at the service yet', false)
    await shows(other, 'Written without the service')
  }, 120_000)

  test('that cannot be decrypted are counted, and the others are there', async () => {
    await enter()
    await converse(tab, 'Kept as it is')
    await tab.click('#sidebar >> role=link[name="New"]')
    await tab.waitForGone(said('Kept as it is'))
    const broken = (await converse(tab, 'Broken at the service')).split('/').at(-1) ?? ''
    const list = `fetch('/api/history?whole=1').then((response) => response.text())`
    while (!String(await tab.evaluate(list)).includes(broken));
    using database = new Database(join(rig.service.home, 'history.db'))
    database.run(`UPDATE history_conversation SET content = x'01' WHERE id = ?`, [broken])
    const other = await otherDevice()
    await other.waitFor('text=1 conversation at the service cannot be read')
    await shows(other, 'Kept as it is')
    expect(await violationsOf(other)).toEqual([])
    await other.click('role=button[name="Hide"]')
    await other.waitForGone('text=1 conversation at the service cannot be read')
    await other.reload()
    await shows(other, 'Kept as it is')
    expect(await other.text()).not.toContain('cannot be read')
    await rig.logged('a conversation cannot be read', broken)
  }, 120_000)

  test('from before stay in the browser until they are uploaded, and a sign-out removes the copy', async () => {
    const entries = { providers: [provider('a', rig.upstream.url)] }
    await rig.service.configure(entries)
    await rig.logged('configuration reloaded')
    await enter()
    const id = (await converse(tab, 'Asked before the switch')).split('/').at(-1) ?? ''
    await rig.service.configure({ ...entries, history: 'server' })
    const hasHistory = `fetch('/api/boot').then((response) => response.json()).then((boot) => boot.hasHistory === true)`
    while ((await tab.evaluate(hasHistory)) !== true);
    await tab.reload()
    await tab.waitFor('text=1 conversation is only in this browser')
    expect(await violationsOf(tab)).toEqual([])
    await tab.click('role=button[name="Keep here"]')
    await tab.waitFor('text=1 conversation stays in this browser')
    await tab.reload()
    await tab.waitFor('text=1 conversation stays in this browser')
    expect(await violationsOf(tab)).toEqual([])
    await tab.click('role=button[name="Upload"]')
    await tab.waitForGone('text=1 conversation stays in this browser')
    const list = `fetch('/api/history?whole=1').then((response) => response.text())`
    while (!String(await tab.evaluate(list)).includes(id));
    await tab.click(account)
    await tab.click(signOutLine)
    await tab.waitFor(signInLink)
    const left = await tab.evaluate(`(async () => {
      const texts = []
      const answerOf = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)))
      for (const { name } of await indexedDB.databases()) {
        const database = await answerOf(indexedDB.open(name))
        for (const store of database.objectStoreNames)
          texts.push(JSON.stringify(await answerOf(database.transaction(store).objectStore(store).getAll())))
        database.close()
      }
      return texts.join()
    })()`)
    expect(String(left)).not.toContain('Asked before')
    // The identity provider asks again.
    await browser.forgetCookies()
    await enter()
    await shows(tab, 'Asked before the switch')
    expect(await complaintsOf(tab)).toEqual([])
  }, 120_000)
})
