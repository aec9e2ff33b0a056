import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from '../harness.ts'
import { overflowOf, violationsOf } from './axe.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
const pictures = process.env['SVC_TEST_PICTURES']
let service: ServiceUnderTest, upstream: FaultUpstream

const price = { input: 2, output: 8 }
const llama = { name: 'llama-4', context: 131_072 }

/** A provider without a key before two others, of which the last has many models. */
function configuration(count: number): ServiceConfig {
  const many = Array.from({ length: count }, (_, index) => ({ name: `vendor/model-${index}`, price }))
  return {
    providers: [
      provider('keyless', upstream.url, ['llama-4', 'locked'], { api_key: '$NO_SUCH_KEY' }),
      provider('groq', upstream.url, [], { models: [{ ...llama, price: { input: 0, output: 0 } }, 'home-made'] }),
      provider('openai', upstream.url, [], { models: [{ ...llama, price }, { name: 'gpt-6-mini', price }, ...many] }),
    ],
  }
}

beforeAll(async () => {
  upstream = faultUpstream(good())
  service = await startService(configuration(0), {
    files: {
      'access.json': JSON.stringify({
        limits: [{ for: 'everyone', requests: 1, per: 'day', models: ['GPT-6*'] }],
      }),
    },
  })
  const question = { model: 'gpt-6-mini', messages: [{ role: 'user', content: 'Hello' }] }
  expect((await chat(service.url, question)).status).toBe(200)
})
afterAll(async () => {
  await service.stop()
  upstream.stop()
})

/** Script: the texts of the rows. */
const rows = `[...document.querySelectorAll('main ul > li')].map((row) => row.innerText.replace(/\\s+/g, ' ').trim())`

async function show(options: PersonOptions = wide): Promise<Tab> {
  const tab = chromium.person(options).tab()
  await tab.goto(`${service.url}/#/models`)
  await tab.waitFor('main li >> text="Over the limit"')
  await tab.waitFor('main li >> text="Key missing" >> nth=0')
  return tab
}

async function picture(tab: Tab, name: string): Promise<void> {
  if (pictures !== undefined) await tab.screenshot(join(pictures, `${name}.png`))
}

