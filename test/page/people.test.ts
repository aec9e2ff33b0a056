import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { configPath, startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig
let ada: string, grace: string

beforeAll(async () => {
  const limits = [{ for: 'each person', usd: 5, per: 'day' }]
  rig = await startSignIn(startGithub, {
    flags: ['--auth', 'keys'],
    owners: ['ada'],
    config: { restrict_to: ['ada', 'grace'] },
    files: { 'access.json': JSON.stringify({ limits }) },
  })
  ada = (await rig.signIn('ada')).token
  grace = (await rig.signIn('grace')).token
})
afterAll(() => rig[Symbol.asyncDispose]())

async function show(token: string, hash: string, options: PersonOptions = wide): Promise<Tab> {
  const visitor = chromium.person(options),
    tab = visitor.tab()
  await visitor.setCookie(rig.service.url, 'token', token)
  await tab.goto(`${rig.service.url}/${hash}`)
  return tab
}

const statusOf = async (token: string) => (await rig.ask({ 'x-session-token': token })).status

describeInChromium('the view People', () => {
  test('ends a session in four presses from the chat', async () => {
    const other = (await rig.signIn('grace')).token
    expect([await statusOf(grace), await statusOf(other)]).toEqual([200, 200])
    const tab = await show(ada, '#/')
    await tab.click('#sidebar >> role=link[name=/^Manage/]')
    await tab.click('nav[aria-label="Manage"] >> text=People')
    await tab.waitFor('main >> text=/\\$5.00 of \\$5.00 left/')
    await tab.click('main h2 button[title="Sessions of grace"]')
    await tab.click('main li:first-child li:first-child >> role=button[name="End Chrome on Linux of grace"]')
    await tab.waitFor('main >> text="1 session"')
    expect([await statusOf(grace), await statusOf(other)]).toEqual([200, 401])
    expect(await violationsOf(tab)).toEqual([])
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'people.png'))
    await tab.click('main >> role=link[name="Raise the limit"]')
    await tab.waitFor('main >> role=heading[name="Change a limit"]')
    const others = await show(grace, '#/people')
    await others.waitFor('main >> text="Only owners of this service may do this"')
  }, 40_000)

  test('lets in and blocks after showing the change, by the keyboard', async () => {
    const eve = rig.browser()
    await rig.configure({ restrict_to: ['ada'] })
    await rig.logged('extension reloaded')
    expect((await eve.visit(await rig.authorize(eve, 'grace'))).status).toBe(403)
    const tab = await show(ada, '#/people')
    await tab.waitFor('main >> text="grace was not let in"')
    await tab.evaluate(
      `[...document.querySelectorAll('main button')].find((each) => each.innerText === 'Let grace in').focus()`,
    )
    await tab.press('Enter')
    await tab.waitFor('dialog ol ins >> text=/grace/')
    expect(await violationsOf(tab)).toEqual([])
    expect(await tab.textOf('dialog')).not.toContain(rig.registration.clientSecret)
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'admission.png'))
    await tab.click('dialog >> role=button[name="Let grace in"]')
    await tab.waitForGone('main >> text="grace was not let in"')
    expect(JSON.parse(readFileSync(join(rig.service.home, configPath), 'utf8'))).toMatchObject({
      restrict_to: ['ada', 'grace'],
    })
    const { token } = await rig.signIn('grace')
    await tab.reload()
    await tab.click('main h2 button[title="Sessions of grace"]')
    await tab.click('main >> role=button[name="Block…"]')
    await tab.waitFor('dialog ol del')
    await tab.click('dialog >> role=button[name="Block grace"]')
    await tab.waitForGone('main h2 button[title="Sessions of grace"]')
    expect(await statusOf(token)).toBe(401)
  }, 40_000)

  const looks: readonly (readonly [string, PersonOptions])[] = [
    ['forced colours', { ...wide, forcedColors: 'active' }],
    ['phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true }],
  ]
  test.each(looks)(
    'has no faults of accessibility: %s',
    async (look, options) => {
      const tab = await show(ada, '#/people', options)
      await tab.click('main h2 button')
      expect(await violationsOf(tab)).toEqual([])
      expect(await overflowOf(tab)).toBe(0)
      if (pictures !== undefined) await tab.screenshot(join(pictures, `people-${look}.png`))
    },
    30_000,
  )

  test('signs out who ends the own session', async () => {
    const own = (await rig.signIn('ada')).token
    const tab = await show(own, '#/people')
    await tab.click('main h2 button[title="Sessions of ada"]')
    await tab.click('main li li:has-text("this page") >> role=button')
    await tab.waitFor('role=button[name=/^Sign in with/]')
  }, 40_000)
})
