import { afterEach, expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import { chunk, done, event } from '../fakes/replies.ts'
import { ask, converse, lastMessage, openConversation } from './conversation.ts'
import {
  noHarm,
  saying,
  standsInOrder,
  startHostile,
  streaming,
  type HostileRig,
  type SayingOptions,
} from './hostile-rig.ts'
import { heavyTexts, hostileTexts, unseen } from './hostile.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: HostileRig, person: Person, tab: Tab
inChromium(startHostile, (scene) => ({ rig, person, tab } = scene))

/** Sets the text of all further answers. */
function say(text: string, options: Omit<SayingOptions, 'decoy'> = {}): void {
  rig.upstream.use(saying(text, { ...options, decoy: rig.decoy }))
}

/** Text of an element, with parts that are out of view and not laid out. */
async function shown(selector: string): Promise<string> {
  return String(await tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`))
}

describeInChromium('these tests', () => {
  test('see harm where there is some', async () => {
    await openConversation(tab, rig.service.url)
    const picture = `${rig.decoy}/x.png`
    await tab.evaluate(
      `window.hostileRan = 1
      const image = Object.assign(document.createElement('img'), { src: '${picture}' })
      document.body.append(image, document.createElement('video'))
      alert(1)`,
    )
    expect(
      await tab.evaluate(
        `(() => {
          try { document.body.insertAdjacentHTML('beforeend', '<b>') } catch ({ message }) { return message }
        })()`,
      ),
    ).toContain('TrustedHTML')
    expect(await rig.harm(person, tab)).toEqual({
      ...noHarm,
      ran: 1,
      elements: ['<video></video>'],
      pictures: [picture],
      origins: [picture],
      asked: [picture],
      complaints: expect.arrayContaining([
        expect.stringContaining('Content Security Policy'),
        expect.stringContaining('TrustedHTML'),
        'a dialog: 1',
      ]),
    })
  })
})

describeInChromium('what a model says', () => {
  afterEach(async () => {
    expect(await rig.harm(person, tab)).toEqual(noHarm)
  })

  test.each([
    ['streamed', true],
    ['as a whole', false],
  ])(
    'is shown as text, %s: markup, scripts, pictures from elsewhere, and links that run something',
    async (_, streams) => {
      say(hostileTexts(rig.decoy).join('\n\n'))
      await openConversation(tab, rig.service.url)
      if (!streams) {
        await tab.press('Control+.')
        await tab.click('dialog summary:has-text("Advanced")')
        await tab.click('role=switch[name="Stream the answer"]')
        await tab.press('Escape')
      }
      await converse(tab, 'Tell me')
      const text = await shown(lastMessage)
      for (const words of [
        '<script>window.hostileRan=1',
        '<iframe srcdoc=',
        '<svg/onload=',
        'javascript:window',
        'vbscript:',
        '<style>@import',
      ])
        expect(text).toContain(words)
      expect(await tab.evaluate(`[...document.querySelectorAll('article a')].map(({ href }) => href)`)).toContain(
        `${rig.decoy}/markdown.png`,
      )
      await tab.until(`document.querySelector('math') !== null`)
      expect(await rig.harm(person, tab)).toEqual(noHarm)
      // Nor after a reload, from the history.
      await tab.reload()
      await tab.waitFor('[role="log"] summary >> text=/^a answered$/')
      expect(await shown(lastMessage)).toContain('<iframe srcdoc=')
    },
    20_000,
  )

  test('when it thinks is shown as text, too', async () => {
    say('Done', { more: { reasoning_content: hostileTexts(rig.decoy).join('\n\n') } })
    await openConversation(tab, rig.service.url)
    await converse(tab, 'Tell me')
    await tab.click('summary >> text=/^Thought/')
    await tab.waitFor(`${lastMessage} details[open] >> text=<iframe srcdoc`)
  })

  test.each(heavyTexts.map(([name, text]) => [name, text] as const))(
    'leaves the page answering to keys: %s',
    async (_, text) => {
      say(text, { pieceLength: Math.ceil(text.length / 20) })
      await openConversation(tab, rig.service.url)
      // From a key to the next frame. A busy machine may delay one of the three, not all.
      await tab.evaluate(
        `addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() =>
          setTimeout(() => window.keysMs?.push(performance.now() - timeStamp))), true)`,
      )
      const worstMs: number[] = []
      do {
        await tab.evaluate(`window.keysMs = []`)
        await ask(tab, 'Tell me')
        for (let key = 0; key < 3; key++) await tab.press('x')
        await tab.waitFor('[aria-label="Send"]')
        await tab.press('x')
        await tab.until(`window.keysMs.length >= 5 && document.querySelector('#message').value === 'xxxx'`)
        worstMs.push(Number(await tab.evaluate(`Math.max(...window.keysMs)`)))
      } while (worstMs.length < 3 && Math.min(...worstMs) >= 1_000)
      expect(Math.min(...worstMs)).toBeLessThan(1_000)
    },
    20_000,
  )

  test('may have characters that are not seen: they are kept within, and the conversation goes on', async () => {
    say(unseen)
    await openConversation(tab, rig.service.url)
    await converse(tab, unseen)
    expect(await tab.evaluate(standsInOrder(`${lastMessage} summary`, 'answered'))).toBe(true)
    expect(await shown(lastMessage)).toContain('start ⟨U+202E⟩gnihtyreve⟨U+202D⟩')
    expect((await tab.textOf('h1')).match(/[\p{Cc}\p{Cf}\p{Cs}]/gu)).toBeNull()
    await converse(tab, 'And now?')
    await tab.reload()
    await tab.waitFor('[role="log"] summary >> text=/^a answered$/ >> nth=1')
  }, 20_000)

  test('may be of unexpected types: what can be repaired is shown', async () => {
    const deltas: readonly object[] = [
      { content: [{ type: 'text', text: '<i>part</i> ' }, 7, null] },
      { role: {}, content: null, tool_calls: {}, refusal: false, reasoning_content: [1] },
      { content: 'is ', constructor: '<b>', ['__proto__']: { polluted: true } },
    ]
    const chunks: readonly object[] = [
      {
        choices: [
          {
            index: 0,
            delta: { content: 'well ' },
            finish_reason: 7,
            logprobs: { content: [{ token: '<b>', logprob: 'x' }], refusal: 3 },
          },
        ],
      },
      { choices: [{ index: '0', delta: null, finish_reason: null }] },
      {
        choices: [{ index: 0, delta: { content: 'here' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: '<b>', completion_tokens: -1 },
      },
    ]
    rig.upstream.use(
      streaming(
        [
          event(chunk({ role: 'assistant', content: 'All ' })),
          ...deltas.map((delta) => event(chunk(delta))),
          ...chunks.map((more) => event({ ...chunk({}), ...more })),
          done,
        ],
        rig.decoy,
      ),
    )
    await openConversation(tab, rig.service.url)
    await ask(tab, 'Tell me')
    await tab.waitFor(`${lastMessage} >> summary`)
    await tab.waitFor('[aria-label="Send"]')
    expect(await shown(lastMessage)).toMatch(/All .*is .*here/)
    expect(await tab.evaluate('({}).polluted === undefined')).toBe(true)
    await tab.goto(`${rig.service.url}/#/requests`)
    await tab.waitFor('main >> text="Live"')
  })

  test('may be of unexpected types: what cannot be repaired cuts the answer', async () => {
    const choices: readonly object[] = [
      { delta: { content: 5 } },
      { delta: { content: { text: '<b>' } } },
      { delta: { tool_calls: 'x' } },
      { delta: 'x' },
      { delta: {}, logprobs: { content: [null] } },
    ]
    await openConversation(tab, rig.service.url)
    for (const [index, choice] of choices.entries()) {
      const odd = { ...chunk({}), choices: [{ index: 0, finish_reason: null, ...choice }] }
      rig.upstream.use(
        streaming(
          [
            event(chunk({ role: 'assistant', content: `Before ${index}` })),
            event(odd),
            event(chunk({ content: 'after' })),
            event(chunk({}, 'stop')),
            done,
          ],
          rig.decoy,
        ),
      )
      await ask(tab, 'Tell me')
      await tab.waitFor(`article[aria-label="Answer"] >> nth=${index} >> text="The answer was cut off"`)
      const text = await shown(lastMessage)
      expect([choice, text.includes(`Before ${index}`), text.includes('after')]).toEqual([choice, true, false])
    }
  })
})
