import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { errorReply } from '../fakes/replies.ts'
import { talker, type Talk, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { violationsOf } from './axe.ts'
import { answerLine, ask, lastMessage, openConversation } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let busy: FaultUpstream, upstream: FaultUpstream, talk: Talker, service: ServiceUnderTest, tab: Tab

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
  await service.configure({ providers: [provider('groq', busy.url, ['m']), provider('spare', upstream.url, ['m'])] })
})
afterEach(async () => {
  upstream.stop()
  expect(await tab.complaints()).toEqual([])
})

const line = `${lastMessage} >> [role="status"]`
const lineWords = async (): Promise<string> => (await tab.textOf(line)).replaceAll(/\s+/g, ' ').trim()
const askingSpare = /^failed: groq busy , then → asking spare… [\d.]+ m?s$/
/** Starts of the questions who is asked, in milliseconds of the page. */
const looks = (): Promise<unknown> =>
  tab.evaluate(`performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/running'))
    .map(({ startTime }) => startTime)`)

/** Asks a question, for which the first provider is busy, and the second one works on its answer. */
async function asked(look: PersonOptions = wide): Promise<Talk> {
  tab = chromium.person(look).tab()
  await openConversation(tab, service.url)
  await tab.evaluate(`addEventListener('keydown', () => (window.sentAt ??= performance.now()), true)`)
  await ask(tab, 'Tell me')
  return talk.next()
}

describeInChromium('an answer that is waited for', () => {
  test('names who failed and who is asked; the same line says who answers, and opens to the attempts', async () => {
    const answer = await asked()
    await tab.waitFor(`${line} >> text=/asking spare/`)
    expect(await lineWords()).toMatch(askingSpare)
    const told = Number(await tab.evaluate(`performance.now() - window.sentAt`))
    // The page looks after 0.6 s. The rest is for a machine with other work.
    expect(told).toBeWithin(600, 3_000)
    const seconds = `${line} >> [aria-hidden="true"].tabular-nums`
    const before = await tab.textOf(seconds)
    await tab.until(`document.querySelector('[role="status"] .tabular-nums').innerText !== ${JSON.stringify(before)}`)
    expect(await violationsOf(tab)).toEqual([])

    await answer.say('Here ')
    await tab.until(`document.querySelector('${lastMessage} [role="status"]')?.innerText.includes('answered') === true`)
    expect(await lineWords()).toBe('failed: groq busy , then → spare answered')
    await answer.say('it is.')
    await answer.finish()
    await tab.waitFor(`${lastMessage} >> summary >> text=/^spare answered$/`)
    expect(await answerLine(tab)).toMatch(/^failed: groq busy , then → spare answered m · [\d.]+ s/)

    await tab.evaluate(`document.querySelector('${lastMessage} summary').focus()`)
    await tab.press('Enter')
    await tab.waitFor(`${lastMessage} >> ol >> text=/busy · rate limit, status 429/`)
    await tab.waitFor(`${lastMessage} >> dl >> text=3 in, 5 out`)
    await tab.press('Enter')
    await tab.waitForGone(`${lastMessage} >> ol`)
    await tab.click(`${lastMessage} >> summary`)
    await tab.waitFor(`${lastMessage} >> ol >> text=/spare answered, status 200/`)
    expect(await violationsOf(tab)).toEqual([])
  }, 30_000)

  test('says so after a reload, too', async () => {
    const answer = await asked()
    await tab.waitFor(`${line} >> text=/asking spare/`)
    await tab.reload()
    await tab.waitFor(`${line} >> text=/asking spare/`)
    expect(await lineWords()).toMatch(askingSpare)
    await answer.say('Here it is.')
    await answer.finish()
    await tab.waitFor(`${lastMessage} >> summary >> text=/^spare answered$/`)
  }, 30_000)

  test('is not asked about when it begins at once, nor after its first word', async () => {
    const answer = await asked()
    await answer.say('Here')
    await tab.waitFor(`${lastMessage} >> text=Here`)
    const before = JSON.stringify(await looks())
    await Bun.sleep(1_200)
    expect(JSON.stringify(await looks())).toBe(before)
    await answer.finish()
  }, 30_000)

  test('keeps its mark without motion', async () => {
    const answer = await asked({ ...wide, reducedMotion: 'reduce' })
    await tab.waitFor(`${line} >> text=/asking spare/`)
    expect(
      await tab.evaluate(`document.getAnimations().filter(({ playState, effect }) =>
        playState === 'running' && effect.getComputedTiming().duration > 1).length`),
    ).toBe(0)
    expect(
      await tab.evaluate(`document.querySelector('[role="status"] .border-accent').getBoundingClientRect().width`),
    ).toBe(16)
    await answer.finish()
  }, 30_000)
})
