import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson, pick } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type Exchange, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead } from '../fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { ask, converse, lastMessage, openConversation } from './conversation.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

interface TitledRig extends AsyncDisposable {
  readonly service: ServiceUnderTest
  /** Of model `m`. */
  readonly chat: FaultUpstream
  /** Of model `cheap`, which makes titles. */
  readonly cheap: FaultUpstream
}

async function startTitled(): Promise<TitledRig> {
  const chat = faultUpstream(streaming({ content: 'It scatters.' })),
    cheap = faultUpstream(titled('"Blue **skies**"'))
  const service = await startService({
    titles: { model: 'cheap' },
    providers: [provider('a', chat.url, ['m']), provider('b', cheap.url, ['cheap'])],
  })
  return {
    service,
    chat,
    cheap,
    async [Symbol.asyncDispose]() {
      await service.stop()
      chat.stop()
      cheap.stop()
    },
  }
}

/** Streams deltas. */
function streaming(...deltas: readonly object[]): Script {
  return async (exchange: Exchange) => {
    await exchange.write(streamHead)
    for (const delta of deltas) await exchange.write(framed(event(chunk(delta))))
    await exchange.write(framed(event(chunk({}, 'stop'))))
    await exchange.write(framed(done))
    await exchange.write(lastChunk)
  }
}

function titled(text: string): Script {
  return (exchange) => exchange.write(reply(200, JSON.stringify(completion(text))))
}

let rig: TitledRig, person: Person, tab: Tab
inChromium(startTitled, (scene) => ({ rig, person, tab } = scene))

const rows = `[...document.querySelectorAll('[data-row] a')].map((each) => each.textContent).join(' | ')`

describeInChromium('a title', () => {
  beforeEach(() => {
    rig.chat.use(streaming({ content: 'It scatters.' }))
    rig.cheap.use(titled('"Blue **skies**"'))
  })
  afterEach(async () => expect(await complaintsOf(tab)).toEqual([]))

  test('is made by the model of the owner after the first answer, once, in every tab', async () => {
    const before = rig.cheap.hits.length
    await openConversation(tab, rig.service.url)
    const other = person.tab('other')
    await other.goto(`${rig.service.url}/`)
    await converse(tab, 'Why is the sky blue?')
    for (const each of [tab, other]) await each.until(`${rows} === 'Blue skies'`)
    await converse(tab, 'And at night?')
    await tab.reload()
    await tab.until(`${rows} === 'Blue skies'`)
    expect(rig.cheap.hits.length - before).toBe(1)
    expect(parseJson(new TextDecoder().decode(rig.cheap.hits.at(-1)?.body))).toMatchObject({
      model: 'cheap',
      max_tokens: 200,
    })
  }, 30_000)

  test('that a person chose meanwhile stays, and a failure keeps the first line', async () => {
    const asked = Promise.withResolvers<undefined>(),
      renamed = Promise.withResolvers<undefined>()
    rig.cheap.use(async (exchange) => {
      asked.resolve(undefined)
      await renamed.promise
      await exchange.write(reply(200, JSON.stringify(completion('Blue skies'))))
    })
    await openConversation(tab, rig.service.url)
    await converse(tab, 'Why is the sky blue?')
    await asked.promise
    await tab.until(`document.querySelector('[aria-label^="More for Why"]') !== null`)
    await tab.evaluate(`document.querySelector('[aria-label^="More for Why"]').click()`)
    await tab.click('[role="menuitem"]:visible:text-is("Rename")')
    await tab.fill('[aria-label="Title of the conversation"]', 'Mine')
    await tab.press('Enter')
    await tab.until(`${rows} === 'Mine'`)
    renamed.resolve(undefined)
    rig.cheap.use((exchange) => exchange.write(reply(400, '{"error":{"message":"no"}}')))
    await tab.click('#sidebar >> role=link[name="New"]')
    await tab.waitForGone('article')
    await converse(tab, 'Second question')
    await tab.until(`${rows} === 'Second question | Mine'`)
  }, 30_000)
})

const hostile = '<img src=x onerror="window.hostileRan=1">\u202e'
const calls = [
  { content: 'Let me look.' },
  { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } }] },
  { tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris",' } }] },
  { tool_calls: [{ index: 0, function: { arguments: '"days":3}' } }] },
  { tool_calls: [{ index: 1, id: 'call_2', function: { name: hostile, arguments: `not JSON ${hostile}` } }] },
  { executed_tools: [{ index: 0, type: 'search', arguments: '{"query":"x"}', output: `Found ${hostile}` }] },
]
const card = `${lastMessage} details`

