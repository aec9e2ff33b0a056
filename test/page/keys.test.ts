import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chat, pick, question } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { startRig } from '../rig.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig
let tab: Tab | undefined

const access = {
  limits: [{ for: 'person:linus', requests: 60 }],
  teams: { search: { leads: ['lea'], members: [] } },
  keys: [{ name: 'ci', hash: '0f'.repeat(32) }],
}
beforeAll(async () => {
  rig = await startSignIn(startGithub, {
    flags: ['--auth', 'keys'],
    owners: ['ada', 'light', 'dark', 'phone'],
    files: { 'access.json': JSON.stringify(access) },
  })
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(async () => {
  // The page asks who it is for before the session is there; a refused key, and the picture at no real address.
  const known = /401 \(Unauthorized\)|400 \(Bad Request\)|ERR_NAME_NOT_RESOLVED/
  const complaints = await tab?.complaints()
  tab = undefined
  expect(complaints?.filter((text) => !known.test(text)) ?? []).toEqual([])
})

/** Opens the view as a signed-in person, from the account menu. @returns the session token */
async function show(person: string, options: PersonOptions = wide): Promise<{ page: Tab; token: string }> {
  const visitor = chromium.person(options),
    page = (tab = visitor.tab())
  const { token } = await rig.signIn(person)
  await visitor.setCookie(rig.service.url, 'token', token)
  await page.goto(`${rig.service.url}/`)
  await page.click('role=button[name=/^Account of/]')
  await page.click('role=menuitem[name="Your keys"]')
  await page.waitFor('main >> role=heading[name="Keys"]')
  return { page, token }
}

async function make(token: string, request: object): Promise<void> {
  const response = await fetch(`${rig.service.url}/api/keys`, {
    method: 'POST',
    headers: { 'x-session-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  expect(response.status).toBe(200)
}

const ask = async (key: string) =>
  (await chat(rig.service.url, question(), { headers: { authorization: `Bearer ${key}` } })).status

describeInChromium('the view Keys', () => {
  test('makes a key that works, shows it once, and ends it', async () => {
    const { page } = await show('grace')
    await page.waitFor('main >> text="There is no key here."')
    await page.fill('role=textbox[name="Name"]', 'my laptop')
    await page.fill('role=textbox[name=/^Days/]', '91')
    await page.click('role=button[name="Make a key"]')
    await page.waitFor("main >> text=/'days': allowed: an integer from 1 to 90/")
    expect(await page.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true')
    await page.fill('role=textbox[name=/^Days/]', '7')
    await page.fill('role=textbox[name=/^Models/]', 'm, other*')
    await page.press('Enter')
    await page.waitFor('role=region[name="The new key my laptop"]')
    const key = String(await page.evaluate(`document.querySelector('main section code').innerText`))
    rig.remember(key)
    expect(key).toMatch(/^sk-svc_\w{44}$/)
    expect(await page.textOf('main section')).toContain(`${rig.service.url}/v1`)
    expect(await ask(key)).toBe(200)
    await page.click('role=button[name="I have copied it"]')
    await page.waitForGone('main section')
    await page.waitFor('main li >> text=/my laptop.*sk-svc_/')
    await page.waitFor('main li >> text=/m, other\\*/')
    await page.click('role=button[name="End my laptop"]')
    await page.click('role=button[name="Keep it"]')
    expect(await ask(key)).toBe(200)
    await page.click('role=button[name="End my laptop"]')
    await page.click('role=button[name="End the key"]')
    await page.waitFor('main li >> text="ended"')
    expect(await ask(key)).toBe(401)
    expect(await page.evaluate('document.body.innerText')).not.toContain(key)
  }, 30_000)

  test('shows owners the keys of all, which they find and end; others see their own', async () => {
    const grace = await rig.signIn('grace')
    await make(grace.token, { name: '<img src=x onerror=alert(1)>' })
    await make(grace.token, { name: 'second' })
    const { page } = await show('ada')
    await page.waitFor('main >> text="There is no key here."')
    await page.select('main select', 'all')
    await page.waitFor('main li >> text=/<img src=x onerror=alert\\(1\\)>/')
    await page.waitFor('main >> text=/^Keys of all people/')
    // A key of the file is ended there.
    await page.fill('main input[type="search"]', 'ci access.json')
    await page.until(`document.querySelectorAll('main li').length === 1`)
    expect(await page.textOf('main li')).toMatch(/ci sha256 0f0f0f0f…[^]*never used[^]*in access\.json$/)
    expect(await page.evaluate(`document.querySelectorAll('main li button').length`)).toBe(0)
    await page.fill('main input[type="search"]', 'grace SECOND')
    await page.until(`document.querySelectorAll('main li').length === 1`)
    expect(await page.textOf('main li')).toContain('of grace')
    await page.click('role=button[name="End second"]')
    await page.click('role=button[name="End the key"]')
    await page.waitFor('main li >> text="ended"')
    const other = await show('linus')
    await other.page.waitFor('main >> text="There is no key here."')
    expect(await other.page.textOf('main')).not.toContain('Whose')
  }, 30_000)

  test('shows what is left of the limits, in which keys count as their person', async () => {
    const { page } = await show('linus')
    await page.waitFor('main li >> text="60 of 60 requests a minute (person:linus)"')
  }, 30_000)

  test('lets a lead replace a key of the team, and shows the new one once', async () => {
    const lea = await rig.signIn('lea')
    await make(lea.token, { name: 'nightly', team: 'search' })
    const { page } = await show('lea')
    await page.select('main select', 'team:search')
    await page.click('role=button[name="Replace nightly"]')
    await page.waitFor('dialog select')
    await page.select('dialog select', 'ends at once')
    await page.click('role=button[name="Replace the key"]')
    await page.waitFor('role=region[name="The new key nightly"]')
    const key = String(await page.evaluate(`document.querySelector('main section code').innerText`))
    rig.remember(key)
    expect(await ask(key)).toBe(200)
    await page.waitFor('main li >> text="expired"')
    // The successor can be replaced again, and the old key cannot.
    expect(await page.evaluate(`document.querySelectorAll('[aria-label="Replace nightly"]').length`)).toBe(1)
    expect(await page.evaluate(`document.querySelectorAll('main li').length`)).toBe(2)
  }, 30_000)

  const looks: readonly (readonly [string, PersonOptions])[] = [
    ['light', { ...wide, colorScheme: 'light' }],
    ['phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true }],
  ]
  test.each(looks)(
    'has no faults of accessibility: %s',
    async (look, options) => {
      const ada = await rig.signIn(look)
      for (const name of ['laptop', 'nightly job', 'x'.repeat(64)]) await make(ada.token, { name, models: ['gpt-5*'] })
      const { page } = await show(look, options)
      await page.fill('role=textbox[name="Name"]', 'editor')
      await page.click('role=button[name="Make a key"]')
      await page.waitFor('main section')
      await page.until(`document.querySelectorAll('main li').length === 4`)
      expect(await violationsOf(page)).toEqual([])
      expect(await overflowOf(page)).toBe(0)
      if (pictures !== undefined) await page.screenshot(join(pictures, `keys-${look}.png`))
    },
    30_000,
  )

  test('is not offered where there are no keys', async () => {
    await using open = await startRig([good()])
    tab = chromium.person(wide).tab()
    await tab.goto(`${open.service.url}/`)
    await tab.waitFor('[aria-label="Menu of this page"]')
    expect(await tab.evaluate('fetch("/api/boot").then((answer) => answer.text())')).not.toContain('hasKeys')
  }, 30_000)
})

describeInChromium('a key for a program', () => {
  const onDisk = () => readFileSync(join(rig.service.home, 'access.json'), 'utf8')

  test('is made with its limit in four presses from the chat, and shown once', async () => {
    const { page, token } = await show('ada')
    await page.goto(`${rig.service.url}/#/`)
    await page.click('#sidebar >> role=link[name=/^Manage/]')
    await page.click('nav[aria-label="Manage"] >> text=Keys')
    await page.click('main >> role=link[name="Make a key for a program"]')
    await page.fill('main >> role=textbox[name="What is it for?"]', 'indexer')
    await page.fill('[aria-label="Models"]', 'm')
    expect(await violationsOf(page)).toEqual([])
    if (pictures !== undefined) await page.screenshot(join(pictures, 'program-key.png'))
    await page.click('main >> role=button[name="Make the key"]')
    await page.waitFor('main >> text=/curl .* .Authorization: Bearer sk-svc_/')
    const { json } = await rig.get('/v1/keys?limit=1000', { 'x-session-token': token })
    const made = pick(json, 'data')
    const line = Array.isArray(made) ? pick(made.at(-1), 'line') : undefined
    expect(pick(JSON.parse(onDisk()), 'limits', 1)).toEqual({ for: `key:${line}`, usd: 10, per: 'month' })
    expect(await violationsOf(page)).toEqual([])
  }, 30_000)

  test('is not made with a wrong amount, and the reason is shown', async () => {
    const { page } = await show('ada')
    await page.goto(`${rig.service.url}/#/keys/new`)
    await page.waitFor('main >> role=textbox[name="What is it for?"]')
    await page.fill('main >> role=textbox[name="What is it for?"]', 'other')
    await page.fill('main >> role=textbox[name="US dollars"]', 'ten')
    await page.press('Enter')
    await page.waitFor('main >> role=alert >> text=/found "ten", allowed: a number/')
    const { token } = await rig.signIn('ada')
    expect((await rig.get('/v1/keys', { 'x-session-token': token })).text).not.toContain('"other"')
  }, 30_000)
})
