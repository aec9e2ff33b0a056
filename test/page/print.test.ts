import { expect, test } from 'bun:test'
import type { Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { ask, lastMessage, openConversation } from './conversation.ts'
import { describeInChromium, inChromium, wide } from './in-chromium.ts'

let service: ServiceUnderTest, tab: Tab
inChromium(
  () => startService({ providers: [{ id: 'echo' }] }),
  (scene) => ({ rig: service, tab } = scene),
  { look: { ...wide, colorScheme: 'dark' } },
)

describeInChromium('on paper a conversation', () => {
  test('is printed as a whole, dark on white, without the rest of the page', async () => {
    await openConversation(tab, service.url)
    await tab.waitFor('#sidebar')
    await ask(tab, Array.from({ length: 200 }, (_, line) => `Line ${line}`).join('\n\n'))
    await tab.waitFor(`${lastMessage} >> summary >> text=/ answered$/`)
    // Paper is too narrow for the list beside the conversation.
    await tab.setSize(700, 900)
    await tab.setMedia('print')
    await tab.until(
      `[...document.querySelectorAll('#sidebar, form, header, article button')]
        .every((element) => !element.checkVisibility())`,
    )
    const cut = `[...document.querySelectorAll('*')]
      .filter((element) => element.contains(document.querySelector('article')))
      .filter((element) => getComputedStyle(element).overflowY !== 'visible')
      .map(({ tagName }) => tagName)`
    expect(await tab.evaluate(cut)).toEqual([])
    expect(
      await tab.evaluate(
        `document.documentElement.scrollHeight > 5000 && getComputedStyle(document.documentElement).colorScheme`,
      ),
    ).toBe('light')
    expect(await complaintsOf(tab)).toEqual([])
  }, 20_000)
})
