import { afterAll, beforeAll, expect, test } from 'bun:test'
import { parseJson, pick } from '../client.ts'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from '../harness.ts'
import { describeInChromium, useChromium } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, groq: FaultUpstream, openai: FaultUpstream

/** A free provider before a paid one, and a list of realistic maximum length. */
function configuration(...more: readonly string[]): ServiceConfig {
  const llama = { name: 'llama-4', context: 131_072, input: ['text', 'image'] }
  return {
    providers: [
      provider('groq', groq.url, [], {
        models: [
          { ...llama, upstream: 'meta/llama-4', price: { input: 0, output: 0 } },
          { name: 'qwen3-32b', price: { input: 0, output: 0 } },
          ...more,
        ],
      }),
      provider('openai', openai.url, [], {
        models: [
          { ...llama, price: { input: 0.15, output: 0.6 } },
          { name: 'gpt-6-mini', context: 400_000, input: ['text', 'audio', 'file'], price: { input: 0.25, output: 2 } },
        ],
      }),
      provider(
        'router',
        openai.url,
        Array.from({ length: 2000 }, (_, index) => `vendor/model-${index}`),
      ),
    ],
  }
}

beforeAll(async () => {
  ;[groq, openai] = [faultUpstream(good({ name: 'groq' })), faultUpstream(good({ name: 'openai' }))]
  service = await startService(configuration())
})
afterAll(async () => {
  await service.stop()
  groq.stop()
  openai.stop()
})

const opener = 'button[aria-haspopup="dialog"]'
const field = '[role="combobox"]'
const option = (words: string) => `[role="option"]:has-text("${words}")`
/** Script: the text of an element. */
const textOf = (selector: string) =>
  `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '').replaceAll('\\u00a0', ' ')`
const active = textOf('[role="option"][aria-selected="true"]')
const count = `document.querySelectorAll('[role="option"]').length`
const focusedRole = `document.activeElement?.getAttribute('role') ?? document.activeElement?.id ?? ''`

async function opened(options?: PersonOptions): Promise<Tab> {
  const tab = chromium.person(options).tab()
  await tab.goto(`${service.url}/`)
  await tab.waitFor(`${opener}:has-text("llama-4")`)
  return tab
}

/** Opens the picker by its key. */
async function open(tab: Tab): Promise<void> {
  await tab.press('Control+/')
  await tab.waitFor('[role="option"]')
}

/** Sends a message, and waits for the answer. */
async function ask(tab: Tab, answer: string): Promise<void> {
  await tab.fill('#message', 'hello')
  await tab.press('Enter')
  await tab.waitFor(`text=${answer}-2`)
}

function modelOf(upstream: FaultUpstream): unknown {
  return pick(parseJson(new TextDecoder().decode(upstream.hits.at(-1)?.body)), 'model')
}

