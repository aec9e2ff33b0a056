import { expect, test } from 'bun:test'
import { parseJson, pick } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { faultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { errorReply, reply } from '../fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { ask, openConversation, said } from './conversation.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

const listed = ['text-embedding-ada-002', 'whisper-1', 'llama-4', 'tts-1']
const listReply = reply(200, JSON.stringify({ object: 'list', data: listed.map((id) => ({ id, object: 'model' })) }))

/** Lists several models, one of which can chat. */
const upstreamScript: Script = (exchange) => {
  if (exchange.hit.method === 'GET') return exchange.write(listReply)
  const model = pick(parseJson(new TextDecoder().decode(exchange.hit.body)), 'model')
  return model === 'llama-4'
    ? good({ name: 'llama' })(exchange)
    : exchange.write(errorReply(404, { message: 'no such chat model', code: 'model_not_found' }))
}

interface Scenery extends AsyncDisposable {
  readonly service: ServiceUnderTest
}

async function start(): Promise<Scenery> {
  const upstream = faultUpstream(upstreamScript)
  const service = await startService({
    providers: [{ id: 'learned', base_url: upstream.url }, provider('written', upstream.url, ['nomic-embed'])],
  })
  return {
    service,
    async [Symbol.asyncDispose]() {
      upstream.stop()
      await service.stop()
    },
  }
}

let service: ServiceUnderTest, tab: Tab
inChromium(start, (scene) => {
  service = scene.rig.service
  tab = scene.tab
})

describeInChromium('a provider whose list begins with an embedding', () => {
  test('answers the first message, for the first model that chats is chosen', async () => {
    await openConversation(tab, service.url)
    expect(await tab.textOf('button[aria-haspopup="dialog"]')).toContain('llama-4')
    await ask(tab, 'hello')
    await tab.waitFor(said('llama-2'))
  })

  test('shows in the picker what chats and what the owner wrote down, and asks for the rest by name', async () => {
    await openConversation(tab, service.url)
    await tab.press('Control+/')
    await tab.waitFor('[role="option"]')
    expect(
      await tab.evaluate(
        `[...document.querySelectorAll('[role="option"]')].map(({ textContent }) => textContent.split(',')[0])`,
      ),
    ).toEqual(['llama-4', 'nomic-embed'])
    await tab.waitFor('text=2 models, without 3 that do not chat')
    await tab.type('whisper-1')
    await tab.press('Enter')
    await tab.waitFor('button:has-text("Model: whisper-1")')
    await tab.press('Control+/')
    await tab.waitFor('[role="option"]:has-text("whisper-1")')
  })

  test('is listed whole by the API', async () => {
    const models = pick(await (await fetch(`${service.url}/v1/models`)).json(), 'data')
    expect(Array.isArray(models) ? models.map((model) => pick(model, 'id')) : models).toEqual([
      ...listed,
      'nomic-embed',
    ])
  })
})
