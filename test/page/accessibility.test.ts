import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { PersonOptions, Tab } from '../fakes/chromium.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { chunk, errorReply, event, framed, lastChunk, streamEvents, streamHead } from '../fakes/replies.ts'
import { startRig, type Rig } from '../rig.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { ask, chooseModel, labelled } from './conversation.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'
import { enterSignedIn } from './sign-in.ts'

const chromium = useChromium()
let rig: Rig, closed: SignInRig<OidcProvider>

/** A document with every element of Markdown. */
const markdown = `# A heading

Some *text* with \`code\`, a [link](https://svc.example/), ~~nothing~~ and a [picture](https://svc.example/picture.png):

1. one
2. two
   - [x] done
   - [ ] to do

> A quote

| left | right |
|:--|--:|
| 1 | 2 |

\`\`\`ts
// A comment
export const answer: number = 42 + parse("text", /x+/g)
\`\`\`

Known[^1] elements: H<sub>2</sub>O, <kbd>Ctrl</kbd>

> [!WARNING]
> An alert

<details open>
<summary>More</summary>

And more

</details>

[^1]: A footnote

A formula $\\frac{a}{b} + \\foo$, and one on lines of its own:

$$
\\color{blue} \\sum_{i=1}^{n} x_i^2 = \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}
$$

---

${'word '.repeat(200)}`

const talkative: Script = (exchange) => {
  const [opening = '', ...others] = streamEvents([markdown])
  return exchange.write(
    Buffer.concat([
      Buffer.from(streamHead),
      framed(opening),
      framed(event(chunk({ reasoning_content: 'Let me **think**.' }))),
      ...others.map(framed),
      lastChunk,
    ]),
  )
}

beforeAll(async () => {
  ;[rig, closed] = await Promise.all([
    startRig([(exchange) => exchange.write(errorReply(429, { message: 'Slow down' })), talkative], {
      each: { a: { models: ['m', 'busy'] } },
    }),
    startSignIn(startOidcProvider, {
      flags: ['--auth', 'keys'],
      owners: ['ada'],
      files: { 'access.json': '{ "limits": [{ "for": "everyone", "requests": 600 }] }' },
    }),
  ])
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await closed[Symbol.asyncDispose]()
})

