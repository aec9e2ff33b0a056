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
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Views of owners, with a sign that they are complete. */
const views = [
  ['limits', 'main li table'],
  ['audit', 'main ol li'],
] as const

const wide = { viewport: { width: 1440, height: 900 } },
  phone = { viewport: { width: 390, height: 844 }, hasTouch: true }
const looks: readonly (readonly [string, PersonOptions])[] = [
  ['light', { ...wide, colorScheme: 'light' }],
  ['phone, dark', { ...phone, colorScheme: 'dark' }],
  ...(pictures === undefined
    ? []
    : ([
        ['dark', { ...wide, colorScheme: 'dark' }],
        ['phone', { ...phone, colorScheme: 'light' }],
      ] as const)),
]

/** Words of English sentences that German has not, in what a view shows and in the names of its elements. */
const englishWords = `(() => {
  const main = document.querySelector('dialog[open]') ?? document.querySelector('main')
  const names = [...main.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap((element) =>
    ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? ''))
  const shown = main.cloneNode(true)
  // Code, and names that people and providers gave.
  for (const element of shown.querySelectorAll('code, pre, bdi')) element.remove()
  const words = 'the of and with is are this that to not for you your its has have by or no on'.replaceAll(' ', '|')
  const found = new RegExp('[^\\n]{0,20}\\b(?:' + words + ')\\b[^\\n]{0,20}', 'gi')
  return [shown.textContent, ...names].join('\\n').match(found) ?? []
})()`

async function check(tab: Tab, name: string, look: string): Promise<void> {
  if (pictures !== undefined) await tab.screenshot(join(pictures, `${name}-${look.replace(', ', '-')}.png`))
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
      for (const [view, sign] of views) {
        await tab.evaluate(`location.hash = '#/${view}'`)
        await tab.waitFor(sign)
        await tab.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)
        await check(tab, view, look)
      }
    },
    40_000,
  )
})
