import { expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { configPath } from '../sign-in/rig.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

const part = '**/assets/page-part-*.js'
const closed = { flags: ['--auth', 'provider_auth'], files: { [configPath]: '{}' } }
let service: ServiceUnderTest, person: Person, tab: Tab
inChromium(
  () => startService({ providers: [{ id: 'echo' }] }, closed),
  (scene) => ({ rig: service, person, tab } = scene),
)

const moduleOf = (body: string) => ({ contentType: 'text/javascript', body })

describeInChromium('the part of an extension', () => {
  test('replaces the page’s own part', async () => {
    await tab.goto(service.url)
    await tab.waitFor('role=button[name=/^Sign in with/]')
    expect(await tab.text()).not.toContain('does not work')
  })

  test.each([
    ['does not load', () => person.refuse(part)],
    [
      'throws where it is shown',
      () =>
        person.answer(part, moduleOf('export const part = { replace: { SignIn() { throw new Error("not today") } } }')),
    ],
    ['is something else', () => person.answer(part, moduleOf('export const part = 1'))],
  ])('that %s leaves the page’s own, which says so', async (_, fail) => {
    await fail()
    await tab.goto(service.url)
    await tab.waitFor('text=A part of this page does not work (provider_auth)')
    await tab.fill('input[type=password]', 'a token')
    await tab.press('Enter')
    await tab.waitFor('role=alert >> text=This token is not accepted.')
    expect(await tab.evaluate(`document.activeElement.type`)).toBe('password')
  })
})

describeInChromium('the page', () => {
  test('shows that it is loading while the service does not answer', async () => {
    await person.hold('**/api/boot')
    await tab.goto(service.url)
    await tab.waitFor('main >> text=Loading…')
    await person.admit('**/api/boot')
    await tab.reload()
    await tab.waitFor('role=button[name=/^Sign in with/]')
  })

  test('keeps a token when the service is unreachable', async () => {
    await person.refuse(part)
    await tab.goto(service.url)
    await tab.waitFor('input[type=password]')
    await person.refuse('**/api/boot')
    await tab.fill('input[type=password]', 'a token')
    await tab.press('Enter')
    await tab.waitFor('role=alert >> text=The service cannot be reached. Try again in a moment.')
  })
})
