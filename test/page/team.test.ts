import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { reply } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { checkNoSecrets, configPath, register } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'
import { account, signInLink } from './sign-in.ts'

/** From `svc` without flags to a team that signs in and has a limit, on the page alone. */

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
const registration = register()
let service: ServiceUnderTest, identity: OidcProvider, upstream: FaultUpstream

beforeAll(async () => {
  const answer = good()
  upstream = faultUpstream((exchange) =>
    exchange.hit.method === 'GET'
      ? exchange.write(reply(200, JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }] })))
      : answer(exchange),
  )
  identity = await startOidcProvider(registration)
  service = await startService(undefined, { port: Number(new URL(registration.redirectUri).port) })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await identity.stop()
  upstream.stop()
  checkNoSecrets(service.output, [registration.clientSecret, ...identity.secrets])
})

/** Counts what a person presses, and the fields that they fill in. */
function counted(tab: Tab) {
  const counts = { presses: 0, fields: 0 }
  return {
    counts,
    click: (selector: string) => ((counts.presses += 1), tab.click(selector)),
    fill: (selector: string, text: string) => ((counts.fields += 1), tab.fill(selector, text)),
    select: (selector: string, value: string) => ((counts.fields += 1), tab.select(selector, value)),
  }
}

async function signIn(tab: Tab, person: string): Promise<void> {
  await tab.goto(`${service.url}/`)
  await tab.click(signInLink)
  await tab.fill('input[name=login]', `id-${person}`)
  await tab.fill('input[name=password]', 'any')
  await tab.click('button[type=submit]')
  await tab.click('role=button[name=Continue]')
  await tab.waitForUrl(`${service.url}/**`)
}

const looks: readonly (readonly [name: string, look: PersonOptions])[] = [
  ['1440-light-en', { viewport: { width: 1440, height: 900 } }],
  ['390-dark-de', { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'dark', locale: 'de' }],
  ['1024-dark-en', { viewport: { width: 1024, height: 900 }, colorScheme: 'dark' }],
  ['390-light-en', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ['1440-forced-de', { viewport: { width: 1440, height: 900 }, forcedColors: 'active', locale: 'de' }],
]

describeInChromium('a team, on the page alone', () => {
  test.each(pictures === undefined ? looks.slice(0, 2) : looks)(
    'has a form that fits and is accessible: %s',
    async (name, look) => {
      const tab = chromium.person(look).tab()
      await tab.goto(`${service.url}/#/people`)
      const fields = ['openid', identity.issuer, 'svc-under-test', 'any', 'ada', 'grace, linus'] as const
      await tab.waitFor('main form select')
      await tab.select('main form select', fields[0])
      await tab.waitFor('main form input >> nth=3')
      for (const [index, text] of fields.slice(1, 5).entries()) await tab.fill(`main form input >> nth=${index}`, text)
      await tab.fill('main form textarea', fields[5])
      await tab.waitFor('main form ol ins >> text=/restrict_to/')
      expect([await overflowOf(tab), await violationsOf(tab)]).toEqual([0, []])
      if (pictures !== undefined) await tab.screenshot(join(pictures, `sign-in-set-up-${name}.png`))
    },
  )

  test('comes from nothing by key, sign-in and limit; a third person is refused', async () => {
    const tab = chromium.person(wide).tab()
    const { counts, click, fill, select } = counted(tab)
    await tab.goto(`${service.url}/`)
    await click('main >> role=link[name="Add a provider"]')
    await select('main form select >> nth=0', 'other')
    await fill('role=textbox[name="Base URL"]', upstream.url)
    await fill('role=textbox[name="Name"]', 'lab')
    await fill('main input[type=password]', 'any')
    await click('role=button[name="Add as number 1"]')
    await tab.waitFor('h2 >> text=lab')

    await click('nav[aria-label="Manage"] >> text=People')
    await select('main form select', 'openid')
    await fill('role=textbox[name="Issuer"]', identity.issuer)
    await fill('role=textbox[name="Client ID"]', registration.clientId)
    await fill('main input[type=password]', 'wrong')
    await fill('role=textbox[name="Your user name at OpenID Connect"]', ' @ada ')
    await fill('main form textarea', 'grace')
    expect(await tab.textOf('main form code')).toBe(registration.redirectUri)
    expect(await tab.textOf('main form')).toContain('--auth none')
    await tab.waitFor('main form ol ins >> text=/restrict_to/')
    await click('role=button[name="Switch sign-in on"]')
    await tab.waitFor('role=alert >> text=/refuses the client id or the client secret/')
    await fill('main input[type=password]', registration.clientSecret)
    // By the keyboard: the name, the others, keys, both lists of lines, and the button.
    for (let step = 0; step < 6; step++) await tab.press('Tab')
    expect(await tab.evaluate('document.activeElement.innerText')).toBe('Switch sign-in on')
    const elsewhere = chromium.person(wide).tab()
    await elsewhere.goto(`${service.url}/`)
    await elsewhere.waitFor('#message')
    await tab.press('Enter')
    await tab.waitFor(signInLink)
    await elsewhere.evaluate(`location.hash = '#/providers'`)
    await elsewhere.waitFor(signInLink)
    expect(readFileSync(join(service.home, configPath), 'utf8')).toContain(registration.redirectUri)

    await signIn(tab, 'ada')
    await tab.waitFor(account)
    await click('#sidebar >> role=link[name=/^Manage/]')
    await click('nav[aria-label="Manage"] >> text=People')
    await tab.waitFor('main >> text="owner"')
    await click('nav[aria-label="Manage"] >> text=Limits')
    await click('main >> role=link[name="Add a limit"]')
    await tab.waitFor('main form ol ins')
    await click('main >> role=button[name="Save"]')
    await tab.waitFor('main >> role=link[name="Add a limit"]')
    await click('nav[aria-label="Manage"] >> text=Keys')
    await click('main >> role=link[name="Make a key for a program"]')
    await fill('main form input >> nth=0', 'indexer')
    await click('main form button[type=submit]')
    await click('role=button[name="I have copied it"]')
    await tab.waitFor('main li >> text=indexer')
    await click('nav[aria-label="Manage"] >> text=Limits')
    await tab.waitFor('main >> role=heading[name="$10.00 a month for indexer"]')
    // A second limit begins without a fault, since it repeats none.
    await click('main >> role=link[name="Add a limit"]')
    await tab.waitFor('main form ol ins')
    // Two of them for the wrong secret; without the keyboard.
    expect(counts).toEqual({ presses: 15, fields: 12 })
    expect(await complaintsOf(tab)).toEqual([])

    const grace = chromium.person(wide).tab()
    await signIn(grace, 'grace')
    await grace.waitFor(account)
    await grace.waitFor('#message')
    expect(await grace.evaluate(`document.querySelector('#sidebar').innerText.includes('Manage')`)).toBe(false)
    const eve = chromium.person(wide).tab()
    await signIn(eve, 'eve')
    await eve.waitFor('text=/Access Denied/')
    await tab.goto(`${service.url}/#/people`)
    await tab.waitFor('main >> text="eve was not let in"')
  }, 40_000)
})