const looks: readonly (readonly [string, PersonOptions])[] = [
  ['light', { ...wide, colorScheme: 'light' }],
  ['dark', { ...wide, colorScheme: 'dark', reducedMotion: 'reduce' }],
  ['phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true }],
  ['forced colours', { ...wide, forcedColors: 'active' }],
]

/** Light and phone have all elements at both sizes. */
function scopeOf(look: PersonOptions): 'all' | 'colours' {
  return look.forcedColors === undefined && look.reducedMotion === undefined ? 'all' : 'colours'
}

const conversations = 'nav[aria-label="Conversations"]'

/** Parts that scroll sideways, though they must not: the page, the view and dialogs. */
const sideways = `[...document.querySelectorAll('html, #root > div, main, dialog[open]')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
  .map((each) => each.localName + ' by ' + (each.scrollWidth - each.clientWidth))`

/**
 * Checks a view at 400 % zoom, where 1280 pixels are 320, and from right to left. Menus and the picker close when the
 * window changes, so the view is left as it was found by its size alone.
 */
async function layoutFaults(tab: Tab): Promise<readonly string[]> {
  const faults: string[] = []
  const look = async (where: string): Promise<void> => {
    const found = await tab.evaluate(sideways)
    if (Array.isArray(found)) faults.push(...found.map((each) => `${where}: ${String(each)}`))
  }
  await tab.evaluate(`document.documentElement.dir = 'rtl'`)
  await look('right to left')
  await tab.setSize(320, 256)
  await tab.waitForGone('#sidebar')
  await look('right to left, 320 px')
  await tab.evaluate(`document.documentElement.removeAttribute('dir')`)
  await look('320 px')
  await tab.setSize(1280, 800)
  // The page shows its sidebar again. Until then, a key would toggle the one that is not there yet.
  await tab.waitFor('#sidebar')
  return faults
}

/** Animations that run although the person asked for none. */
const moving = `document.getAnimations().filter(({ playState, effect }) =>
  playState === 'running' && effect.getComputedTiming().duration > 1).map(({ effect }) => effect.target.outerHTML)`

/** Shows or hides the conversations. */
async function showConversations(tab: Tab, isShown: boolean): Promise<void> {
  if ((await tab.evaluate(`document.querySelector('${conversations}') !== null`)) !== isShown)
    await tab.press('Control+b')
}

/** Views of the page, each with the actions that lead to it from the view before. */
const steps: readonly (readonly [string, (tab: Tab, url: string) => Promise<void>])[] = [
  [
    'a new conversation',
    async (tab, url) => {
      await tab.goto(`${url}/`)
      await tab.waitFor('#message')
    },
  ],
  [
    'an answer',
    async (tab) => {
      await ask(tab, 'Hello')
      await tab.waitFor('summary >> text=/ answered$/')
      await tab.click('summary >> text=/Thought/')
      await tab.click('[role="log"] summary >> nth=-1')
      await tab.waitFor('[role="log"] dl')
    },
  ],
  [
    'a version of an answer',
    async (tab) => {
      await tab.click(labelled('Retry'))
      await tab.waitFor('[aria-label="Versions"]')
      await tab.waitFor('summary >> text=/ answered$/')
    },
  ],
  [
    'the menu of an answer',
    async (tab) => {
      await tab.click(labelled('More about this answer'))
      await tab.waitFor('role=menuitem[name="Copy as curl"]')
    },
  ],
  [
    'the models',
    async (tab) => {
      await tab.press('Escape')
      await tab.press('Control+/')
      await tab.waitFor('[role="listbox"]')
    },
  ],
  [
    'the settings of a conversation',
    async (tab) => {
      await tab.press('Escape')
      await tab.click('[aria-label="Settings"]')
      await tab.waitFor('text=System prompt')
      await tab.click('dialog summary:has-text("Advanced")')
    },
  ],
  [
    'the keys',
    async (tab) => {
      await tab.press('Escape')
      await tab.evaluate('document.activeElement.blur()')
      await tab.press('?')
      await tab.waitFor('dialog >> text=Show this list')
    },
  ],
  [
    'the menu of the page',
    async (tab) => {
      await tab.press('Escape')
      await tab.click('[aria-label="Menu of this page"]')
      await tab.waitFor('role=menuitemradio[name="Light"]')
    },
  ],
  [
    'an error',
    async (tab) => {
      await tab.press('Escape')
      await chooseModel(tab, 'busy')
      await ask(tab, 'Hello')
      await tab.waitFor('[role="alert"] >> text=Every provider that was asked failed')
      await tab.click('[role="alert"] >> summary')
      await tab.waitFor('[role="alert"] dl')
    },
  ],
  [
    'the conversations',
    async (tab) => {
      await showConversations(tab, true)
      await tab.click('[aria-label="All conversations"]')
      await tab.waitFor('role=menuitem[name="Export all"]')
    },
  ],
  [
    'the providers',
    async (tab, url) => {
      await tab.press('Escape')
      await showConversations(tab, false)
      await tab.goto(`${url}/#/providers`)
      await tab.waitFor('h1')
      await tab.waitFor('main h2 button')
      await tab.evaluate(`document.querySelectorAll('main h2 [aria-expanded="false"]').forEach((each) => each.click())`)
      await tab.waitFor('main dl >> text=/429 rate limit/')
    },
  ],
  [
    'the form of a provider',
    async (tab) => {
      await tab.click('role=link[name="Add a provider"]')
      await tab.select('main form select', 'other')
      await tab.click('main summary')
      await tab.click('main form >> role=button[name="Add as number 3"]')
      await tab.waitFor('main >> text=/An http or https address/')
    },
  ],
  [
    'the settings of a provider',
    async (tab) => {
      await tab.click('main form >> role=link[name="Cancel"]')
      await tab.waitFor('[aria-label="More about a"]')
      await tab.evaluate(`document.querySelector('[aria-label="More about a"]').click()`)
      await tab.evaluate(
        `[...document.querySelectorAll('[role="menuitem"]')]
          .find(({ textContent }) => textContent === 'Settings…').click()`,
      )
      await tab.waitFor('dialog >> role=textbox[name="Base URL"]')
      await tab.fill('dialog >> role=textbox[name="Base URL"]', 'nowhere')
      await tab.click('dialog >> role=button[name="Save"]')
      await tab.waitFor('dialog >> text=/An http or https address/')
    },
  ],
  [
    'the comparison',
    async (tab, url) => {
      await tab.goto(`${url}/#/compare`)
      await tab.waitFor('#message')
      await tab.waitFor('main button:has-text("m")')
    },
  ],
  [
    'a conversation that is not there',
    async (tab, url) => {
      await tab.goto(`${url}/#/chat/none`)
      await tab.waitFor('text=There is no such conversation')
    },
  ],
  [
    'the requests',
    async (tab, url) => {
      await tab.goto(`${url}/#/requests`)
      await tab.waitFor('h1')
      await tab.waitFor('text=/→/')
      await tab.click('role=button[name="More"]')
      // On a phone the charts are behind a button.
      const isFolded = `[...document.querySelectorAll('main button')].some(
        (button) => button.textContent === 'Chart' && button.offsetParent !== null)`
      if ((await tab.evaluate(isFolded)) === true) await tab.click('role=button[name="Chart"]')
      await tab.click('summary >> text=Show as table >> nth=0')
    },
  ],
  [
    'a request',
    async (tab) => {
      await tab.click('[data-key] >> nth=0')
      await tab.waitFor('main >> text=Request id')
    },
  ],
]

describeInChromium('axe-core finds nothing to mend', () => {
  test.each(looks)(
    '%s',
    async (_, look) => {
      const tab = chromium.person(look).tab()
      const found: Record<string, readonly string[]> = {}
      for (const [name, go] of steps) {
        await go(tab, rig.service.url)
        const faults = [...(await violationsOf(tab, scopeOf(look)))]
        if (look === looks[0]?.[1]) faults.push(...(await layoutFaults(tab)))
        if (look.reducedMotion === 'reduce' && String(await tab.evaluate(`${moving}.join()`)) !== '')
          faults.push('something moves')
        if (faults.length > 0) found[name] = faults
      }
      expect(found).toEqual({})
      expect(await complaintsOf(tab)).toEqual([])
    },
    120_000,
  )

  test.each(looks)(
    '%s, where people sign in',
    async (_, look) => {
      const browser = chromium.person(look),
        tab = browser.tab()
      await tab.goto(`${closed.service.url}/`)
      await tab.waitFor('text=Sign in with')
      expect(await violationsOf(tab, scopeOf(look))).toEqual([])
      await enterSignedIn(browser, closed)
      await tab.waitFor('#message')
      await tab.click('[aria-label^="Account of"]')
      await tab.waitFor('text=Sign Out')
      expect(await violationsOf(tab, scopeOf(look))).toEqual([])
      await tab.press('Escape')
      // Their own tests check them in other looks.
      for (const view of look.forcedColors === undefined ? [] : ['usage', 'keys', 'limits', 'audit']) {
        await tab.evaluate(`location.hash = '#/${view}'`)
        await tab.waitFor(`main >> role=heading[name=/^${view}$/i]`)
        await tab.waitForGone('main >> text="Loading…"')
        expect([view, await violationsOf(tab, scopeOf(look))]).toEqual([view, []])
      }
      await fetch(`${closed.service.url}/auth/logout`, {
        method: 'POST',
        headers: { 'x-session-token': (await browser.cookies()).get('token') ?? '' },
      })
      await tab.evaluate(`dispatchEvent(new Event('focus'))`)
      await tab.waitFor('dialog >> text=Sign in again to go on')
      expect(await violationsOf(tab, scopeOf(look))).toEqual([])
      expect(await complaintsOf(tab)).toEqual([])
    },
    120_000,
  )
})

/** Pixels of an element's height that are within the window. */
const heightSeen = (selector: string): string =>
  `(({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0))(` +
  `document.querySelector('${selector}').getBoundingClientRect())`

describeInChromium('at a zoom of 400 %', () => {
  test.each([
    [320, 180],
    [320, 256],
  ])(
    'in a window that is then %d × %d, the messages can be read and answered with keys',
    async (width, height) => {
      const tab = chromium.person({ viewport: { width, height } }).tab()
      await tab.goto(`${rig.service.url}/`)
      await tab.waitFor('button:has-text("Model: ")')
      await ask(tab, 'Hello')
      await tab.waitFor('[role="log"] >> summary >> text=/ answered$/')
      for (let presses = 0; presses < 40 && (await tab.evaluate('document.activeElement.role')) !== 'log'; presses++)
        await tab.press('Shift+Tab')
      expect(await tab.evaluate('document.activeElement.role')).toBe('log')
      expect(Number(await tab.evaluate(heightSeen('[role="log"]')))).toBeGreaterThanOrEqual(0.8 * height)
      await tab.press('End')
      await tab.until(
        `(({ scrollTop, clientHeight, scrollHeight }) =>
          scrollTop + clientHeight > scrollHeight - 1)(document.activeElement)`,
      )
      for (let presses = 0; presses < 40 && (await tab.evaluate('document.activeElement.id')) !== 'message'; presses++)
        await tab.press('Tab')
      await tab.type('And now?')
      expect(Number(await tab.evaluate(heightSeen('#message')))).toBeGreaterThan(30)
      expect(Number(await tab.evaluate(heightSeen('[role="log"]')))).toBeGreaterThan(50)
      for (const box of ['html', '#root > div', 'main'])
        expect([
          box,
          await tab.evaluate(
            `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('${box}'))`,
          ),
        ]).toEqual([box, 0])
      await tab.press('Control+/')
      await tab.waitFor('[role="option"]')
      await tab.press('ArrowDown')
      expect(Number(await tab.evaluate(heightSeen('[role="option"][aria-selected="true"]')))).toBeGreaterThan(30)
      expect(await complaintsOf(tab)).toEqual([])
    },
    30_000,
  )
})
