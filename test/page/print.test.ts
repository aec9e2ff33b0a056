import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startChromium, type Chromium } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { needs } from '../needs.ts'
import { complaintsOf } from './complaints.ts'
import { ask, lastMessage, openConversation } from './conversation.ts'

const executable = needs('chromium')
let chromium: Chromium, service: ServiceUnderTest

beforeAll(async () => {
  if (executable === undefined) return
  ;[chromium, service] = await Promise.all([startChromium(executable), startService({ providers: [{ id: 'echo' }] })])
})
afterAll(async () => {
  if (executable === undefined) return
  await chromium.close()
  await service.stop()
})

describe.skipIf(executable === undefined)('on paper a conversation', () => {
  test('is there as a whole, dark on white, without what stands around it', async () => {
    const tab = chromium.person({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }).tab()
    await openConversation(tab, service.url)
    await tab.waitFor('#sidebar')
    await ask(tab, Array.from({ length: 200 }, (_, line) => `Line ${line}`).join('\n\n'))
    await tab.waitFor(`${lastMessage} >> text=/first token/`)
    // Paper is narrower than the place that the list beside the conversation needs.
    await tab.setSize(700, 900)
    await tab.setMedia('print')
    await tab.until(`[...document.querySelectorAll('#sidebar, form, header, article button')].every((element) => !element.checkVisibility())`)
    const cut = `[...document.querySelectorAll('*')].filter((element) => element.contains(document.querySelector('article')) && getComputedStyle(element).overflowY !== 'visible').map(({ tagName }) => tagName)`
    expect(await tab.evaluate(cut)).toEqual([])
    expect(await tab.evaluate(`document.documentElement.scrollHeight > 5000 && getComputedStyle(document.documentElement).colorScheme`)).toBe('light')
    expect(await complaintsOf(tab)).toEqual([])
  }, 20_000)
})