describeInChromium('calls of tools', () => {
  afterEach(async () => {
    expect(await tab.evaluate('window.hostileRan')).toBeUndefined()
    expect(await complaintsOf(tab)).toEqual([])
  })

  test('are folded cards that grow, and hostile ones are text; they survive a reload', async () => {
    const rest = Promise.withResolvers<undefined>()
    rig.chat.use(async (exchange) => {
      await exchange.write(streamHead)
      for (const delta of calls.slice(0, 3)) await exchange.write(framed(event(chunk(delta))))
      await rest.promise
      for (const delta of calls.slice(3)) await exchange.write(framed(event(chunk(delta))))
      await exchange.write(framed(event(chunk({}, 'tool_calls'))))
      await exchange.write(framed(done))
      await exchange.write(lastChunk)
    })
    await openConversation(tab, rig.service.url)
    await ask(tab, 'Weather?')
    await tab.waitFor(`${card} >> text=writing…`)
    await tab.evaluate(`document.querySelector('${card} summary').focus()`)
    await tab.press('Enter')
    await tab.waitFor(`${card}[open] >> text={"city":"Paris",`)
    rest.resolve(undefined)
    await tab.until(`document.querySelectorAll('${card}').length >= 3`)
    await tab.waitFor(`${card}[open] >> text="days": 3`)
    // The JSON is coloured.
    await tab.until(`document.querySelector('${card}[open] code span[class^="code-"]') !== null`)
    await tab.reload()
    await tab.until(`document.querySelectorAll('${card}').length >= 3`)
    for (const place of [0, 1, 2]) await tab.click(`${card} >> nth=${place} >> summary`)
    await tab.waitFor(`${card} >> text=/not JSON <img/`)
    await tab.waitFor(`${card} >> text=/Found <img/`)
    expect(await tab.evaluate(`document.querySelector('${lastMessage} img')`)).toBeNull()
    expect(await violationsOf(tab)).toEqual([])
  }, 30_000)

  test('go into files and back', async () => {
    rig.chat.use(streaming(...calls))
    await openConversation(tab, rig.service.url)
    await converse(tab, 'Weather?')
    await tab.until(`document.querySelectorAll('[data-row] a').length === 1`)
    const saved = async (entry: string) => {
      await tab.evaluate(`document.querySelector('[data-row] [aria-haspopup="menu"]').click()`)
      return await tab.download(`[role="menuitem"]:visible:has-text("${entry}")`)
    }
    const markdown = await saved('Export as Markdown')
    expect(markdown.text).toContain(
      '<details><summary>Tool: get_weather</summary>\n\n```json\n{"city":"Paris","days":3}',
    )
    expect(markdown.text).toContain('<details><summary>Tool: &lt;img')
    const page = await saved('Export as HTML')
    expect(page.text).toContain('get_weather')
    expect(page.text).toContain('Found &lt;img')
    expect(page.text).not.toContain('<img')
    const json = await saved('Export as JSON')
    const { tools } = Object(pick(parseJson(json.text), 'conversations', 0, 'messages', 1))
    expect(tools).toEqual([
      { id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris","days":3}' },
      { id: 'call_2', name: hostile, arguments: `not JSON ${hostile}` },
      { id: 'ran-0', name: 'search', arguments: '{"query":"x"}', result: `Found ${hostile}` },
    ])

    const folder = await mkdtemp(join(tmpdir(), 'svc-tools-'))
    try {
      await writeFile(
        join(folder, json.name),
        json.text.replace('Found', 'Imported').replace('Let me look.', 'Imported text'),
      )
      await tab.setFiles('nav input[type="file"]', [join(folder, json.name)])
      await tab.waitFor('dialog >> text=1 conversation was added.')
      await tab.press('Escape')
      await tab.waitForGone('dialog')
      await tab.click('[data-row] a:not([aria-current])')
      await tab.waitFor(`${lastMessage} >> text=Imported text`)
      await tab.click(`${card} >> nth=2 >> summary`)
      await tab.waitFor(`${card} >> text=/Imported <img/`)
    } finally {
      await rm(folder, { recursive: true })
    }
  }, 40_000)
})