describeInChromium('the view Models', () => {
  test('shows providers in their order, price and context, and what keeps a model from answering', async () => {
    const tab = await show({ viewport: { width: 1440, height: 900 } })
    expect(String(await tab.evaluate(`${rows}.join('\\n')`)).split('\n')).toEqual([
      'llama-4 Key missing failed: keyless key missing , then → 2 groq , then → 3 openai ' +
        'free to $2 in, $8 out per million tokens, depending on the provider 131k context',
      'locked Key missing failed: keyless key missing',
      'home-made No price 1 groq',
      'gpt-6-mini Over the limit 1 openai $2 in, $8 out per million tokens',
    ])
    expect(await tab.textOf('main [role="status"]')).toBe('4 models')
    await picture(tab, 'models-wide')
    expect(await violationsOf(tab)).toEqual([])
    expect(await tab.complaints()).toEqual([])
  }, 30_000)

  test('is searched and left by keys alone: a badge leads to its remedy', async () => {
    const tab = await show()
    await tab.evaluate(`document.querySelector('main input[type="search"]').focus()`)
    await tab.type('gpt6')
    await tab.until(`${rows}.join().startsWith('gpt-6-mini Over the limit')`)
    await tab.press('Tab')
    await tab.press('Enter')
    await tab.waitFor('main >> role=heading[name="Limits"]')
  }, 30_000)

  test('is opened from Manage, and leads to the provider without a key, by the pointer', async () => {
    const tab = await show()
    await tab.goto(`${service.url}/#/providers`)
    await tab.click('nav[aria-label="Manage"] >> role=link[name="Models"]')
    await tab.fill('main input[type="search"]', 'locked')
    await tab.click('main li >> role=link[name="Key missing"]')
    await tab.waitFor('main >> role=heading[name="Providers"]')
    await tab.goto(`${service.url}/#/models`)
    await tab.fill('main input[type="search"]', 'no such model')
    await tab.waitFor('main >> text="No model matches."')
  }, 30_000)

  test('has 400 models, and finds the last one', async () => {
    await service.configure(configuration(400))
    const tab = await show()
    await tab.until(`document.querySelector('main [role="status"]').innerText === '404 models (the first 200 shown)'`)
    await tab.fill('main input[type="search"]', 'model 399')
    await tab.until(`${rows}.join() === 'vendor/model-399 1 openai $2 in, $8 out per million tokens'`)
    await service.configure(configuration(0))
  }, 30_000)

  test('has its facts in the picker, too', async () => {
    const tab = chromium.person({ viewport: { width: 1440, height: 900 } }).tab()
    await tab.goto(`${service.url}/#/`)
    await tab.waitFor('button[aria-haspopup="dialog"]:has-text("llama-4")')
    await tab.press('Control+/')
    const option = (name: string) => `[role="option"]:has-text("${name}")`
    await tab.waitFor(`${option('gpt-6-mini')} >> text="Over the limit"`)
    await tab.waitFor(`${option('llama-4')} >> text="Key missing"`)
    await tab.waitFor(`${option('home-made')} >> text="No price"`)
    await picture(tab, 'picker-wide')
    expect(await violationsOf(tab)).toEqual([])
    await tab.setSize(390, 844)
    await picture(tab, 'picker-narrow')
    expect(await overflowOf(tab)).toBe(0)
  }, 30_000)

  test('are grouped by maker or sorted in the picker, as this browser remembers', async () => {
    const tab = chromium.person().tab()
    const names = `[...document.querySelectorAll('[role="option"]')]
      .map((each) => each.textContent.split(',')[0]).join(' ')`
    const groups = `[...document.querySelectorAll('dialog [role="group"][aria-label]')].slice(1)
      .map((each) => each.getAttribute('aria-label')).join(' ')`
    async function open(): Promise<void> {
      await tab.waitFor('button[aria-haspopup="dialog"]:has-text("llama-4")')
      await tab.press('Control+/')
      await tab.waitFor('[role="option"]')
    }
    await tab.goto(`${service.url}/#/`)
    await open()
    expect(await tab.evaluate(groups)).toBe('Meta OpenAI Other')
    expect(await tab.evaluate(names)).toBe('llama-4 gpt-6-mini home-made')
    await tab.select('dialog [aria-label="Order"]', 'name')
    await tab.until(`${names} === 'gpt-6-mini home-made llama-4'`)
    // By keys: the order is behind the filters.
    await tab.evaluate(`document.querySelector('dialog [aria-label="Provider"]').focus()`)
    await tab.press('Tab')
    await tab.press('ArrowDown')
    await tab.until(`${names} === 'llama-4 gpt-6-mini home-made'`)
    await tab.reload()
    await open()
    expect(await tab.evaluate(`document.querySelector('dialog [aria-label="Order"]').value`)).toBe('price')
    expect(await tab.evaluate(groups)).toBe('')
    await tab.select('dialog [aria-label="Order"]', 'maker')
    await tab.until(`${groups} === 'Meta OpenAI Other'`)
    await picture(tab, 'picker-makers')
    expect(await violationsOf(tab)).toEqual([])
    await tab.setSize(390, 844)
    await picture(tab, 'picker-makers-narrow')
    expect(await overflowOf(tab)).toBe(0)
  }, 30_000)

  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true }
  const looks: readonly (readonly [string, PersonOptions])[] = [
    ['phone', phone],
    ['phone-dark-german', { ...phone, colorScheme: 'dark', locale: 'de' }],
    ['forced-colours', { ...wide, forcedColors: 'active' }],
    ['tablet', { viewport: { width: 1024, height: 768 } }],
  ]
  test.each(looks)(
    'has no faults of accessibility: %s',
    async (look, options) => {
      const tab = chromium.person(options).tab()
      await tab.goto(`${service.url}/#/models`)
      await tab.waitFor('main li a')
      await tab.until(`${rows}.some((text) => text.startsWith('gpt-6'))`)
      await picture(tab, `models-${look}`)
      expect(await violationsOf(tab)).toEqual([])
      expect(await overflowOf(tab)).toBe(0)
    },
    30_000,
  )
})
