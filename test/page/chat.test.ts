import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { errorReply } from '../fakes/replies.ts'
import { talker, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from '../harness.ts'
import { answerLine, ask, chooseModel, labelled, lastMessage, openConversation, said } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let busy: FaultUpstream, service: ServiceUnderTest
let upstream: FaultUpstream, talk: Talker, person: Person, tab: Tab
/** Errors of the console that a test expects. */
let expected: RegExp

beforeAll(async () => {
  busy = faultUpstream((exchange) => exchange.write(errorReply(429, { message: 'Slow down' }, { 'retry-after': '0' })))
  service = await startService({ providers: [] })
})
afterAll(async () => {
  busy.stop()
  await service.stop()
})
beforeEach(async () => {
  talk = talker()
  upstream = faultUpstream(talk.script)
  person = chromium.person(wide)
  tab = person.tab()
  expected = /^$/
  await service.configure(configuration())
})
afterEach(async () => {
  upstream.stop()
  expect((await tab.complaints()).filter((text) => !expected.test(text))).toEqual([])
})

/** Model `m` has a provider that answers; `both` has a first one that refuses with 429. */
function configuration(): ServiceConfig {
  const priced = [{ name: 'm', price: { input: 100, output: 1_000 } }]
  return {
    providers: [
      provider('openai', upstream.url, [], { models: priced }),
      provider('groq', busy.url, ['both']),
      provider('spare', upstream.url, ['both']),
    ],
  }
}

const open = (): Promise<void> => openConversation(tab, service.url)

describeInChromium('a conversation', () => {
  test('shows an answer while it comes, and where it came from', async () => {
    await open()
    await ask(tab, 'Hello there')
    const asked = await talk.next()
    expect(asked.messages).toEqual(['user: Hello there'])
    await tab.waitForUrl('**/#/chat/*')
    await tab.waitFor('[aria-label="Stop"]')
    await asked.say('One **two')
    await tab.waitFor(said('One'))
    await asked.say('** three')
    await asked.finish()
    await tab.waitFor(said('/\\$0\\.0053/'))
    expect(await tab.textOf(`${lastMessage} >> strong`)).toBe('two')
    await tab.until(`document.title === 'Hello there · svc' && document.activeElement.id === 'message'`)
    expect(await answerLine(tab)).toMatch(/^openai answered m · [\d.]+ m?s · \$0\.0053$/)
    await tab.click(`${lastMessage} >> summary`)
    expect((await tab.textOf(`${lastMessage} >> dl`)).replaceAll(/\s+/g, ' ')).toMatch(
      /^First token [\d.]+ m?s Tokens 3 in, 5 out Cost \$0\.0053 Request [0-9a-f]{16}$/,
    )
  }, 20_000)

  test('begins with the focus where one writes, and with keys alone goes to another one and back', async () => {
    await open()
    await tab.until(`document.activeElement.id === 'message'`)
    await tab.type('First')
    await tab.press('Enter')
    await (await talk.next()).say('goes on')
    await tab.waitFor(said('goes on'))
    const address = await tab.url()
    await tab.press('Control+Shift+O')
    await tab.waitFor('text=What would you like to know?')
    await tab.back()
    await tab.waitFor(said('goes on'))
    expect(await tab.url()).toBe(address)
    await tab.waitFor('[aria-label="Stop"]')
  }, 20_000)

  test('goes on while another view is looked at', async () => {
    await open()
    await ask(tab, 'Go on')
    const asked = await talk.next()
    await asked.say('Some')
    await tab.waitFor(said('Some'))
    await tab.click('#sidebar >> text=Manage')
    await tab.waitForGone('#message')
    await asked.say(' more')
    await asked.finish()
    await tab.back()
    await tab.waitFor(said('Some more'))
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
  }, 20_000)

  test.each([
    ['the button', () => tab.click('[aria-label="Stop"]')],
    ['Escape', () => tab.press('Escape')],
  ])(
    'is stopped by %s, all the way to the provider',
    async (_, stop) => {
      await open()
      await ask(tab, 'Talk')
      const asked = await talk.next()
      await asked.say('Half an')
      await tab.waitFor(said('Half an'))
      await stop()
      await asked.left
      await tab.waitFor(said('Stopped.'))
      await tab.waitFor(`${lastMessage} >> text=Continue`)
      await tab.waitFor('[aria-label="Send"]')
      await tab.until(`document.querySelector('[aria-live="polite"]').textContent.startsWith('Answer stopped')`)
      await tab.waitFor(said('/· ≈\\$0\\.00/'))
    },
    20_000,
  )

  test('shows failed providers before the one that answered, attempt by attempt', async () => {
    await open()
    await chooseModel(tab, 'both')
    await ask(tab, 'Who?')
    const asked = await talk.next()
    await asked.say('Me')
    await asked.finish()
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    expect(await answerLine(tab)).toMatch(/^failed: groq busy , then → spare answered both · [\d.]+ m?s/)
    await tab.click(`${lastMessage} >> summary`)
    expect((await tab.textOf(`${lastMessage} >> ol[aria-label="2 attempts"]`)).replaceAll(/\s+/g, ' ')).toMatch(
      /^groq busy · rate limit, status 429 [\d.]+ m?s spare answered, status 200 [\d.]+ m?s$/,
    )
    expect(await tab.textOf(`${lastMessage} >> code`)).toMatch(/^[0-9a-f]{16}$/)
  }, 20_000)
})

describeInChromium('once more', () => {
  /** Opens a conversation with one answered question. */
  async function answered(): Promise<void> {
    await open()
    await ask(tab, 'First question')
    const asked = await talk.next()
    await asked.say('First answer')
    await asked.finish()
    await tab.waitFor(labelled('Retry'))
  }

  /** The version that is shown of the last message that has several. */
  const shownVersion = `[...document.querySelectorAll('[aria-label="Versions"] .tabular-nums')].at(-1)?.innerText`

  test('a retry asks the same, and keeps both versions, which keys alone choose', async () => {
    await answered()
    await tab.click(labelled('Retry'))
    const asked = await talk.next()
    expect(asked.messages).toEqual(['user: First question'])
    await asked.say('Second answer')
    await asked.finish()
    await tab.waitFor(said('Second answer'))
    await tab.waitForGone(said('First answer'))
    await tab.until(`${shownVersion} === '2/2'`)
    await tab.evaluate(`document.querySelector('[aria-label="Previous version"]').focus()`)
    await tab.press('Enter')
    await tab.waitFor(said('First answer'))
    await tab.waitForGone(said('Second answer'))
    await tab.until(`document.querySelector('[aria-live="polite"]').textContent.startsWith('Version 1 of 2')`)
    expect(await tab.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe('Previous version')
    await tab.press('Tab')
    await tab.press('Enter')
    await tab.waitFor(said('Second answer'))
    await tab.press('Enter')
    await tab.waitFor(said('First answer'))
    const other = person.tab('second')
    await other.goto(await tab.url())
    await other.waitFor(said('First answer'))
    expect(await other.evaluate(shownVersion)).toBe('1/2')
  }, 20_000)

  test('a fork begins a new conversation with the messages until here', async () => {
    await answered()
    const address = await tab.url()
    await tab.click(labelled('More about this answer'))
    await tab.click('[role="menuitem"]:has-text("Fork from here")')
    await tab.waitFor('h1:has-text("First question (fork)")')
    expect(await tab.url()).not.toBe(address)
    await ask(tab, 'Second question')
    const asked = await talk.next()
    expect(asked.messages).toEqual(['user: First question', 'assistant: First answer', 'user: Second question'])
    await asked.finish()
    await tab.goto(address)
    await tab.waitFor(said('First answer'))
    expect(await tab.text()).not.toContain('Second question')
  }, 20_000)

  test('a retry may ask another model', async () => {
    await answered()
    await tab.click(labelled('More about this answer'))
    await tab.click('[role="menuitem"]:has-text("another model")')
    await tab.waitFor('[role="listbox"]')
    await tab.type('both')
    await tab.press('Enter')
    await (await talk.next()).finish()
    await tab.waitFor('button:has-text("Model: both")')
    await tab.waitFor(said('The answer is empty.'))
    expect(await tab.evaluate('document.activeElement.id')).toBe('message')
  }, 20_000)

  test('a message is edited with keys alone, and the version before keeps what followed it', async () => {
    await answered()
    await ask(tab, 'Second question')
    await (await talk.next()).finish()
    await tab.waitFor('[aria-label="Send"]')
    await tab.press('ArrowUp')
    await tab.until(`document.activeElement.value === 'Second question'`)
    await tab.press('Escape')
    await tab.until(`document.activeElement.id === 'message'`)
    await tab.evaluate(`document.querySelector('article [aria-label="Edit message"]').focus()`)
    await tab.press('Enter')
    await tab.until(`document.activeElement.value === 'First question'`)
    await tab.type(', once more')
    await tab.press('Enter')
    const asked = await talk.next()
    expect(asked.messages).toEqual(['user: First question, once more'])
    await asked.say('Another answer')
    await asked.finish()
    await tab.waitFor(said('Another answer'))
    expect(await tab.evaluate(`document.querySelectorAll('article').length`)).toBe(2)
    await tab.until(`${shownVersion} === '2/2'`)
    await tab.click('[aria-label="Previous version"]')
    await tab.waitFor(said('Second question'))
    expect(await tab.evaluate(`document.querySelectorAll('article').length`)).toBe(4)
    await tab.fill('[type="search"]', 'another')
    await tab.click('[aria-label="Found"] >> a')
    await tab.waitFor(said('Another answer'))
  }, 20_000)

  test('a message is deleted, and comes back', async () => {
    await answered()
    await tab.click(labelled('More about this answer'))
    await tab.click('[role="menuitem"]:has-text("Delete answer")')
    await tab.waitForGone(said('First answer'))
    await tab.click('text=Undo')
    await tab.waitFor(said('First answer'))
  }, 20_000)

  test('an answer that reached its limit goes on', async () => {
    await open()
    await ask(tab, 'Tell me')
    const first = await talk.next()
    await first.say('Once upon')
    await first.finish('length')
    await tab.click(`${lastMessage} >> text=Continue`)
    const second = await talk.next()
    expect(second.messages).toEqual(['user: Tell me', 'assistant: Once upon'])
    await second.say(' a time')
    await second.finish()
    await tab.waitFor(said('Once upon a time'))
    await tab.waitForGone(`${lastMessage} >> text=Continue`)
  }, 20_000)

  test('a question is copied as a command', async () => {
    person = chromium.person({ ...wide, permissions: ['clipboard-read', 'clipboard-write'] })
    tab = person.tab()
    await answered()
    await tab.click(labelled('More about this answer'))
    await tab.click('[role="menuitem"]:has-text("curl")')
    await tab.until(`document.querySelector('[aria-live="polite"]').textContent.startsWith('Copied')`)
    expect(await tab.evaluate('navigator.clipboard.readText()')).toContain(`curl -N ${service.url}/v1/chat/completions`)
  }, 20_000)
})

describeInChromium('two tabs', () => {
  test('show the same conversation after a change in either', async () => {
    await open()
    await ask(tab, 'In the first tab')
    const asked = await talk.next()
    await asked.say('Heard')
    await asked.finish()
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    const other = person.tab('second')
    await other.goto(await tab.url())
    await other.waitFor(said('Heard'))
    await other.fill('#message', 'In the second tab')
    await other.press('Enter')
    const again = await talk.next()
    expect(again.messages).toEqual(['user: In the first tab', 'assistant: Heard', 'user: In the second tab'])
    await again.say('There, too')
    await again.finish()
    await tab.waitFor(said('There, too'))
    await tab.waitFor(said('In the second tab'))
  }, 20_000)

  test('show the same answer while it comes, and either one stops it', async () => {
    await open()
    await ask(tab, 'In the first tab')
    const asked = await talk.next()
    await asked.say('It begins')
    await tab.waitFor(said('It begins'))
    const other = person.tab('second')
    await other.goto(await tab.url())
    await other.waitFor(said('It begins'))
    await asked.say(' and goes on')
    await other.waitFor(said('It begins and goes on'))
    await tab.waitFor(said('It begins and goes on'))
    await other.click('[aria-label="Stop"]')
    await asked.left
    for (const each of [other, tab]) {
      await each.waitFor(said('Stopped.'))
      expect(await each.textOf(`${lastMessage} >> p >> nth=0`)).toBe('It begins and goes on')
    }
  }, 20_000)
})
