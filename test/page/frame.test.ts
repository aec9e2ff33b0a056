import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { settled } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, tab: Tab

beforeAll(async () => {
  const priced = { name: 'm', price: { input: 0.59, output: 0.79 } }
  service = await startService({
    providers: [
      { id: 'keyless', base_url: 'http://127.0.0.1:9/v1', api_key: '$NO_SUCH_KEY', models: ['m'] },
      { id: 'echo', protocol: 'echo', models: [priced] },
    ],
  })
})
afterAll(() => service.stop())

async function open(address: string, options: PersonOptions = wide): Promise<void> {
  tab = chromium.person(options).tab()
  await tab.goto(`${service.url}/${address}`)
}

const topOf = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect().top`

describeInChromium('the frame of the page', () => {
  afterEach(async () => {
    expect(await complaintsOf(tab)).toEqual([])
  })

  test('tells owners in the chat what is wrong, and leads to Manage and back to the same conversation', async () => {
    await open('')
    await tab.waitFor('#sidebar >> text=1 not usable')
    await tab.fill('#message', 'Hello')
    await tab.press('Control+Enter')
    await tab.waitFor('article >> text=Hello')
    const address = await tab.url()
    await tab.click('#sidebar >> text=Manage')
    await tab.waitFor('nav[aria-label="Manage"] >> [aria-current="page"] >> text=Providers')
    await tab.waitForGone('nav[aria-label="Conversations"]')
    await tab.click('#sidebar >> text=Back to the chat')
    await tab.waitFor('article >> text=Hello')
    expect(await tab.url()).toBe(address)
  })

  test('has one left edge for title and content in every view of Manage', async () => {
    await open('#/providers')
    const edges: unknown[] = []
    for (const view of ['Providers', 'Requests']) {
      await tab.click(`nav[aria-label="Manage"] >> text=${view}`)
      await tab.waitFor(`main h1 >> text=${view}`)
      edges.push(await tab.evaluate(`document.querySelector('main h1').getBoundingClientRect().left`))
      edges.push(
        ...(await tab
          .evaluate(`[...document.querySelectorAll('main header + div > div > *')]
            .map((each) => each.getBoundingClientRect().left)`)
          .then((found) => (Array.isArray(found) ? found : ['nothing']))),
      )
    }
    expect([...new Set(edges)]).toHaveLength(1)
    expect(await tab.evaluate(`document.querySelector('main header').offsetHeight`)).toBe(52)
  })

  test('leaves the sidebar of the chat at least 70 % of its height for conversations', async () => {
    await open('', { viewport: { width: 1440, height: 900 } })
    await tab.waitFor('#sidebar a[href="#/compare"]')
    const share = await tab.evaluate(
      `(900 - document.querySelector('#sidebar a[href="#/compare"]').getBoundingClientRect().bottom - 53) / 900`,
    )
    expect(Number(share)).toBeGreaterThan(0.7)
  })

  test('shows who is asked in an empty chat, and its field moves down with the first message', async () => {
    await open('', { ...wide, reducedMotion: 'reduce' })
    await tab.waitFor('main >> text=Goes to')
    await tab.waitFor('main p:has-text("Goes to") >> text=echo')
    await tab.waitFor('main >> text=$0.59 in, $0.79 out per million tokens')
    const before = Number(await tab.evaluate(topOf('main form')))
    expect(before).toBeLessThan(400)
    await tab.click('main >> role=button[name="Plan a weekend"]')
    expect(await tab.evaluate(`document.activeElement === document.querySelector('#message')`)).toBe(true)
    await tab.press('Control+Enter')
    await tab.waitFor('article')
    expect(Number(await tab.evaluate(topOf('main form')))).toBeGreaterThan(600)
    await tab.waitForGone('main >> text=Goes to')
  })

  test('moves the field within 180 ms where motion is wanted', async () => {
    await open('', { ...wide, reducedMotion: 'no-preference' })
    await tab.waitFor('main >> text=Goes to')
    await tab.evaluate(`Element.prototype.animate = ((animate) => function (...given) {
      window.moved = given[1].duration
      return animate.apply(this, given)
    })(Element.prototype.animate)`)
    await tab.fill('#message', 'Hello')
    await tab.press('Control+Enter')
    await tab.waitFor('article')
    expect(await tab.evaluate('window.moved')).toBe(180)
    await tab.evaluate(settled)
    expect(Number(await tab.evaluate(topOf('main form')))).toBeGreaterThan(600)
  })

  test('shows switches and what is chosen in forced colours', async () => {
    await open('#/providers', { ...wide, forcedColors: 'active' })
    await tab.waitFor('[role="switch"]')
    const background = (selector: string) =>
      tab.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`)
    const on = await background('[role="switch"][aria-checked="true"] > span')
    expect(on).toBe(await background('[aria-current="page"]'))
    expect(on).not.toBe(await background('body'))
    await tab.click('[role="switch"] >> nth=0')
    await tab.waitFor('[role="switch"][aria-checked="false"]')
    expect(await background('[role="switch"][aria-checked="false"] > span')).not.toBe(on)
  })

  test('has the first request within 400 pixels on a phone, and the charts behind a button', async () => {
    await open('#/', { viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.fill('#message', 'Hello')
    await tab.click('role=button[name="Send"]')
    await tab.waitFor('article >> nth=1')
    await tab.goto(`${service.url}/#/requests`)
    await tab.waitFor('[data-key]')
    expect(Number(await tab.evaluate(topOf('[data-key]')))).toBeLessThan(400)
    await tab.waitForGone('main figure')
    await tab.click('role=button[name="Chart"]')
    await tab.waitFor('main figure')
  })
})
