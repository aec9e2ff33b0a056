import { expect, test } from 'bun:test'
import { parseJson } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { good } from '../fakes/good.ts'
import { startRig, type Rig } from '../rig.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: Rig, tab: Tab
/** A new conversation, and its settings. */
inChromium(
  () => startRig([good()]),
  async (scene) => {
    ;({ rig, tab } = scene)
    await tab.goto(`${rig.service.url}/`)
    await tab.waitFor('button[aria-haspopup="dialog"]:has-text("Model: m")')
    await tab.press('Control+.')
    await tab.waitFor('text=System prompt')
    await tab.click(advanced)
  },
)
const advanced = 'dialog summary:has-text("Advanced")'

/** Script: the input of a label. */
const controlOf = (label: string): string =>
  `[...document.querySelectorAll('dialog label')]
    .find((each) => each.textContent === ${JSON.stringify(label)}).control`

/** Focuses the input of a label. */
async function focus(label: string): Promise<void> {
  await tab.evaluate(`${controlOf(label)}.focus()`)
}

/** Value of the input of a label, and its error message. */
async function shown(label: string): Promise<readonly [value: unknown, fault: unknown]> {
  const control = controlOf(label)
  const error = `${control}.getAttribute('aria-describedby').split(' ').slice(1)
    .map((id) => document.getElementById(id).textContent).join(' ')`
  return [await tab.evaluate(`${control}.value`), await tab.evaluate(error)]
}

/** Replaces the text of the input of a label by typing. */
async function type(label: string, text: string): Promise<void> {
  await focus(label)
  await tab.press('Control+a')
  if (text === '') await tab.press('Delete')
  else await tab.type(text)
}

/** Closes the settings and sends a message. @returns the body at the upstream, without model and messages */
async function asked(): Promise<unknown> {
  const body = await whole()
  const { model, messages, ...parameters } = body
  expect([model, messages]).toEqual(['m', [{ role: 'user', content: 'hello' }]])
  return parameters
}