describeInChromium('the model picker', () => {
  test('is opened, searched and left by keys alone, and the chosen model is asked', async () => {
    const tab = await opened()
    await tab.waitFor('#message')
    await tab.evaluate(`document.querySelector('#message').focus()`)
    await open(tab)
    expect(await tab.evaluate(focusedRole)).toBe('combobox')
    expect(await tab.evaluate(active)).toContain('llama-4')
    await tab.type('mini')
    await tab.waitFor(option('gpt-6-mini'))
    expect(await tab.evaluate(active)).toContain('gpt-6-mini')
    await tab.press('Enter')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(focusedRole)).toBe('message')
    expect(await tab.evaluate(textOf(opener))).toBe('Model: gpt-6-mini')
    await ask(tab, 'openai')
    expect(modelOf(openai)).toBe('gpt-6-mini')
    expect(await tab.complaints()).toEqual([])
  })

  test('moves by arrows, pages, Home and End, and shows more where the list is longer', async () => {
    const tab = await opened()
    await open(tab)
    const seen: unknown[] = []
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'PageDown', 'Home', 'ArrowUp']) {
      await tab.press(key)
      seen.push(/^[\w/.-]+?(?=,)/.exec(String(await tab.evaluate(active)))?.[0])
    }
    expect(seen).toEqual(['qwen3-32b', 'gpt-6-mini', 'qwen3-32b', 'vendor/model-6', 'llama-4', 'vendor/model-46'])
    expect(await tab.evaluate(textOf('[role="status"].min-w-40'))).toContain('2,003 models')
    await tab.press('End')
    expect(Number(await tab.evaluate(count))).toBeGreaterThan(50)
    expect(Number(await tab.evaluate(count))).toBeLessThan(200)
    await tab.type('model-1999')
    await tab.waitFor(option('vendor/model-1999'))
    expect(await tab.evaluate(count)).toBe(1 + 1)
  })

  test('shows facts about a model: its providers in order, context, price, pictures', async () => {
    const tab = await opened()
    await open(tab)
    expect(await tab.textOf(option('llama-4'))).toMatch(
      /llama-4[^]*groq → [^]*openai[^]*131k[^]*free – \$0\.15 \/ \$0\.60/,
    )
    expect(await tab.evaluate(active)).toContain('takes pictures')
    expect(await tab.textOf(option('gpt-6-mini'))).toMatch(/openai[^]*takes audio, file[^]*400k[^]*\$0\.25 \/ \$2/)
    expect(
      await tab.evaluate(`${textOf(field)} + document.querySelector('${field}').getAttribute('aria-activedescendant')`),
    ).toBe(await tab.evaluate(`document.querySelector('[aria-selected="true"]').id`))
  })

  test('gives the focus back at Escape, and clears its text', async () => {
    const tab = await opened()
    await tab.click(opener)
    await tab.fill(field, 'nothing of the kind')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(`document.activeElement?.getAttribute('aria-haspopup')`)).toBe('dialog')
    expect(await tab.evaluate(textOf(opener))).toBe('Model: llama-4')
    await open(tab)
    expect(await tab.evaluate(`document.querySelector('${field}').value`)).toBe('')
  })

  test('pins a model to one provider, by key and by pointer', async () => {
    const tab = await opened()
    await open(tab)
    await tab.press('ArrowRight')
    await tab.waitFor(option('openai/llama-4'))
    await tab.press('ArrowDown')
    await tab.press('ArrowDown')
    await tab.press('Enter')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(textOf(opener))).toBe('Model: openai/llama-4')
    await ask(tab, 'openai')
    await tab.click(opener)
    await tab.click(`${option('llama-4')} [data-act="expand"]`)
    await tab.click(option('groq/llama-4'))
    await tab.waitForGone('dialog')
    await tab.fill('#message', 'again')
    await tab.click('[aria-label="Send"]')
    await tab.waitFor('text=groq-2')
    expect(modelOf(groq)).toBe('meta/llama-4')
  })

  test('offers a typed pin, and a typed name that no provider lists', async () => {
    const tab = await opened()
    await open(tab)
    await tab.type('openai/lla')
    await tab.waitFor(option('openai/llama-4'))
    await tab.fill(field, 'new-model:beta')
    await tab.click(option('Ask for “new-model:beta” anyway'))
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(textOf(opener))).toContain('Model: new-model:beta')
    expect(await tab.evaluate(textOf(opener))).toContain('not listed')
  })

  test('has favourites, by key and by star, that come first, stay, and are the same in other tabs', async () => {
    // The tab opened last is in front.
    const person = chromium.person(),
      other = person.tab('other'),
      tab = person.tab()
    for (const each of [other, tab]) {
      await each.goto(`${service.url}/`)
      await each.waitFor(`${opener}:has-text("llama-4")`)
      await open(each)
    }
    const first = `[...document.querySelectorAll('[role="group"][aria-label="Favourites"] [role="option"]')]
      .map((each) => each.textContent.split(',')[0]).join(' ')`
    await tab.press('ArrowDown')
    await tab.press('Control+d')
    await tab.waitFor('text=qwen3-32b is a favourite now')
    await tab.click(`${option('gpt-6-mini')} [data-act="favourite"]`)
    await tab.waitFor('text=gpt-6-mini is a favourite now')
    expect(await tab.evaluate(first)).toBe('qwen3-32b gpt-6-mini')
    await other.waitFor('[role="group"][aria-label="Favourites"] >> text=gpt-6-mini')
    await tab.reload()
    await tab.waitFor(opener)
    await open(tab)
    expect(await tab.evaluate(first)).toBe('qwen3-32b gpt-6-mini')
    await tab.press('Home')
    await tab.click('button:has-text("Favourite: qwen3-32b")')
    await tab.waitFor('text=qwen3-32b is not a favourite any more')
    expect(await tab.evaluate(first)).toBe('gpt-6-mini')
  })

  test('filters models that are free at every provider, accept pictures, or have one provider', async () => {
    const tab = await opened()
    await tab.click(opener)
    await tab.click('button:text-is("Free")')
    await tab.waitForGone(option('llama-4'))
    expect(await tab.evaluate(active)).toContain('qwen3-32b')
    expect(await tab.evaluate(count)).toBe(1)
    await tab.select('[aria-label="Provider"]', 'router')
    await tab.waitFor('text=No model matches.')
    await tab.click('text=Clear filters')
    await tab.waitFor(option('qwen3-32b'))
    await tab.click('button:text-is("Images")')
    await tab.waitForGone(option('qwen3-32b'))
    expect(await tab.evaluate(count)).toBe(1)
  })

  test('shows a model that was added to the file when it is opened again', async () => {
    const tab = await opened()
    await service.configure(configuration('brand-new'))
    try {
      // Waits until the service has loaded the file.
      await tab.evaluate(
        `(async () => {
          while (!(await (await fetch('/api/models')).text()).includes('brand-new'))
            await new Promise((next) => setTimeout(next, 50))
        })()`,
      )
      await open(tab)
      await tab.type('brand')
      await tab.waitFor(option('brand-new'))
    } finally {
      await service.configure(configuration())
    }
  })

  test('keeps the list while the service is away, shows that, and retries', async () => {
    const person = chromium.person(),
      tab = person.tab()
    await tab.goto(`${service.url}/`)
    await tab.waitFor(`${opener}:has-text("llama-4")`)
    await open(tab)
    await tab.press('Escape')
    // The list of the start and that of the picker: one more that still runs would answer in place of the next.
    await tab.until(
      `performance.getEntriesByType('resource').filter(({ name }) => /.api.models$/.test(name)).length > 1`,
    )
    await person.setOffline(true)
    await open(tab)
    await tab.waitFor('text=The list may be out of date.')
    expect(Number(await tab.evaluate(count))).toBeGreaterThan(10)
    await person.setOffline(false)
    await tab.click('text=Retry')
    await tab.waitForGone('text=The list may be out of date.')
  })

  test('fills the screen of a phone, and is left by its button', async () => {
    const tab = await opened({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.click(opener)
    await tab.waitFor('[role="option"]')
    expect(
      await tab.evaluate(
        `(({ width, height, x, y }) => [x, y, width, height].join(' '))(
          document.querySelector('dialog').getBoundingClientRect())`,
      ),
    ).toBe('0 0 390 844')
    expect(await tab.evaluate(`document.documentElement.scrollWidth`)).toBe(390)
    await tab.click('dialog [aria-label="Close"]')
    await tab.waitForGone('dialog')
    expect(await tab.evaluate(textOf(opener))).toBe('Model: llama-4')
  })
})
