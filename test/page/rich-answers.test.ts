import { afterEach, expect, test } from 'bun:test'
import type { Person, Tab } from '../fakes/chromium.ts'
import { violationsOf } from './axe.ts'
import { ask, converse, lastMessage, openConversation } from './conversation.ts'
import { noHarm, saying, startHostile, type HostileRig } from './hostile-rig.ts'
import { hostileDocuments, hostileTexts } from './hostile.ts'
import { describeInChromium, inChromium } from './in-chromium.ts'

let rig: HostileRig, person: Person, tab: Tab
inChromium(startHostile, (scene) => ({ rig, person, tab } = scene))

/** Asks, and waits for this answer. */
async function answer(text: string): Promise<void> {
  rig.upstream.use(saying(text, { decoy: rig.decoy }))
  await openConversation(tab, rig.service.url)
  await converse(tab, 'Tell me')
}

/** Attributes `alttext` of the formulas of the answer. */
const formulas = `[...document.querySelectorAll('${lastMessage} math')].map((each) => each.getAttribute('alttext'))`

describeInChromium('an answer', () => {
  afterEach(async () => {
    expect(await rig.harm(person, tab)).toEqual(noHarm)
  })

  test('shows formulas as MathML, and what is none as it is', async () => {
    await answer(
      'It costs $5 and $10, and $E = mc^2$ \\(\\ce{H2O}\\).\n\n$$\n\\frac{a}{b}\n$$\n\n' +
        '- \\[ x\n  + y \\]\n\n$\\foo{x}$ is an error.',
    )
    await tab.until(`${formulas}.length === 4`)
    expect(await tab.evaluate(formulas)).toEqual(['E = mc^2', '\\ce{H2O}', '\\frac{a}{b}', 'x\n+ y'])
    expect(await tab.textOf(`${lastMessage} p`)).toContain('It costs $5 and $10, and')
    expect(await tab.textOf(`${lastMessage} p:last-child > code`)).toBe('$\\foo{x}$')
    // The numerator stands above the denominator.
    expect(
      await tab.evaluate(
        `(() => {
          const boxes = [...document.querySelector('mfrac').children].map((each) => each.getBoundingClientRect())
          return boxes[0].bottom <= boxes[1].top
        })()`,
      ),
    ).toBe(true)
    // Those on lines of their own are reached with Tab, to scroll them.
    expect(await tab.evaluate(`document.querySelectorAll('[aria-label="Formula"][tabindex="0"]').length`)).toBe(2)
  })

  test('has footnotes, details and alerts, by the keyboard', async () => {
    await answer(
      'One[^a], two[^b].\n\n> [!TIP]\n> Do\n\n' +
        '<details>\n<summary>More</summary>\n\nHidden\n</details>\n\n[^a]: A\n[^b]: B',
    )
    expect(await tab.textOf(`${lastMessage} [role="note"]`)).toMatch(/^Tip\s+Do$/i)
    await tab.evaluate(`document.querySelector('[aria-label="Footnote b"]').focus()`)
    await tab.press('Enter')
    await tab.until(`document.activeElement.dataset.footnote === 'b'`)
    await tab.press('Tab')
    await tab.press('Enter')
    await tab.until(`document.activeElement.ariaLabel === 'Footnote b'`)
    await tab.press('Tab')
    await tab.press('Enter')
    await tab.waitFor(`${lastMessage} details[open] >> text="Hidden"`)
    expect(await tab.url()).not.toContain('footnote')
    // On paper marks stay, other buttons do not.
    await tab.setMedia('print')
    await tab.until(`!document.querySelector('[aria-label="Copy answer"]').checkVisibility()`)
    expect(
      await tab.evaluate(`[...document.querySelectorAll('[data-mark]')].every((each) => each.checkVisibility())`),
    ).toBe(true)
  })

  test('shows a formula when it has arrived as a whole, and does not make it anew', async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    rig.upstream.use(
      saying('', {
        decoy: rig.decoy,
        pieces: ['$a$\n\n$$\n\\frac{a}', steps[0]?.promise, '{b}\n$$\n\nAnd', steps[1]?.promise, ' so on.'],
      }),
    )
    await openConversation(tab, rig.service.url)
    await ask(tab, 'Tell me')
    await tab.waitFor(`${lastMessage} >> text=/^\\$\\$\\s+.frac\\{a\\}$/`)
    await tab.until(`${formulas}.length === 1`)
    await tab.evaluate(`document.querySelector('math').isSame = true`)
    steps[0]?.resolve()
    await tab.until(`${formulas}.length === 2`)
    await tab.evaluate(`document.querySelectorAll('math')[1].isSame = true`)
    steps[1]?.resolve()
    await tab.waitFor(`${lastMessage} >> text="And so on."`)
    await tab.waitFor('[aria-label="Send"]')
    expect(await tab.evaluate(`[...document.querySelectorAll('math')].map(({ isSame }) => isSame)`)).toEqual([
      true,
      true,
    ])
  })
})

