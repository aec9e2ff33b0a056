import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { reply } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { answerLine, ask, lastMessage, openConversation, said } from './conversation.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let service: ServiceUnderTest, first: FaultUpstream, second: FaultUpstream, tab: Tab

/** Script of a provider that lists its models and answers. */
function brand(name: string): Script {
  const answer = good({ name })
  return (exchange) =>
    exchange.hit.method === 'GET'
      ? exchange.write(reply(200, JSON.stringify({ object: 'list', data: [{ id: 'llama-4', object: 'model' }] })))
      : answer(exchange)
}

inChromium(
  () => startService(undefined),
  (scene) => ({ rig: service, tab } = scene),
  { form: 'chromium' },
)
beforeAll(() => {
  ;[first, second] = [faultUpstream(brand('first')), faultUpstream(brand('second'))]
})
afterAll(() => {
  first.stop()
  second.stop()
})

describeInChromium('a newcomer', () => {
  test('chats with the echo, adds a provider, breaks and repairs its file, and sees a failover', async () => {
    await openConversation(tab, service.url)
    await tab.waitFor('main >> text=This is the built-in echo')
    await tab.click('main >> role=link[name="Add a provider"]')
    await tab.back()
    await tab.waitFor('#message')
    await ask(tab, 'Is this on?')
    await tab.waitFor(`${lastMessage} >> summary >> text=/^echo answered$/`)
    await tab.click('#sidebar >> text=Manage')
    await tab.click('main >> role=link[name="Add a provider"]')
    await tab.select('main form select >> nth=0', 'other')
    await tab.fill('role=textbox[name="Base URL"]', first.url)
    await tab.fill('role=textbox[name="Name"]', 'lab')
    await tab.fill('main input[type=password]', 'any')
    await tab.click('role=button[name="Add as number 1"]')
    await tab.waitFor('h2 >> text=lab')
    await tab.click('text=Back to the chat')
    await tab.waitFor('text=No provider lists echo')
    await tab.click('role=button[name="Choose another model…"]')
    await tab.waitFor('[role="option"] >> text=llama-4')
    await tab.press('Enter')
    await tab.waitFor('button:has-text("Model: llama-4")')
    await tab.waitForGone('text=No provider lists echo')
    await ask(tab, 'And who are you?')
    await tab.waitFor(said('first-0 first-1 first-2'))
    await tab.waitFor(`${lastMessage} >> summary >> text=/^lab answered$/`)

    await tab.click('#sidebar >> text=Manage')
    await tab.waitFor('h2 >> text=lab')
    await tab.click('role=link[name="Add a provider"]')
    await tab.select('main form select', 'hand')
    expect(await tab.textOf('main form pre')).toBe('{ "id": "groq", "api_key": "$GROQ_API_KEY" },')
    await tab.click('role=link[name="Cancel"]')
    const text = await readFile(service.file, 'utf8')
    const spare = `{ "id": "spare", "base_url": "${second.url}" }`
    // With a typo at the first try.
    await service.configure(text.replace(']', `, ${spare} ] ]`))
    await tab.waitFor('role=alert >> text=/providers.json:/')
    // The first provider of the list is asked first.
    await service.configure(text.replace(']', `, ${spare} ]`))
    await tab.waitFor('h2 >> text=spare')

    first.stop()
    await tab.click('text=Back to the chat')
    await tab.waitFor('#message')
    await ask(tab, 'Are you still there?')
    await tab.waitFor(said('second-0 second-1 second-2'))
    await tab.waitFor(`${lastMessage} >> summary >> text=/ answered$/`)
    expect(await answerLine(tab)).toMatch(/^failed: lab unreachable , then → spare answered llama-4/)

    await tab.click('#sidebar >> text=Manage')
    await tab.click('#sidebar >> text=Requests')
    await tab.waitFor('[data-key] >> nth=0 >> text=lab')
    expect(await complaintsOf(tab)).toEqual([])
  }, 40_000)
})
