import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { reply } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { ask, lastMessage, openConversation, said } from './conversation.ts'
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

/** Runs lines in a shell on the service's machine, and types the key that they ask for. */
function type(lines: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['bash', '-e'], { stdin: Buffer.from(`${lines}\nany\n`) })
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
}

/** Replaces the provider of a line by a local upstream. */
const at = (line: string, upstream: FaultUpstream): string =>
  line.replace(/"api_key": "[^"]*"/, `"api_key": "any", "base_url": "${upstream.url}"`)

describeInChromium('a newcomer', () => {
  test('chats with the echo, adds a provider by the shown lines, repairs a typo, and sees a failover', async () => {
    await openConversation(tab, service.url)
    await tab.waitFor('main >> text=This is the built-in echo')
    const lines = await tab.evaluate(
      `[...document.querySelectorAll('main ol code')].map(({ textContent }) => textContent)`,
    )
    expect(lines).toEqual([
      `mkdir -p -m 700 ${service.home}`,
      "(umask 077; printf 'Key: '; read -rs key; " +
        `printf '{ "providers": [{ "id": "groq", "api_key": "%s" }] }\\n' "$key" > ${service.file})`,
    ])

    // With a typo at the first try.
    type(String(Array.isArray(lines) ? lines.join('\n') : '').replace('] }', '} ]'))
    await tab.waitFor('role=alert >> text=/providers.json:1:/')

    await ask(tab, 'Is this on?')
    await tab.waitFor(`${lastMessage} >> text=Is this on?`)
    await tab.waitFor(`${lastMessage} >> text=/^echo via echo/`)

    // Unchanged, except for the address of the provider.
    type(at(String(Array.isArray(lines) ? lines.join('\n') : ''), first))
    await tab.waitFor('text=No provider lists echo')
    await tab.click('role=button[name="Choose another model…"]')
    await tab.waitFor('[role="option"] >> text=llama-4')
    await tab.press('Enter')
    await tab.waitFor('button:has-text("Model: llama-4")')
    await tab.waitForGone('text=No provider lists echo')
    await ask(tab, 'And who are you?')
    await tab.waitFor(said('first-0 first-1 first-2'))
    await tab.waitFor(`${lastMessage} >> text=/^llama-4 via groq/`)

    await tab.click('role=link[name="Providers"]')
    await tab.waitFor('h2 >> text=groq')
    await tab.click('summary >> text=Add a provider')
    const line = await tab.textOf('main details[open] pre')
    const text = await readFile(service.file, 'utf8')
    // The first provider of the list is asked first.
    await service.configure(text.replace(']', `, ${at(line, second).replace('"groq"', '"spare"')} ]`))
    await tab.waitFor('h2 >> text=spare')

    first.stop()
    await tab.back()
    await tab.waitFor('#message')
    await ask(tab, 'Are you still there?')
    await tab.waitFor(said('second-0 second-1 second-2'))
    await tab.waitFor(`${lastMessage} >> text=/ via /`)
    expect(await tab.textOf(`${lastMessage} >> summary`)).toMatch(/^llama-4 via spare \(groq unreachable\)/)

    await tab.click('role=link[name="Requests"]')
    await tab.waitFor('[data-key] >> nth=0 >> text=groq')
    expect(await complaintsOf(tab)).toEqual([])
  }, 40_000)
})
