import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Person, PersonOptions, Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, tab: Tab

beforeAll(async () => {
  service = await startService({ providers: [{ id: 'echo' }] })
})
afterAll(() => service.stop())

/** Starts with a new person. */
function begin(options?: PersonOptions): Person {
  const person = chromium.person(options)
  tab = person.tab()
  return person
}

const focused = `((element) => (element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim())(
  document.activeElement)`

describeInChromium('the frame of the page', () => {
  afterEach(async () => {
    expect(await complaintsOf(tab)).toEqual([])
  })

  test('removes a possible token from the address before anything else, and sends it nowhere', async () => {
    begin()
    await tab.goto(`${service.url}/?session=abc#/providers`)
    await tab.waitFor('h1')
    expect(await tab.url()).toBe(`${service.url}/#/providers`)
    expect(
      await tab.evaluate(
        'performance.getEntriesByType("resource").filter(({ name }) => name.includes("session=")).length',
      ),
    ).toBe(0)
  })

  test('lists its keys at ?, and puts the focus back', async () => {
    begin()
    await tab.goto(`${service.url}/#/providers`)
    await tab.waitFor('h1')
    await tab.evaluate(`document.querySelector('#sidebar a').focus()`)
    await tab.press('?')
    await tab.waitFor('dialog >> text=Show this list')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(focused)).toBe('Back to the chat')
  })

  test('keeps a sign that is typed in a field, and single keys can be switched off', async () => {
    begin()
    await tab.goto(`${service.url}/`)
    await tab.fill('#message', 'Why')
    await tab.press('?')
    expect(await tab.evaluate(`document.querySelector('#message').value`)).toBe('Why?')
    await tab.click('[aria-label="Menu of this page"]')
    await tab.click('role=menuitem[name="Keyboard"]')
    await tab.click('text=Keys without Ctrl')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.press('?')
    expect(await tab.evaluate(`document.querySelector('dialog') === null`)).toBe(true)
  })

  test('is in German for a German browser, and in the language that a person chooses', async () => {
    begin({ locale: 'de-AT' })
    await tab.goto(`${service.url}/`)
    await tab.waitFor('text=Was möchten Sie wissen?')
    expect(await tab.evaluate('document.documentElement.lang')).toBe('de')
    expect(await tab.text()).not.toContain('New conversation')
    await tab.click('[aria-label="Menü dieser Seite"]')
    await tab.waitFor('role=menuitemradio[name="Browser"][checked]')
    for (let pressed = 0; pressed < 4; pressed += 1) await tab.press('ArrowDown')
    expect(await tab.evaluate(focused)).toBe('English')
    await tab.press('Enter')
    await tab.waitFor('text=What would you like to know?')
    expect(await tab.evaluate('document.documentElement.lang')).toBe('en')
    await tab.reload()
    await tab.click('[aria-label="Menu of this page"]')
    await tab.waitFor('role=menuitemradio[name="English"][checked]')
    await tab.click('role=menuitemradio[name="Browser"]')
    await tab.waitFor('text=Was möchten Sie wissen?')
  })

  test('has a theme that a person chooses, applied before the first paint', async () => {
    begin({ colorScheme: 'light' })
    await tab.goto(`${service.url}/`)
    await tab.waitFor('main')
    const background = 'getComputedStyle(document.body).backgroundColor'
    const light = await tab.evaluate(background)
    await tab.click('[aria-label="Menu of this page"]')
    await tab.waitFor('role=menuitemradio[name="System"][checked]')
    await tab.press('ArrowRight')
    await tab.press('ArrowRight')
    await tab.press('Enter')
    await tab.waitFor('role=menuitemradio[name="Dark"][checked]')
    const dark = await tab.evaluate(background)
    expect(dark).not.toBe(light)
    await tab.reload()
    expect(await tab.evaluate(background)).toBe(dark)
  })

  test('is gone through with keys alone: views, conversations, the skip link', async () => {
    begin()
    await tab.goto(`${service.url}/#/requests`)
    await tab.waitFor('h1')
    await tab.press('Tab')
    expect(await tab.evaluate(focused)).toBe('Skip to the content')
    await tab.press('Control+Shift+O')
    await tab.waitFor('#message')
    await tab.waitFor('nav[aria-label="Conversations"]')
    await tab.press('Control+b')
    await tab.waitForGone('nav[aria-label="Conversations"]')
    await tab.press('Control+k')
    await tab.waitFor('nav[aria-label="Conversations"] input:focus')
    await tab.press('Control+b')
    expect(await tab.evaluate(focused)).toBe('Show the sidebar')
    await tab.evaluate(`document.querySelector('a[href="#main"]').focus()`)
    await tab.press('Enter')
    await tab.until(`document.activeElement.id === 'message'`)
    expect(await tab.evaluate('document.title')).toBe('Chat · svc')
  })

  test('lays the conversations above the view on a phone, and hides them when one is opened', async () => {
    begin({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.goto(`${service.url}/#/chat`)
    await tab.waitFor('#message')
    await tab.waitForGone('nav[aria-label="Conversations"]')
    await tab.click('[aria-label="Show the sidebar"]')
    await tab.waitFor('nav[aria-label="Conversations"]')
    await tab.click('#sidebar >> role=link[name="New"]')
    await tab.waitForGone('nav[aria-label="Conversations"]')
    expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })

  test('has the conversations beside the view only in wide windows', async () => {
    begin(wide)
    await tab.goto(`${service.url}/`)
    await tab.waitFor('nav[aria-label="Conversations"]')
    await tab.setSize(500, 800)
    await tab.waitForGone('nav[aria-label="Conversations"]')
    await tab.setSize(1280, 800)
    await tab.waitFor('nav[aria-label="Conversations"]')
  })

  test('keeps keys and focus of a phone in the conversations while they cover the view, and returns them', async () => {
    begin({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.goto(`${service.url}/`)
    await tab.waitFor('#message')
    await tab.click('[aria-label="Show the sidebar"]')
    await tab.waitFor('nav[aria-label="Conversations"] input')
    await tab.evaluate(`document.querySelector('#message').focus()`)
    expect(await tab.evaluate(`document.querySelector('main').contains(document.activeElement)`)).toBe(false)
    await tab.evaluate(`document.querySelector('nav[aria-label="Conversations"] input').focus()`)
    await tab.press('Escape')
    await tab.waitForGone('nav[aria-label="Conversations"]')
    expect(await tab.evaluate(focused)).toBe('Show the sidebar')
    await tab.evaluate(`document.querySelector('#message').focus()`)
    expect(await tab.evaluate('document.activeElement.id')).toBe('message')
  })

  test('is not reached by keys while a dialog is open above it', async () => {
    begin(wide)
    await tab.goto(`${service.url}/`)
    await tab.waitFor('nav[aria-label="Conversations"]')
    await tab.waitFor('role=textbox[name="Message"]')
    await tab.press('Control+.')
    await tab.waitFor('dialog >> text=System prompt')
    await tab.press('Control+b')
    await tab.press('Control+/')
    expect(
      await tab.evaluate(`[document.querySelector('#sidebar') !== null, document.querySelectorAll('dialog').length]`),
    ).toEqual([true, 1])
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.press('Control+b')
    await tab.waitForGone('nav[aria-label="Conversations"]')
  })

  test('shows that the service is unreachable, and goes on when it is back', async () => {
    const person = begin()
    await person.refuse('**/api/boot')
    await tab.goto(`${service.url}/#/requests`)
    await tab.waitFor('role=alert >> text=The service cannot be reached')
    await person.admit('**/api/boot')
    await tab.click('role=button[name="Try again"]')
    await tab.waitFor('h1 >> text=Requests')
  })
})
