import { afterEach, beforeEach, expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { parseJson, pick } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { talker, type Talk, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { ask, chooseModel, lastMessage, openConversation, said } from './conversation.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let service: ServiceUnderTest
let upstream: FaultUpstream, talk: Talker, person: Person, tab: Tab
/** Number for the ids of providers, which differ in each test: the service keeps the health of providers. */
let round = 0

inChromium(
  () => startService({ providers: [] }),
  (scene) => ({ rig: service, person, tab } = scene),
)
beforeEach(async () => {
  round++
  talk = talker()
  upstream = faultUpstream(talk.script)
  await use(offering('m', 'other'))
})
afterEach(async () => {
  upstream.stop()
  expect(await complaintsOf(tab)).toEqual([])
})

function offering(...models: readonly string[]): ServiceConfig {
  return {
    providers: [provider(`a${round}`, upstream.url, models), provider(`b${round}`, upstream.url, models)],
    failover: { on_cut: 'error' },
  }
}

/** Configures the service, and waits until it has reloaded. */
async function use(config: ServiceConfig): Promise<void> {
  await service.configure(config)
  const wanted = JSON.stringify(config.providers.map(({ id }) => id)),
    models = config.providers[0]?.models?.length ?? 0
  for (const began = performance.now(); performance.now() - began < 5_000; await Bun.sleep(10)) {
    const data = pick(parseJson(await fetch(`${service.url}/v1/models`).then((answer) => answer.text())), 'data')
    if (Array.isArray(data) && data.length === models && JSON.stringify(pick(data, 0, 'providers')) === wanted) return
  }
  throw new Error(`the configuration was not taken over:\n${service.output}`)
}

/** Starts an answer and sends half of it. */
async function half(at: Pick<ServiceUnderTest, 'url'> = service): Promise<Talk> {
  await openConversation(tab, at.url)
  await ask(tab, 'Tell me')
  const asked = await talk.next()
  await asked.say('Half of it,')
  await tab.waitFor(said('Half of it,'))
  return asked
}

/** A network to a port of this machine. `cut` breaks all its connections. */
async function networkTo(port: number): Promise<AsyncDisposable & { readonly url: string; cut(): void }> {
  const connections = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    connections.add(near)
    near.on('close', () => far.destroy()).on('error', () => far.destroy())
    far.on('close', () => near.destroy()).on('error', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  function cut(): void {
    for (const each of connections) each.resetAndDestroy()
    connections.clear()
  }
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`,
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function goesOn(): Promise<void> {
  await tab.click(`${lastMessage} >> button:has-text("Continue")`)
  const asked = await talk.next()
  expect(asked.messages).toEqual(['user: Tell me', 'assistant: Half of it,'])
  await asked.say(' and the rest.')
  await asked.finish()
  await tab.waitFor(said('Half of it, and the rest.'))
}

describeInChromium('an answer that breaks off', () => {
  test('is continued after the service was killed and started again', async () => {
    const first = await startService(offering('m'))
    await half(first)
    first.signal('SIGKILL')
    await first.exited
    await tab.waitFor(said('Interrupted'))
    await using _ = await startService(offering('m'), { port: first.port })
    await goesOn()
  }, 30_000)

  /** The text of the last answer. */
  const shownText = (): Promise<string> => tab.textOf(`${lastMessage} >> p >> nth=0`)

  test('by a reload goes on to its end, without loss or doubling', async () => {
    const asked = await half()
    await tab.reload()
    await tab.waitFor('[aria-label="Stop"]')
    expect(await shownText()).toBe('Half of it,')
    await asked.say(' more,')
    await tab.waitFor(said('Half of it, more,'))
    await tab.reload()
    await asked.say(' and the rest.')
    await asked.finish()
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    expect(await shownText()).toBe('Half of it, more, and the rest.')
    expect(await tab.text()).not.toContain('Interrupted')
  }, 20_000)

  test('by closing its tab ends meanwhile, and is complete in the next one', async () => {
    const asked = await half()
    const address = await tab.url()
    await tab.goto('about:blank')
    await asked.say(' and the rest.')
    await asked.finish()
    tab = person.tab('later')
    await tab.goto(address)
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    expect(await shownText()).toBe('Half of it, and the rest.')
  }, 20_000)

  test('before its first word by a reload is not asked for again', async () => {
    await openConversation(tab, service.url)
    await ask(tab, 'Tell me')
    const asked = await talk.next()
    // The conversation is stored.
    await tab.waitFor('[aria-label="More for Tell me"]')
    await tab.reload()
    await asked.say('All of it.')
    await asked.finish()
    await tab.waitFor(said('All of it.'))
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
  }, 20_000)

  test('is stopped after a reload, all the way to the provider', async () => {
    const asked = await half()
    await tab.reload()
    await tab.click('[aria-label="Stop"]')
    await asked.left
    await tab.waitFor(said('Stopped.'))
    expect(await shownText()).toBe('Half of it,')
  }, 20_000)

  test('by a lost connection goes on over a new one', async () => {
    await using network = await networkTo(service.port)
    const asked = await half(network)
    network.cut()
    await asked.say(' more,')
    await tab.waitFor(said('Half of it, more,'))
    network.cut()
    await asked.say(' and the rest.')
    await asked.finish()
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    expect(await shownText()).toBe('Half of it, more, and the rest.')
    expect(
      await tab.evaluate(`performance.getEntriesByType('resource').some(({ name }) => /answers.*from=/.test(name))`),
    ).toBe(true)
  }, 20_000)

  test('by its provider is shown with the providers asked, and can be continued', async () => {
    const asked = await half()
    asked.cut()
    await tab.waitFor('[role="alert"] >> text=The answer was cut off')
    await tab.click('[role="alert"] >> summary')
    expect((await tab.textOf('[role="alert"] >> ol')).replaceAll(/\s+/g, ' ')).toMatch(
      /^a\d+ cut off, status 200 [\d.]+ m?s$/,
    )
    await goesOn()
  }, 20_000)

  test('that goes on in vain loses nothing', async () => {
    const asked = await half()
    asked.cut()
    await tab.click(`${lastMessage} >> button:has-text("Continue")`)
    for (let attempt = 0; attempt < 2; attempt++) await (await talk.next()).refuse(500, 'It broke')
    await tab.click('[role="alert"] >> summary')
    await tab.waitFor('[role="alert"] >> text=/500/ >> nth=0')
    await tab.waitFor(said('Half of it,'))
    await tab.reload()
    await tab.waitFor(said('Half of it,'))
  }, 20_000)
})

/** Texts of the buttons of the error. */
const buttons = (): Promise<unknown> =>
  tab.evaluate(`[...document.querySelectorAll('[role="alert"] button')].map(({ innerText }) => innerText)`)

describeInChromium('an answer that does not come', () => {
  test('names every failed provider and the time to wait, and can be retried at once', async () => {
    await openConversation(tab, service.url)
    await ask(tab, 'Tell me')
    for (let attempt = 0; attempt < 2; attempt++)
      await (await talk.next()).refuse(429, 'Slow down', { 'retry-after': '30' })
    await tab.waitFor('[role="alert"] >> text=Every provider that was asked failed')
    await tab.waitFor('[role="alert"] button >> text=/^Retry in (30|2\\d) s$/ >> nth=-1')
    // The details of the error have the origin of the answer.
    expect(await tab.evaluate(`document.querySelectorAll('${lastMessage} summary').length`)).toBe(1)
    await tab.click('[role="alert"] >> summary')
    expect((await tab.textOf('[role="alert"] >> ol')).replaceAll(/\s+/g, ' ')).toMatch(
      /^a\d+ busy · rate limit, status 429 [\d.]+ m?s b\d+ busy · rate limit, status 429 [\d.]+ m?s$/,
    )
    // Both cool down; a new provider is used at once.
    await use({ providers: [provider(`c${round}`, upstream.url, ['m'])] })
    expect(await tab.textOf('[role="alert"] >> text=/^Code/')).toBe('Code provider_error, status 429')
    expect(await buttons()).toEqual([expect.stringContaining('Retry in '), '', 'Choose another model…'])
    await tab.evaluate(`document.querySelector('[role="alert"] button').focus()`)
    await tab.press('Enter')
    const again = await talk.next()
    await again.say('Now I do')
    await again.finish()
    await tab.waitFor(said('Now I do'))
    await tab.waitForGone('[role="alert"]')
  }, 20_000)

  test('of a model without a provider leads to another model', async () => {
    await openConversation(tab, service.url)
    await chooseModel(tab, 'other')
    await use(offering('m'))
    await ask(tab, 'Tell me')
    await tab.waitFor('[role="alert"] >> text=No enabled provider offers this model')
    await tab.click('[role="alert"] >> button:has-text("Choose another model")')
    await tab.waitFor('[role="listbox"]')
    await tab.type('m')
    await tab.press('Enter')
    const asked = await talk.next()
    await asked.say('Here')
    await asked.finish()
    await tab.waitFor(said('Here'))
  }, 20_000)

  test('because the conversation is too long leads, with keys alone, to a model that takes more', async () => {
    const models = [
      { name: 'm', context: 8_192 },
      { name: 'other', context: 4_096 },
      { name: 'roomy', context: 131_072 },
    ]
    await use({ providers: [provider(`a${round}`, upstream.url, [], { models })] })
    await openConversation(tab, service.url)
    await ask(tab, 'Tell me')
    await (await talk.next()).refuse(400, "This model's maximum context length is 8192 tokens")
    await tab.waitFor('[role="alert"] >> text=The conversation is too long for this model')
    await tab.waitFor('[role="alert"] >> button:has-text("Ask roomy (131k tokens)")')
    expect(await buttons()).toEqual(['Ask roomy (131k tokens)'])
    await tab.evaluate(`document.querySelector('[role="log"]').focus()`)
    await tab.press('Tab')
    for (
      let presses = 0;
      presses < 10 && !String(await tab.evaluate('document.activeElement.innerText')).startsWith('Ask ');
      presses++
    )
      await tab.press('Tab')
    await tab.press('Enter')
    const asked = await talk.next()
    expect([pick(asked.body, 'model'), asked.messages]).toEqual(['roomy', ['user: Tell me']])
    await asked.say('There is room')
    await asked.finish()
    await tab.waitFor(said('There is room'))
    await tab.waitFor('button:has-text("Model: roomy")')
    await tab.until(`document.activeElement.id === 'message'`)
  }, 20_000)

  test('while there is no network keeps the message, and comes when there is', async () => {
    await openConversation(tab, service.url)
    await person.setOffline(true)
    await ask(tab, 'Are you there?')
    await tab.waitFor('[role="alert"] >> text=You are offline')
    await person.setOffline(false)
    await tab.waitFor('[role="alert"] >> text=The service cannot be reached')
    await tab.click('[role="alert"] >> button:has-text("Retry")')
    const asked = await talk.next()
    expect(asked.messages).toEqual(['user: Are you there?'])
    await asked.say('I am')
    await asked.finish()
    await tab.waitFor(said('I am'))
  }, 20_000)

  test('shows the errors of the providers; a key opens the settings, and the focus comes back', async () => {
    await openConversation(tab, service.url)
    await ask(tab, 'Tell me')
    for (let attempt = 0; attempt < 2; attempt++) await (await talk.next()).refuse(400, 'temperature is not supported')
    await tab.click('[role="alert"] >> summary')
    await tab.waitFor('[role="alert"] >> text=/temperature is not supported/')
    await tab.press('Control+.')
    await tab.waitFor('dialog >> text=System prompt')
    await tab.press('Escape')
    await tab.until(`document.activeElement.textContent === 'Details'`)
  }, 20_000)

  test('shows a message when it takes a while', async () => {
    await openConversation(tab, service.url)
    await ask(tab, 'Tell me')
    await talk.next()
    await tab.waitFor('[role="status"] >> text=/^asking a\\d+…/')
    await tab.press('Escape')
    await tab.waitFor(said('Stopped before an answer began.'))
  }, 20_000)
})

describeInChromium('an answer that is on its way in another tab', () => {
  test('is shown there too, also before its first word', async () => {
    await openConversation(tab, service.url)
    await ask(tab, 'Tell me')
    const asked = await talk.next()
    await tab.waitForUrl('**/#/chat/*')
    const other = person.tab('second')
    await other.goto(await tab.url())
    await asked.say('Half of it,')
    await other.waitFor(said('Half of it,'))
    await other.reload()
    await other.waitFor('[aria-label="Stop"]')
    await asked.say(' and the rest.')
    await other.waitFor(said('Half of it, and the rest.'))
    expect(await other.text()).not.toContain('Interrupted')
    await asked.finish()
    await other.waitFor('[role="log"] summary >> text=/ answered$/')
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
  }, 20_000)
})

describeInChromium('a conversation that is not there', () => {
  test('says so', async () => {
    await tab.goto(`${service.url}/#/chat/0123456789abcdef`)
    await tab.waitFor('text=There is no such conversation in this browser')
  }, 20_000)

  test('any more is shown until one leaves, and can be kept', async () => {
    const asked = await half()
    await asked.finish()
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    const address = await tab.url()
    const other = person.tab('second')
    await other.goto(address)
    await other.waitFor(said('Half of it,'))
    await other.click('[aria-label="More for Tell me"]')
    await other.click('[role="menuitem"]:has-text("Delete"):visible')
    await tab.waitFor('text=This conversation was deleted')
    await tab.waitFor(said('Half of it,'))
    await tab.click('text=Keep it')
    await tab.waitFor('#message')
    await other.waitFor('[aria-label="More for Tell me"]')
  }, 20_000)
})
