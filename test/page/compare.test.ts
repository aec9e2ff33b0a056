import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { pick } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { talker, type Talk, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { ask, openConversation, said } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, upstream: FaultUpstream, talk: Talker, tab: Tab

beforeAll(async () => {
  service = await startService({ providers: [] })
})
afterAll(() => service.stop())
beforeEach(async () => {
  talk = talker()
  upstream = faultUpstream(talk.script)
  const priced = (name: string) => ({ name, price: { input: 100, output: 1_000 } })
  await service.configure({
    providers: [
      provider('openai', upstream.url, [], { models: [priced('one'), priced('two')] }),
      provider('groq', upstream.url, ['three', 'four', 'five']),
    ],
  })
})
afterEach(async () => {
  expect(await complaintsOf(tab)).toEqual([])
  upstream.stop()
})

const column = (place: number): string => `section[aria-label^="Model ${place}:"]`
const announced = (text: string): string =>
  `document.querySelector('[aria-live="polite"]').textContent.startsWith(${JSON.stringify(text)})`

/** Focuses the button with this text. */
const focusOn = (text: string): string =>
  `[...document.querySelectorAll('button')].find((each) => each.textContent === '${text}').focus()`

/** Opens the comparison of the models `one` and `two`. */
async function open(look: PersonOptions = wide): Promise<void> {
  tab = chromium.person(look).tab()
  await openConversation(tab, service.url)
  await tab.press('Control+Shift+L')
  await tab.waitForUrl('**/#/compare')
  await tab.waitFor('h1 >> text=Compare models')
  await tab.until(`document.activeElement.id === 'message' || matchMedia('(pointer: coarse)').matches`)
}

/** The next requests, by their models. */
async function asked(count: number): Promise<ReadonlyMap<string, Talk>> {
  const talks = await Promise.all(Array.from({ length: count }, () => talk.next()))
  return new Map(talks.map((each) => [String(pick(each.body, 'model')), each]))
}

async function answerAll(talks: ReadonlyMap<string, Talk>): Promise<void> {
  for (const [model, each] of talks) {
    await each.say(`Said by ${model}`)
    await each.finish()
  }
}

describeInChromium('a comparison', () => {
  test('streams the answers of two models beside each other, each with its figures', async () => {
    await open()
    await tab.type('Which is better?')
    await tab.press('Enter')
    const talks = await asked(2)
    expect([...talks.keys()].toSorted()).toEqual(['one', 'two'])
    await tab.until(announced('2 models are answering'))
    await talks.get('two')?.say('Second **first')
    await tab.waitFor(`${column(2)} >> text=Second`)
    await talks.get('one')?.say('First second')
    await tab.waitFor(`${column(1)} >> text=First second`)
    await talks.get('two')?.finish()
    await tab.until(announced('Ended: two. 1 to come'))
    await tab.waitFor(`${column(2)} >> text=/^two · .* · \\$0\\.0053$/`)
    expect(await tab.evaluate(`document.querySelectorAll('${column(1)} summary').length`)).toBe(0)
    await talks.get('one')?.finish()
    await tab.until(announced('All answers ended'))
    await tab.click('summary >> text=Figures of the last answers')
    await tab.waitFor('tr:has(th:text-is("two")) >> text=$0.0053')
    expect(await violationsOf(tab)).toEqual([])
  }, 20_000)

  test('stops one answer, or all, and asks all again', async () => {
    await open()
    await ask(tab, 'Talk')
    const talks = await asked(2)
    for (const each of talks.values()) await each.say('Half an')
    await tab.click(`${column(1)} >> [aria-label="Stop this answer"]`)
    await talks.get('one')?.left
    await tab.waitFor(`${column(1)} >> text=Stopped.`)
    await tab.waitFor(`${column(2)} >> [aria-label="Stop this answer"]`)
    await tab.press('Escape')
    await talks.get('two')?.left
    await tab.waitFor(`${column(2)} >> text=Stopped.`)
    await ask(tab, 'Once more')
    const again = await asked(2)
    expect(again.get('one')?.messages).toEqual(['user: Talk', 'assistant: Half an', 'user: Once more'])
    await answerAll(again)
    await tab.until(announced('All answers ended'))
  }, 20_000)

  test('goes on with keys alone: another model joins, is asked, and becomes a conversation', async () => {
    await open()
    await ask(tab, 'Hello')
    await answerAll(await asked(2))
    await tab.waitFor(`${column(2)} >> summary >> text=/ answered$/`)
    await tab.evaluate(focusOn('Add a model'))
    await tab.press('Enter')
    await tab.waitFor('[role="listbox"]')
    await tab.type('three')
    await tab.press('Enter')
    await tab.waitFor(`${column(3)} >> button:has-text("Model: three")`)
    await tab.evaluate(focusOn('Ask it the last question'))
    await tab.press('Enter')
    const [third] = (await asked(1)).values()
    expect(third?.messages).toEqual(['user: Hello'])
    await third?.say('Third')
    await third?.finish()
    await tab.waitFor(`${column(3)} >> summary >> text=/ answered$/`)
    await tab.evaluate(`document.querySelector('${column(3)} [aria-label="Continue as a conversation"]').focus()`)
    await tab.press('Enter')
    await tab.waitForUrl('**/#/chat/*')
    await tab.waitFor(said('Third'))
    await tab.until(`document.title === 'Hello (three) · svc'`)
    await ask(tab, 'And then?')
    const [further] = (await asked(1)).values()
    expect([pick(further?.body, 'model'), further?.messages]).toEqual([
      'three',
      ['user: Hello', 'assistant: Third', 'user: And then?'],
    ])
  }, 20_000)

  test('lasts over a reload, until a new one begins', async () => {
    await open()
    await tab.press('Control+.')
    await tab.fill('dialog textarea', 'Be brief.')
    await tab.press('Escape')
    await ask(tab, 'Hello')
    const talks = await asked(2)
    expect(talks.get('two')?.messages).toEqual(['system: Be brief.', 'user: Hello'])
    await talks.get('one')?.say('At first: ')
    await tab.waitFor(`${column(1)} >> text=At first`)
    await tab.reload()
    await tab.waitFor(`${column(1)} >> text=At first`)
    await answerAll(talks)
    await tab.waitFor(`${column(1)} >> text=At first: Said by one`)
    await tab.waitFor(`${column(2)} >> text=Said by two`)
    await tab.waitFor(`${column(2)} >> summary >> text=/ answered$/`)
    await tab.waitFor(`${column(1)} >> summary >> text=/ answered$/`)
    await tab.click('button:has-text("New comparison")')
    await tab.waitForGone('text=At first')
    await ask(tab, 'Anew')
    expect((await asked(2)).get('one')?.messages).toEqual(['system: Be brief.', 'user: Anew'])
    await tab.click('#sidebar >> role=link[name="New"]')
    await tab.click('#sidebar >> role=link[name="Compare"]')
    await tab.waitFor(`${column(1)} >> text=Anew`)
  }, 20_000)

  test('shows what failed in its column, and the others go on', async () => {
    await open()
    await ask(tab, 'Hello')
    const talks = await asked(2)
    await talks.get('one')?.refuse(400, 'No <b>such</b> thing')
    await tab.click(`${column(1)} >> [role="alert"] >> summary`)
    await tab.waitFor(`${column(1)} >> text=No <b>such</b> thing`)
    await talks.get('two')?.say('Well')
    await talks.get('two')?.finish()
    await tab.waitFor(`${column(2)} >> summary >> text=/ answered$/`)
    expect(await tab.evaluate(`document.querySelectorAll('${column(1)} b').length`)).toBe(0)
  }, 20_000)

  test('has tabs on a phone, and nothing for axe-core to mend in light and dark', async () => {
    await open({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.click('#message')
    await ask(tab, 'Hello')
    const talks = await asked(2)
    await talks.get('two')?.say('Said by two')
    await tab.waitFor(column(1))
    await tab.waitFor('[role="tab"] >> nth=1 >> text=answering')
    expect(await tab.evaluate(`document.querySelectorAll('section').length`)).toBe(1)
    await tab.evaluate(`document.querySelector('[role="tab"][aria-selected="true"]').focus()`)
    await tab.press('ArrowRight')
    await tab.waitFor(`${column(2)} >> text=Said by two`)
    await talks.get('two')?.finish()
    await talks.get('one')?.say('Said by one')
    await talks.get('one')?.finish()
    await tab.until(announced('All answers ended'))
    await tab.click('summary >> text=Figures of the last answers')
    for (const theme of ['light', 'dark']) {
      await tab.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
      expect([await violationsOf(tab), await overflowOf(tab)]).toEqual([[], 0])
    }
    await tab.press('Home')
    await tab.click('[role="tab"] >> text=one')
    await tab.waitFor(`${column(1)} >> text=Said by one`)
  }, 20_000)

  test('has at most four models', async () => {
    await open()
    for (const name of ['three', 'four']) {
      await tab.click('button:has-text("Add a model")')
      await tab.waitFor('[role="listbox"]')
      await tab.type(name)
      await tab.press('Enter')
      await tab.waitFor(`button:has-text("Model: ${name}")`)
    }
    await tab.waitFor('[title="At most 4 models are compared"]:disabled')
    await tab.click(`${column(1)} >> [aria-label="Remove this model"]`)
    await ask(tab, 'Hello')
    const talks = await asked(3)
    expect([...talks.keys()].toSorted()).toEqual(['four', 'three', 'two'])
    await answerAll(talks)
    await tab.until(announced('All answers ended'))
    expect(await violationsOf(tab)).toEqual([])
  }, 20_000)
})