describeInChromium('a block of code', () => {
  test('is wrapped, and saved as a file', async () => {
    await answer(`\`\`\`python\n${'x = 1 '.repeat(100)}\n\`\`\`\n\n\`\`\`ts src/main.ts\ny\n\`\`\``)
    const width = `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('pre'))`
    expect(await tab.evaluate(width)).toBe(true)
    await tab.evaluate(`document.querySelector('article pre').focus()`)
    await tab.waitFor('button >> text="Wrap"')
    await tab.evaluate(`[...document.querySelectorAll('button')].find((each) => each.textContent === 'Wrap').focus()`)
    await tab.press('Enter')
    await tab.until(`!${width}`)
    expect(await tab.download('[aria-label="Download code"] >> nth=0')).toEqual({
      name: 'code.py',
      text: `${'x = 1 '.repeat(100)}\n`,
    })
    expect((await tab.download('[aria-label="Download code"] >> nth=1')).name).toBe('main.ts')
    expect(await tab.evaluate(`document.querySelectorAll('iframe').length`)).toBe(0)
  })

  test('of HTML or SVG is shown in a frame that runs nothing, and reaches neither page nor network', async () => {
    const documents = hostileDocuments(rig.decoy)
    await answer(
      documents.map((each) => `\`\`\`${each.startsWith('<svg') ? 'svg' : 'html'}\n${each}\n\`\`\``).join('\n\n'),
    )
    // Frames report their heights.
    await tab.evaluate(
      `addEventListener('message', ({ data }) => { if (typeof data !== 'number') window.hostileRan = 1 })`,
    )
    const previews = `[...document.querySelectorAll('button')].filter(({ textContent }) => textContent === 'Preview')`
    await tab.until(`${previews}.length === ${documents.length}`)
    await tab.evaluate(`for (const each of ${previews}) each.click()`)
    for (const [index] of documents.entries())
      await tab.waitFor(`iframe >> nth=${index} >> internal:control=enter-frame >> h1 >> text="shown"`)
    expect(await rig.harm(person, tab)).toMatchObject({ ran: 0, handlers: [], connections: 0, isThere: true })
    expect((await tab.complaints()).filter((each) => each.startsWith('a dialog'))).toEqual([])
    await tab.evaluate(`for (const each of document.querySelectorAll('[aria-pressed="true"]')) each.click()`)
    await tab.waitFor('[aria-label="Code, svg"]')
  }, 20_000)

  test('as a preview has no fault of accessibility', async () => {
    await answer('```html\n<h1>shown</h1><script></script>\n```')
    await tab.click('button >> text="Preview"')
    await tab.waitFor('iframe >> internal:control=enter-frame >> h1')
    await tab.waitFor('text=Scripts do not run in the preview.')
    await tab.until(`(({ clientHeight }) => clientHeight > 60 && clientHeight < 200)(document.querySelector('iframe'))`)
    expect(await violationsOf(tab)).toEqual([])
  })

  test('is shown to no other window', async () => {
    // A window that another one has opened, at the address of the preview.
    const other = person.tab('other')
    await other.goto(`${rig.service.url}/preview`)
    await other.evaluate(`postMessage('<h1>shown</h1>', '*')`)
    expect(await other.evaluate(`document.querySelector('h1')`)).toBeNull()
  })
})

describeInChromium('a conversation saved as HTML', () => {
  test('has formulas, colours and footnotes, and neither scripts nor requests', async () => {
    await answer(`$x^2$[^1]\n\n\`\`\`js\nconst a = 1\n\`\`\`\n\n[^1]: Note\n\n${hostileTexts(rig.decoy).join('\n\n')}`)
    await tab.until(`document.querySelector('[aria-label="More for Tell me"]') !== null`)
    await tab.evaluate(`document.querySelector('[aria-label="More for Tell me"]').click()`)
    const { name, text } = await tab.download('[role="menuitem"]:visible:has-text("Export as HTML")')
    expect(name).toBe('tell-me.html')
    expect(text).not.toMatch(/<(?:script|iframe|button|link)[ >]/)
    // As opened from a file: without the policy and the style of the page.
    const other = person.tab('other')
    await person.answer('**/saved.html', { contentType: 'text/html', body: text })
    await other.goto(`${rig.service.url}/saved.html`)
    expect(await other.textOf('h1')).toBe('Tell me')
    expect(await other.evaluate(`document.querySelector('math').getAttribute('alttext')`)).toBe('x^2')
    expect(await other.evaluate(`getComputedStyle(document.querySelector('.code-keyword')).color`)).toBe(
      'rgb(162, 26, 91)',
    )
    expect(await rig.harm(person, other)).toMatchObject({ ...noHarm, isThere: false, elements: expect.any(Array) })
    expect(await violationsOf(other)).toEqual([])
    expect(await tab.evaluate(`document.querySelectorAll('[inert]').length`)).toBe(0)
  }, 20_000)
})
