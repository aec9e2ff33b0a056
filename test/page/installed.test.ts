import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { ask, openConversation, said } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, tab: Tab

async function start(port = 0): Promise<void> {
  service = await startService({ providers: [{ id: 'echo' }] }, { port })
}

beforeEach(async () => {
  await start()
  tab = chromium.person(wide).tab()
})
afterEach(() => service.stop())

/** Installs the page, as the browser reports it, and loads it again under its service worker. */
async function install(): Promise<void> {
  await tab.evaluate(`dispatchEvent(new Event('appinstalled'))`)
  await tab.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await tab.reload()
  await tab.waitFor('#message')
  await tab.until('navigator.serviceWorker.controller !== null')
}

describeInChromium('the installed page', () => {
  test('can be installed: its manifest and icons load', async () => {
    await tab.goto(`${service.url}/`)
    const manifest =
      await tab.evaluate(`fetch(document.querySelector('link[rel=manifest]').href).then(async (response) => {
      const { name, display, start_url, icons } = await response.json()
      const loaded = await Promise.all(icons.map(async ({ src, sizes }) => {
        const bitmap = sizes === 'any' ? undefined : await createImageBitmap(await (await fetch(src)).blob())
        return [sizes, bitmap?.width]
      }))
      return { type: response.headers.get('content-type'), name, display, start_url, loaded }
    })`)
    expect(manifest).toEqual({
      type: 'application/manifest+json',
      name: 'svc',
      display: 'standalone',
      start_url: '/',
      loaded: [
        ['any', null],
        ['192x192', 192],
        ['512x512', 512],
        ['512x512', 512],
      ],
    })
    expect(await complaintsOf(tab)).toEqual([])
  })

  test('shows stored conversations without the service, and works again with it', async () => {
    await openConversation(tab, service.url)
    await install()
    await ask(tab, 'Remember the milk')
    await tab.waitFor(said('Remember the milk'))
    await tab.waitFor('article[aria-label="Answer"] >> summary >> text=/^echo answered$/')
    const { port } = service
    await service.stop()
    await tab.reload()
    await tab.waitFor('text=The service cannot be reached')
    await tab.waitFor(said('Remember the milk'))
    await start(port)
    await tab.click('text=Try again')
    await tab.waitForGone('text=The service cannot be reached')
    await tab.waitFor(said('Remember the milk'))
  })

  test('keeps no answer of the API, and no address with a token', async () => {
    await openConversation(tab, service.url)
    await install()
    await tab.goto(`${service.url}/?session=abc`)
    await tab.waitFor('#message')
    const kept = await tab.evaluate(`caches.open('svc-page').then(async (cache) =>
      (await cache.keys()).map(({ url }) => new URL(url)).map(({ pathname, search }) =>
        pathname.replace(/^\\/assets\\/.*/, '/assets/') + search))`)
    expect([...new Set(kept as string[])].toSorted()).toEqual(['/', '/assets/'])
  })

  test('has no service worker in a tab', async () => {
    await openConversation(tab, service.url)
    expect(await tab.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)')).toBe(0)
  })
})
