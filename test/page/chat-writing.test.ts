import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pick } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { talker, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { ask, lastMessage, openConversation, said } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, upstream: FaultUpstream, talk: Talker, tab: Tab

beforeAll(async () => {
  upstream = faultUpstream((exchange) => talk.script(exchange))
  service = await startService({ providers: [provider('a', upstream.url, ['m'])] })
})
afterAll(async () => {
  await rm(picture, { force: true })
  upstream.stop()
  await service.stop()
})
beforeEach(() => {
  talk = talker()
  tab = chromium.person(wide).tab()
})
afterEach(async () => {
  expect(await tab.complaints()).toEqual([])
})

const open = (): Promise<void> => openConversation(tab, service.url)
const written = `document.querySelector('#message').value`

/** A picture of one pixel: as a file, and as a script that makes a file to paste or drop. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const picture = join(tmpdir(), `svc-dot-${process.pid}.png`)
const pictureBytes = `Uint8Array.from(atob('${dot}'), (sign) => sign.charCodeAt(0))`
const pictureFile = `new File([${pictureBytes}], 'dot.png', { type: 'image/png' })`
const transfer = `(() => { const data = new DataTransfer(); data.items.add(${pictureFile}); return data })()`

describeInChromium('a message', () => {
  test('begins a new line by Enter on a phone, unless the person has chosen otherwise', async () => {
    tab = chromium.person({ viewport: { width: 390, height: 844 }, hasTouch: true }).tab()
    await open()
    await tab.fill('#message', 'first')
    await tab.press('End')
    await tab.press('Enter')
    await tab.type('second')
    expect(await tab.evaluate(written)).toBe('first\nsecond')
    expect(await tab.evaluate(`document.querySelector('#message').enterKeyHint`)).toBe('enter')
    await tab.evaluate(`localStorage.setItem('svc-enter-sends', 'on')`)
    await open()
    await tab.fill('#message', 'at once')
    await tab.press('Enter')
    expect((await talk.next()).messages).toEqual(['user: at once'])
  }, 20_000)

  test('of a megabyte is there at once', async () => {
    await open()
    const ms = await tab.evaluate(`(() => {
      const field = document.querySelector('#message')
      const text = 'lorem ipsum dolor sit amet\\n'.repeat(40_000)
      const began = performance.now()
      Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, text)
      field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }))
      field.offsetHeight
      return performance.now() - began
    })()`)
    // It took 28 s.
    expect(Number(ms)).toBeLessThan(8_000)
  }, 40_000)

  test('is not sent by an Enter that belongs to an input method', async () => {
    await open()
    await tab.fill('#message', 'にほ')
    await tab.evaluate(`(() => {
      const field = document.querySelector('#message')
      const enter = { key: 'Enter', bubbles: true, cancelable: true }
      const key = (more) => field.dispatchEvent(new KeyboardEvent('keydown', { ...enter, ...more }))
      field.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }))
      key({ isComposing: true, keyCode: 229 })
      key({ isComposing: true, keyCode: 13 })
      field.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true, data: 'にほ' }))
      key({ keyCode: 229 })
    })()`)
    expect(await tab.evaluate(written)).toBe('にほ')
    await tab.press('Enter')
    expect((await talk.next()).messages).toEqual(['user: にほ'])
  }, 20_000)

  test('has lines, is as high as they are, and is kept while an answer comes', async () => {
    await open()
    await tab.until(`document.activeElement.id === 'message'`)
    const height = Number(await tab.evaluate(`document.querySelector('#message').offsetHeight`))
    await tab.type('One')
    await tab.press('Shift+Enter')
    await tab.type('Two')
    expect(Number(await tab.evaluate(`document.querySelector('#message').offsetHeight`))).toBeGreaterThan(height + 15)
    await tab.press('Enter')
    const asked = await talk.next()
    expect(asked.messages).toEqual(['user: One\nTwo'])
    await tab.type('Next')
    await tab.press('Enter')
    expect(await tab.evaluate(written)).toBe('Next')
    await asked.finish()
    await tab.waitFor('[aria-label="Send"]')
    await tab.click('[aria-label="Send"]')
    expect((await talk.next()).messages).toEqual(['user: One\nTwo', 'user: Next'])
  }, 20_000)

  test('that is not sent yet survives a reload, and is its conversation’s own', async () => {
    await open()
    await tab.fill('#message', 'First')
    await tab.press('Enter')
    await (await talk.next()).finish()
    await tab.waitFor(said('The answer is empty.'))
    await tab.fill('#message', 'Half a thought')
    await tab.press('Control+Shift+O')
    await tab.waitFor('text=What would you like to know?')
    await tab.until(`${written} === ''`)
    await tab.back()
    await tab.until(`${written} === 'Half a thought'`)
    await tab.fill('#message', 'Half a thought, and more')
    await tab.reload()
    await tab.until(`document.querySelector('#message')?.value === 'Half a thought, and more'`)
  }, 20_000)

  test('may begin with an example', async () => {
    await open()
    await tab.click('button:has-text("hash map")')
    await tab.until(`document.activeElement.id === 'message' && /hash map/.test(${written})`)
    await tab.press('Enter')
    expect((await talk.next()).messages[0]).toMatch(/hash map/)
  }, 20_000)

  test.each([
    [
      'picked',
      async () => {
        await Bun.write(picture, Buffer.from(dot, 'base64'))
        await tab.setFiles('form >> input[type="file"]', [picture])
      },
    ],
    [
      'pasted',
      () =>
        tab.evaluate(
          `document.querySelector('#message').dispatchEvent(
            new ClipboardEvent('paste', { clipboardData: ${transfer}, bubbles: true, cancelable: true }))`,
        ),
    ],
    [
      'dropped',
      () =>
        tab.evaluate(
          `document.querySelector('[role="log"]').dispatchEvent(
            new DragEvent('drop', { dataTransfer: ${transfer}, bubbles: true, cancelable: true }))`,
        ),
    ],
  ])(
    'may have a picture that is %s',
    async (_, add) => {
      await open()
      await add()
      await tab.waitFor('form >> img')
      await tab.fill('#message', 'What is it?')
      await tab.press('Enter')
      const asked = await talk.next()
      expect(pick(asked.body, 'messages', 0, 'content', 0)).toEqual({ type: 'text', text: 'What is it?' })
      expect(String(pick(asked.body, 'messages', 0, 'content', 1, 'image_url', 'url'))).toMatch(
        /^data:image\/png;base64,/,
      )
      await tab.waitFor('article >> img')
      await tab.waitForGone('form >> img')
    },
    20_000,
  )

  test('names files that it does not accept', async () => {
    await open()
    await tab.evaluate(
      `(() => {
        const data = new DataTransfer()
        data.items.add(new File([Uint8Array.of(0, 1, 2)], 'tool.exe'))
        document.querySelector('[role="log"]').dispatchEvent(
          new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
      })()`,
    )
    await tab.waitFor('[role="alert"] >> text=/tool.exe/')
    await tab.click('[aria-label="Dismiss"]')
    await tab.waitForGone('[role="alert"]')
    expect(await tab.evaluate('document.activeElement.id')).toBe('message')
  }, 20_000)
})

describeInChromium('an answer', () => {
  const end = `(({ scrollHeight, scrollTop, clientHeight }) =>
    scrollHeight - scrollTop - clientHeight)(document.querySelector('[role="log"]'))`

  test('is followed until one scrolls up, and again after a jump', async () => {
    await open()
    await ask(tab, 'Much')
    const asked = await talk.next()
    for (let paragraph = 0; paragraph < 40; paragraph++) await asked.say(`Paragraph ${paragraph} of many.\n\n`)
    await tab.waitFor(said('Paragraph 39'))
    await tab.until(`${end} < 2`)
    await tab.evaluate(
      `(() => {
        const list = document.querySelector('[role="log"]')
        list.dispatchEvent(new WheelEvent('wheel', { deltaY: -30 }))
        list.scrollTop -= 30
      })()`,
    )
    await tab.waitFor('text=Jump to latest')
    const top = Number(await tab.evaluate(`document.querySelector('[role="log"]').scrollTop`))
    for (let paragraph = 40; paragraph < 50; paragraph++) await asked.say(`Paragraph ${paragraph} of many.\n\n`)
    await tab.until(`document.querySelector('[role="log"]').innerText.includes('Paragraph 49')`)
    expect(Number(await tab.evaluate(`document.querySelector('[role="log"]').scrollTop`))).toBe(top)
    await tab.click('text=Jump to latest')
    await tab.until(`${end} < 2`)
    await asked.say('The end.')
    await tab.waitFor(said('The end.'))
    await tab.until(`${end} < 2`)
    await tab.waitForGone('text=Jump to latest')
    await asked.finish()
  }, 20_000)

  test('is followed in a long conversation too, after a look at where the one before came from', async () => {
    await open()
    for (const question of ['One', 'Two', 'Three', 'Four']) {
      await ask(tab, question)
      const asked = await talk.next()
      for (let paragraph = 0; paragraph < 12; paragraph++)
        await asked.say(`Paragraph ${paragraph} for ${question}.\n\n`)
      await tab.waitFor(said(`Paragraph 11 for ${question}.`))
      await tab.until(`${end} < 2`)
      await asked.finish()
      await tab.click(`${lastMessage} >> summary`)
      await tab.waitFor(`${lastMessage} >> dl`)
    }
  }, 30_000)

  test('is not made anew when it ends, and is announced but not read out', async () => {
    await open()
    await ask(tab, 'Short')
    const asked = await talk.next()
    await tab.until(`document.querySelector('[aria-live="polite"]').textContent.startsWith('Answering')`)
    await asked.say('A paragraph')
    await tab.waitFor(said('A paragraph'))
    await tab.evaluate(`window.before = document.querySelector('${lastMessage} p:not(.sr-only)')`)
    await asked.finish()
    await tab.waitFor('[role="log"] summary >> text=/ answered$/')
    expect(await tab.evaluate(`window.before.isConnected && window.before.textContent === 'A paragraph'`)).toBe(true)
    await tab.until(`document.querySelector('[aria-live="polite"]').textContent.startsWith('Answer complete')`)
    expect(await tab.evaluate(`document.querySelector('[role="log"]').getAttribute('aria-live')`)).toBe('off')
  }, 20_000)

  test('has what the model thought folded above it', async () => {
    await open()
    await ask(tab, 'Think')
    const asked = await talk.next()
    await asked.send({ reasoning_content: 'Let me see' })
    await tab.waitFor(said('Thinking…'))
    await asked.say('Done')
    await asked.finish()
    await tab.waitFor(said('/^Thought for/'))
    await tab.waitForGone(said('Let me see'))
    await tab.click(said('/^Thought for/'))
    await tab.waitFor(said('Let me see'))
  }, 20_000)

  test('shows how likely each token was, by keyboard and by pointer', async () => {
    await open()
    await ask(tab, 'Likely?')
    const asked = await talk.next()
    const token = (content: string, logprob: number) =>
      asked.send(
        { content },
        {
          logprobs: {
            content: [
              {
                token: content,
                logprob,
                top_logprobs: [
                  { token: content, logprob },
                  { token: 'perhaps', logprob: -4 },
                ],
              },
            ],
          },
        },
      )
    await token('Yes', -0.01)
    await token(', no', -3)
    await asked.finish()
    await tab.click(said('Probabilities of the tokens'))
    await tab.waitFor('[role="group"][aria-label="Tokens"]')
    expect(await tab.textOf(`${lastMessage} >> tbody >> nth=0`)).toMatch(/Yes\s+99\.0 %\s+perhaps\s+1\.8 %/)
    await tab.evaluate(`document.querySelector('[data-token]').focus()`)
    await tab.press('ArrowRight')
    expect(await tab.textOf(`${lastMessage} >> tbody >> nth=0`)).toMatch(/, no\s+5\.0 %/)
  }, 20_000)

  test('is requested with the settings', async () => {
    await open()
    await tab.press('Control+.')
    await tab.waitFor('dialog >> text=System prompt')
    await tab.fill('dialog >> textarea', 'Be brief.')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await ask(tab, 'Hello')
    const asked = await talk.next()
    expect(asked.messages).toEqual(['system: Be brief.', 'user: Hello'])
  }, 20_000)
})
