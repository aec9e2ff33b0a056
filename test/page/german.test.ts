import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig, token: string

const access = {
  time_zone: 'Europe/Berlin',
  limits: [
    { for: 'everyone', usd: 20, per: 'month' },
    { for: 'each person', requests: 60, per: 'day', at_once: 8 },
    { for: 'team:search', tokens: 100_000, per: 'hour', models: ['gpt-5*'] },
  ],
  teams: { search: { leads: ['ada'], members: ['bob'] } },
}

beforeAll(async () => {
  rig = await startSignIn(startGithub, {
    flags: ['--auth', 'keys'],
    owners: ['ada'],
    files: { 'access.json': JSON.stringify(access) },
  })
  token = (await rig.signIn('ada')).token
  // Refused: a budget counts the model, which has no price.
  await rig.ask({ 'x-session-token': token })
  await rig.service.write('access.json', JSON.stringify({ ...access, limits: access.limits.slice(1) }))
  await rig.logged('access.json')
  await rig.ask({ 'x-session-token': token })
  for (const name of ['laptop', 'nightly-job']) await make({ name, models: ['gpt-6*'] })
})
afterAll(() => rig[Symbol.asyncDispose]())

async function make(body: object): Promise<void> {
  const { status } = await fetch(`${rig.service.url}/api/keys`, {
    method: 'POST',
    headers: { 'x-session-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(status).toBe(200)
}

/** Views of owners, with a sign that they are complete, and what opens more: a dialog, or what the sign of it says. */
const views: readonly (readonly [view: string, sign: string, opener?: string, signOfMore?: string])[] = [
  ['keys', 'main ul li code', 'main ul li button >> nth=-1'],
  ['limits', 'main li table'],
  ['requests', 'main [data-key]', 'main [data-key] button', 'main dl code'],
  ['usage', 'main table'],
  ['audit', 'main ol li'],
]

const wide = { viewport: { width: 1440, height: 900 } },
  phone = { viewport: { width: 390, height: 844 }, hasTouch: true }
// German words are the longest. Where they fit a phone, they fit a wide window; pictures show all.
const looks: readonly (readonly [string, PersonOptions])[] = (
  [
    ['phone-dark', { ...phone, colorScheme: 'dark' }],
    ['phone-light', { ...phone, colorScheme: 'light' }],
    ['wide-dark', { ...wide, colorScheme: 'dark' }],
    ['wide-light', { ...wide, colorScheme: 'light' }],
  ] as const
).slice(0, pictures === undefined ? 1 : 4)

/** Words of English sentences that German has not, in what a view shows and in the names of its elements. */
const englishWords = String.raw`(() => {
  const view = document.querySelector('dialog[open]') ?? document.querySelector('main')
  const attributes = ['aria-label', 'title', 'placeholder']
  const names = [...view.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap((element) =>
    attributes.map((name) => element.getAttribute(name) ?? ''))
  const texts = document.createTreeWalker(view, NodeFilter.SHOW_TEXT)
  // Code, and names that people and providers gave, are in no language.
  while (texts.nextNode()) if (texts.currentNode.parentElement.closest('code, pre, bdi') === null)
    names.push(texts.currentNode.data)
  const english = /\b(?:the|of|and|with|is|are|this|that|to|not|for|you|your|its|has|have|by|or|no|on)\b/i
  return names.filter((text) => english.test(text))
})()`

async function check(tab: Tab, name: string, look: string): Promise<void> {
  if (pictures !== undefined) await tab.screenshot(join(pictures, `${name}-${look}.png`))
  expect([name, await tab.evaluate(englishWords)]).toEqual([name, []])
  expect([name, await violationsOf(tab)]).toEqual([name, []])
  expect([name, await overflowOf(tab)]).toEqual([name, 0])
}

describeInChromium('the views of owners in German', () => {
  test.each(looks)(
    'have no English word, no fault of accessibility, and fit: %s',
    async (look, options) => {
      const tab = chromium.person({ ...options, locale: 'de' }).tab()
      await tab.goto(`${rig.service.url}/health`)
      await tab.evaluate(`document.cookie = 'token=${token}; path=/'`)
      await tab.goto(`${rig.service.url}/#/limits`)
      for (const [view, sign, opener, signOfMore = 'dialog[open]'] of views) {
        await tab.evaluate(`location.hash = '#/${view}'`)
        await tab.waitFor(sign)
        await tab.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)
        await check(tab, view, look)
        if (opener === undefined) continue
        await tab.click(opener)
        await tab.waitFor(signOfMore)
        await check(tab, `${view}-more`, look)
        await tab.press('Escape')
      }
    },
    40_000,
  )
})
