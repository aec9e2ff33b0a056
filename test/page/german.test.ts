import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { errorReply } from '../fakes/replies.ts'
import { provider, type ServiceConfig } from '../harness.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let rig: SignInRig, token: string, failing: FaultUpstream

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
  for (const name of ['laptop', 'nightly-job']) await post('/api/keys', { name, models: ['gpt-6*'] })
  // One that fails, with a text of its own, and one that cannot be used.
  const { providers, ...config } = JSON.parse(await readFile(rig.service.file, 'utf8')) as ServiceConfig
  failing = faultUpstream((exchange) => exchange.write(errorReply(503, { message: 'The model is not loaded' })))
  const more = [provider('lab', failing.url), provider('keyless', failing.url, ['m'], { api_key: '$NO_SUCH_KEY' })]
  await rig.service.configure({ ...config, providers: [...providers, ...more] })
  await rig.logged('configuration reloaded', 'lab')
  await rig.ask({ 'x-session-token': token }, { model: 'lab/m' })
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  failing.stop()
})

async function post(path: string, body: object): Promise<void> {
  const { status } = await fetch(`${rig.service.url}${path}`, {
    method: 'POST',
    headers: { 'x-session-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(status).toBe(200)
}

interface View {
  readonly view: string
  /** A sign that it is complete. */
  readonly sign: string
  /** What opens from it, by name. */
  readonly more?: Readonly<Record<string, (tab: Tab) => Promise<void>>>
}

/** Clicks on what is at a selector, and waits for another. */
const opens =
  (selector: string, sign = 'dialog[open]') =>
  async (tab: Tab): Promise<void> => {
    await tab.click(selector)
    await tab.waitFor(sign)
  }

const views: readonly View[] = [
  {
    view: 'providers',
    sign: 'main ol li',
    more: {
      details: opens('main ol h2 button >> nth=-1', 'main ol dl'),
      menu: opens('main ol [aria-haspopup=menu]', ':popover-open [role=menu]'),
      settings: async (tab) => {
        await opens('main ol [aria-haspopup=menu]', ':popover-open [role=menu]')(tab)
        await opens(':popover-open [role=menu] [role=menuitem]:has-text("Einstellungen")', 'dialog form')(tab)
      },
      form: async (tab) => {
        await tab.goto(`${rig.service.url}/#/providers/add`)
        await tab.waitFor('main form select')
        await tab.select('main form select', 'mistral')
        await tab.waitFor('main form summary')
        await tab.click('main form summary')
      },
    },
  },
  { view: 'models', sign: 'main li a' },
  { view: 'keys', sign: 'main ul li code', more: { end: opens('main ul li button >> nth=-1') } },
  { view: 'limits', sign: 'main li table', more: { editor: opens('main h1 + div button', 'dialog textarea') } },
  { view: 'requests', sign: 'main [data-key]', more: { request: opens('main [data-key] button', 'main dl code') } },
  { view: 'usage', sign: 'main table' },
  { view: 'audit', sign: 'main ol li' },
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
  const view = document.querySelector('dialog[open], :popover-open') ?? document.querySelector('main')
  const attributes = ['aria-label', 'title', 'placeholder']
  const names = [...view.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap((element) =>
    attributes.map((name) => element.getAttribute(name) ?? ''))
  const texts = document.createTreeWalker(view, NodeFilter.SHOW_TEXT)
  // Code, and names that people and providers gave, are in no language.
  while (texts.nextNode()) if (texts.currentNode.parentElement.closest('code, pre, bdi, textarea') === null)
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

describeInChromium('in German and without English words, faults of accessibility and overflow', () => {
  describe.each(looks)('%s', (look, options) => {
    test.each(views.map((view) => [view.view, view] as const))(
      'is %s',
      async (view, { sign, more = {} }) => {
        const visitor = chromium.person({ ...options, locale: 'de' }),
          tab = visitor.tab()
        await visitor.setCookie(rig.service.url, 'token', token)
        await tab.goto(`${rig.service.url}/#/${view}`)
        await tab.waitFor(sign)
        await tab.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)
        await check(tab, view, look)
        for (const [name, open] of Object.entries(more)) {
          await open(tab)
          await check(tab, `${view}-${name}`, look)
          await tab.press('Escape')
        }
      },
      30_000,
    )
  })
})
