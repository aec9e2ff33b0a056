import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { pick } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { goodText } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { until } from '../ledger-rig.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig
let ada: string, grace: string

beforeAll(async () => {
  rig = await startSignIn(startGithub, {
    flags: ['--auth', 'keys'],
    owners: ['ada'],
    files: { 'access.json': JSON.stringify({ content: [{ for: 'person:grace', keep: '7d' }] }) },
  })
  ada = (await rig.signIn('ada')).token
  grace = (await rig.signIn('grace')).token
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Opens an address of the page as a signed-in person. */
async function show(token: string, hash: string, options: PersonOptions = wide): Promise<Tab> {
  const visitor = chromium.person(options),
    tab = visitor.tab()
  await visitor.setCookie(rig.service.url, 'token', token)
  await tab.goto(`${rig.service.url}/#/${hash}`)
  return tab
}

const api = async (path: string, token: string): Promise<unknown> =>
  await (await fetch(rig.service.url + path, { headers: { 'x-session-token': token } })).json()

async function complaintsOf(tab: Tab): Promise<readonly string[]> {
  // The picture of a person is at no real address.
  return (await tab.complaints()).filter((text) => !/ERR_NAME_NOT_RESOLVED/.test(text))
}

describeInChromium('kept content', () => {
  test('is announced where people write and where their keys are, and to nobody else', async () => {
    const tab = await show(grace, '')
    await tab.waitFor('main >> text="The content of your requests is kept for 7 days."')
    expect(await tab.text()).not.toContain('The service keeps none')
    expect(await violationsOf(tab)).toEqual([])
    if (pictures !== undefined) await tab.screenshot(join(pictures, 'content-chat.png'))
    await tab.goto(`${rig.service.url}/#/keys`)
    await tab.waitFor('main >> text="The content of your requests is kept for 7 days."')
    expect(await complaintsOf(tab)).toEqual([])
    const other = await show(ada, '')
    await other.waitFor('#message')
    expect(await other.text()).not.toContain('is kept')
  }, 60_000)

  test('is shown to its person and, with an entry in the audit, to an owner', async () => {
    expect((await rig.ask({ 'x-session-token': grace, 'x-request-id': 'kept' })).status).toBe(200)
    await until(async () => pick(await api('/api/requests/kept/content', grace), 'answer') === goodText())
    const own = await show(grace, 'requests/kept')
    await own.waitFor('main >> role=heading[name="Question and answer"]')
    expect(await own.text()).not.toContain('recorded')
    const tab = await show(ada, 'requests/kept', { viewport: { width: 360, height: 740 } })
    await tab.waitFor('main >> text=/Each look at the content of others is recorded/')
    const looks = async () => JSON.stringify(await api('/api/audit', ada)).split('"object":"kept"').length - 1
    expect(await looks()).toBe(0)
    for (const each of [own, tab]) {
      await each.click('main >> text="Show question and answer"')
      await each.waitFor(`main >> role=region[name="Answer"] >> text=${goodText().trim()}`)
      await each.waitFor('main >> role=region[name="Question"] >> text=/\\[user\\]/')
      await each.waitFor('main >> text=/Deleted on/')
      expect([await violationsOf(each), await overflowOf(each), await complaintsOf(each)]).toEqual([[], 0, []])
      if (pictures !== undefined) await each.screenshot(join(pictures, `content-${each === own ? 'own' : 'other'}.png`))
    }
    expect(await looks()).toBe(1)
  }, 60_000)

  test('that is not there says so', async () => {
    await rig.ask({ 'x-session-token': ada, 'x-request-id': 'not-kept' })
    const tab = await show(ada, 'requests/not-kept')
    await tab.click('main >> text="Show question and answer"')
    await tab.waitFor('main >> text="No content of this request is kept."')
    expect(pick(await api('/api/requests/not-kept/content', ada), 'error', 'code')).toBe('content_not_kept')
  }, 60_000)
})
