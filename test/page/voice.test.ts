import { afterEach, expect, test } from 'bun:test'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startRig, type Rig } from '../rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { converse, openConversation } from './conversation.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: Rig, tab: Tab
inChromium(
  () => startRig([good()]),
  (scene) => {
    ;({ rig, tab } = scene)
  },
)
afterEach(async () => expect(await complaintsOf(tab)).toEqual([]))

/** Replaces the speech recognition of the browser, which needs a microphone and a server of its maker. */
const fakeRecognition = `window.recognitions = []
  window.webkitSpeechRecognition = class {
    calls = []
    constructor() { window.recognitions.push(this) }
    start() { this.calls.push('start') }
    abort() { this.calls.push('abort') }
    hear(transcript, isFinal) {
      this.onresult({ resultIndex: 0, results: [Object.assign([{ transcript }], { isFinal })] })
    }
  }
  delete window.SpeechRecognition`

/** Replaces the speech of the browser, for which this machine may have no voice. */
const fakeSpeech = `window.said = []
  Object.assign(speechSynthesis, { speak: (each) => window.said.push(each), cancel: () => window.said.push('cancel') })`

const fieldIs = (text: string): string => `document.querySelector('#message').value === ${JSON.stringify(text)}`

/** Renders the message field again. */
async function renew(): Promise<void> {
  await tab.evaluate(`location.hash = '#/providers'`)
  await tab.waitForGone('#message')
  await tab.evaluate(`location.hash = '#/'`)
  await tab.waitFor('#message')
}

describeInChromium('voice', () => {
  test('dictates after a question that comes once, and asks for no permission before', async () => {
    await openConversation(tab, rig.service.url)
    await tab.evaluate(fakeRecognition)
    await renew()
    await tab.evaluate(`document.querySelector('[aria-label="Dictate"]').focus()`)
    await tab.press('Enter')
    await tab.waitFor('dialog >> text=svc does not get the sound')
    expect(await violationsOf(tab)).toEqual([])
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate('recognitions.length')).toBe(0)
    await tab.press('Enter')
    await tab.click('dialog >> button:has-text("Dictate")')
    await tab.waitFor('text=Dictating…')
    expect(await tab.evaluate('recognitions[0].calls')).toEqual(['start'])
    await tab.evaluate(`recognitions[0].hear('Hello wor', false)`)
    await tab.until(fieldIs('Hello wor'))
    await tab.evaluate(`recognitions[0].hear('Hello world', true)`)
    await tab.until(fieldIs('Hello world'))
    expect(await violationsOf(tab)).toEqual([])
    await tab.press('Escape')
    await tab.waitForGone('text=Dictating…')
    expect(await tab.evaluate('recognitions[0].calls')).toEqual(['start', 'abort'])
    await tab.click('[aria-label="Dictate"]')
    await tab.waitFor('text=Dictating…')
    await tab.evaluate(`(({ onerror, onend }) => { onerror({ error: 'not-allowed' }); onend() })(recognitions[1])`)
    await tab.waitFor('text=The microphone is not allowed for this page.')
    await tab.click('[aria-label="Dictate"]')
    await tab.waitFor('text=Dictating…')
    await tab.press('Tab')
    await tab.click('[aria-label="Send"]')
    await tab.waitFor('[role="log"] >> text=Hello world')
    expect(await tab.evaluate('recognitions[2].calls')).toEqual(['start', 'abort'])
  }, 20_000)

  test('reads an answer aloud until it is stopped', async () => {
    await openConversation(tab, rig.service.url)
    await tab.evaluate(fakeSpeech)
    await converse(tab, 'stream=word tokens=3')
    const readAloud = async (): Promise<void> => {
      await tab.click('[aria-label="More about this answer"]')
      await tab.click('[role="menuitem"]:has-text("Read aloud")')
    }
    await readAloud()
    await tab.waitFor('[aria-label="Stop reading"]')
    expect(await tab.evaluate(`said.at(-1).text`)).toBe('word-0 word-1 word-2')
    expect(await violationsOf(tab)).toEqual([])
    await tab.evaluate(`said.at(-1).onend()`)
    await tab.waitForGone('[aria-label="Stop reading"]')
    await readAloud()
    await tab.click('[aria-label="Stop reading"]')
    await tab.waitForGone('[aria-label="Stop reading"]')
    expect(await tab.evaluate(`said.at(-1)`)).toBe('cancel')
  }, 20_000)

  test('fits on a phone', async () => {
    await tab.setSize(390, 844)
    await openConversation(tab, rig.service.url)
    await tab.evaluate(`${fakeRecognition}; localStorage.setItem('svc-dictation', 'on')`)
    await renew()
    await tab.click('[aria-label="Dictate"]')
    await tab.waitFor('text=Dictating…')
    for (const theme of ['light', 'dark']) {
      await tab.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
      expect([await violationsOf(tab), await overflowOf(tab)]).toEqual([[], 0])
    }
  }, 20_000)

  test('has no buttons where the browser has none of it', async () => {
    await openConversation(tab, rig.service.url)
    await tab.evaluate(`for (const name of ['SpeechRecognition', 'webkitSpeechRecognition', 'speechSynthesis'])
      for (let at = window; at !== null; at = Object.getPrototypeOf(at)) delete at[name]`)
    await renew()
    expect(await tab.evaluate(`document.querySelectorAll('[aria-label="Dictate"]').length`)).toBe(0)
    await converse(tab, 'Hello')
    await tab.click('[aria-label="More about this answer"]')
    await tab.waitFor('role=menuitem[name="Copy as curl"]')
    expect(await tab.evaluate(`document.body.textContent.includes('Read aloud')`)).toBe(false)
  }, 20_000)

  test('may use the microphone on this page, and nothing else', async () => {
    const { headers } = await fetch(`${rig.service.url}/`, { headers: { accept: 'text/html' } })
    expect(headers.get('permissions-policy')).toBe('camera=(), microphone=(self), geolocation=()')
  })
})