async function whole(): Promise<Record<string, unknown>> {
  await tab.press('Escape')
  await tab.waitForGone('dialog')
  const hit = rig.upstreams[0]?.nextHit()
  await tab.fill('#message', 'hello')
  await tab.press('Enter')
  const body: unknown = parseJson(new TextDecoder().decode((await hit)?.body))
  await tab.waitFor('text=good-2')
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

const streamed = { stream: true, stream_options: { include_usage: true } }

describeInChromium('the settings of a conversation', () => {
  test('show the parameters that few people need when asked, and no thumb on a slider that is not set', async () => {
    const isVisible = (label: string) => tab.evaluate(`${controlOf(label)}.checkVisibility()`)
    const slider = `document.querySelector('[aria-label="Temperature, slider"]')`
    const look = () => tab.evaluate(`[${slider}.ariaValueText, getComputedStyle(${slider}).appearance]`)
    expect(await isVisible('Temperature')).toBe(true)
    expect(await look()).toEqual(['Not set', 'none'])
    await type('Temperature', '1')
    expect(await look()).toEqual(['1', 'auto'])
    await tab.click(advanced)
    expect(await tab.textOf(advanced)).toBe('Advanced (1 set)')
    expect(await isVisible('Temperature')).toBe(false)
    for (const label of ['System prompt', 'Max completion tokens', 'Reasoning effort'])
      expect(await isVisible(label)).toBe(true)
    expect(await tab.textOf('dialog button[aria-haspopup="dialog"]')).toContain('m')
  })

  test('send nothing but what a conversation needs while nothing is set', async () => {
    expect(await asked()).toEqual(streamed)
  })

  test('send exactly the parameters that were typed', async () => {
    for (const [label, text] of [
      ['Temperature', '0,7'],
      ['Top P', '.95'],
      ['Frequency penalty', '-2'],
      ['Presence penalty', '1.25'],
      ['Seed', '-42'],
      ['Max completion tokens', '2000'],
      ['Max tokens', '1000'],
      ['Top log probabilities', '20'],
    ] as const)
      await type(label, text)
    for (const text of ['END', '\\n\\n', ' x']) {
      await type('Stop sequences', text)
      await tab.press('Enter')
    }
    await focus('Reasoning effort')
    await tab.type('hi')
    await focus('Thinking')
    await tab.type('of')
    await focus('Log probabilities')
    await tab.type('on')
    expect(await asked()).toEqual({
      ...streamed,
      temperature: 0.7,
      top_p: 0.95,
      frequency_penalty: -2,
      presence_penalty: 1.25,
      seed: -42,
      max_completion_tokens: 2000,
      max_tokens: 1000,
      stop: ['END', '\n\n', ' x'],
      reasoning_effort: 'high',
      enable_thinking: false,
      logprobs: true,
      top_logprobs: 20,
    })
  })

  test('are set by pointer as well, and cleared again', async () => {
    await tab.click('[aria-label="Temperature, slider"]')
    await tab.click('[aria-label="Presence penalty, slider"]')
    await tab.click('[aria-label="Clear Presence penalty"]')
    await tab.click('text=Stream the answer')
    await tab.select('dialog select >> nth=0', 'low')
    await tab.fill('dialog [placeholder="Add one"]', 'a')
    await tab.click('[aria-label="Add to stop sequences"]')
    await tab.fill('dialog [placeholder="Add one"]', 'b')
    await tab.click('[aria-label="Add to stop sequences"]')
    await tab.click('[aria-label="Remove a"]')
    expect(await shown('Presence penalty')).toEqual(['', ''])
    expect(await asked()).toEqual({ stream: false, temperature: 1, reasoning_effort: 'low', stop: ['b'] })
  })

  test('show an error beside an invalid value, and do not send it', async () => {
    await type('Temperature', '1.5')
    await type('Temperature', '2.01')
    await type('Seed', '1.5')
    await type('Top P', 'much')
    await type('Top log probabilities', '21')
    await type('Max tokens', '99999999999999999999')
    expect(await shown('Temperature')).toEqual(['2.01', 'This is not sent: it must be a number, 0 to 2.'])
    expect(await shown('Seed')).toEqual(['1.5', 'This is not sent: it must be a whole number.'])
    expect(await shown('Top P')).toEqual(['much', 'This is not sent: it must be a number, 0 to 1.'])
    expect(await shown('Top log probabilities')).toEqual([
      '21',
      'This is not sent: it must be a whole number, 0 to 20.',
    ])
    expect(await shown('Max tokens')).toEqual(['99999999999999999999', expect.stringContaining('between')])
    expect(await tab.evaluate(`document.querySelectorAll('[aria-invalid="true"]').length`)).toBe(5)
    expect(await asked()).toEqual(streamed)
  })

  test('are reset together, with invalid values, except for the system prompt', async () => {
    await type('System prompt', 'Be brief.')
    await type('Temperature', '0.5')
    await type('Seed', 'x')
    await tab.click('text=Reset all parameters')
    expect([await shown('Temperature'), await shown('Seed')]).toEqual([
      ['', ''],
      ['', ''],
    ])
    expect(await whole()).toEqual({
      model: 'm',
      ...streamed,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
    })
  })

  test('stay with their conversation', async () => {
    await type('Top P', '0.5')
    await asked()
    await tab.waitForUrl('**/#/chat/*')
    // A page that is reloaded during an answer leaves without a question.
    await tab.waitFor('article >> summary >> text=/ answered$/')
    await tab.reload()
    await tab.waitFor('text=good-2')
    await tab.press('Control+.')
    await tab.waitFor('text=System prompt')
    expect(await tab.textOf(advanced)).toBe('Advanced (1 set)')
    expect(await shown('Top P')).toEqual(['0.5', ''])
    expect(await tab.evaluate(`document.querySelector('[aria-label="Top P, slider"]').value`)).toBe('0.5')
    await tab.press('Escape')
    await tab.evaluate(`location.hash = '#/'`)
    await tab.waitForGone('text=good-2')
    await tab.press('Control+.')
    await tab.waitFor('text=System prompt')
    expect(await shown('Top P')).toEqual(['', ''])
  })
})
