import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson, pick } from '../client.ts'
import type { Person, PersonOptions, Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const phone: PersonOptions = { viewport: { width: 390, height: 800 }, hasTouch: true }
const searchField = '[aria-label="Search the conversations"]',
  titleField = '[aria-label="Title of the conversation"]'
const chromium = useChromium()
let service: ServiceUnderTest, folder: string
let person: Person, tab: Tab

beforeAll(async () => {
  ;[service, folder] = await Promise.all([
    startService({ providers: [{ id: 'echo' }] }),
    mkdtemp(join(tmpdir(), 'svc-history-')),
  ])
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  person = chromium.person(wide)
  tab = person.tab()
})
afterEach(async () => {
  expect(await complaintsOf(tab)).toEqual([])
})

interface Known {
  readonly title: string
  readonly text?: string
}

/** Makes conversations `c1`, `c2`, …, each an hour older than the one before. */
function conversationsOf(known: readonly Known[]): readonly unknown[] {
  return known.map(({ title, text = 'Hello' }, index) => {
    const time = Date.now() - index * 3_600_000
    return {
      id: `c${index + 1}`,
      title,
      isTitled: false,
      isPinned: false,
      created: time,
      updated: time,
      settings: { system: '', parameters: {} },
      messages: [
        { role: 'user', id: 'm1', time, text, images: [] },
        { role: 'assistant', id: 'm2', time, text: `On ${title}`, reasoning: '', status: 'complete' },
      ],
    }
  })
}

async function importFile(conversations: readonly unknown[]): Promise<void> {
  const path = join(folder, 'conversations.json')
  await writeFile(path, JSON.stringify({ format: 'svc-conversations', version: 1, exported: '', conversations }))
  await tab.setFiles('nav input[type="file"]', [path])
  await tab.waitFor('dialog >> text=/added/')
}

/** Opens the page with these conversations. */
async function openWith(...known: readonly Known[]): Promise<void> {
  await tab.goto(`${service.url}/`)
  await tab.waitFor('text=No conversations yet')
  await importFile(conversationsOf(known))
  await tab.press('Escape')
  await tab.waitForGone('dialog')
  await tab.waitFor('[data-row]')
}

const titles = async (): Promise<string> =>
  String(
    await tab.evaluate(`[...document.querySelectorAll('[data-row] a')].map((link) => link.textContent).join(' | ')`),
  )
const focusedIs = (title: string): Promise<void> =>
  tab.until(`document.activeElement.closest('[data-row]')?.textContent.startsWith(${JSON.stringify(title)})`)

/** Focuses the first row, as Tab does from the link before it. */
async function enterList(): Promise<void> {
  await tab.evaluate(`document.querySelector('#sidebar a[href="#/compare"]').focus()`)
  await tab.press('Tab')
}

async function choose(title: string, entry: string): Promise<void> {
  await tab.evaluate(`document.querySelector('[aria-label="More for ${title}"]').click()`)
  await tab.click(`[role="menuitem"]:visible:text-is("${entry}")`)
}

const named = (count: number): readonly Known[] =>
  Array.from({ length: count }, (_, index) => ({ title: `Number ${index + 1}` }))

describeInChromium('the list of conversations', () => {
  test('has a new conversation at once, and shows it again', async () => {
    await tab.goto(`${service.url}/`)
    await tab.waitFor('text=No conversations yet')
    await tab.fill('#message', '**Why** is the sky blue?')
    await tab.press('Enter')
    await tab.waitFor('[data-row] >> text=Why is the sky blue?')
    await tab.waitFor('h2:text-is("Today")')
    await tab.click('#sidebar >> role=link[name="New"]')
    await tab.waitFor('text=What would you like to know?')
    await tab.click('[data-row] a')
    await tab.waitFor('main >> text=Why is the sky blue?')
    expect(await tab.evaluate(`document.querySelector('[data-row] a').getAttribute('aria-current')`)).toBe('page')
  }, 20_000)

  test('is navigated with keys at any length, and draws only visible rows', async () => {
    await openWith(...named(600))
    await enterList()
    await focusedIs('Number 1')
    await tab.press('ArrowDown')
    await focusedIs('Number 2')
    await tab.press('End')
    await focusedIs('Number 600')
    await tab.press('ArrowDown')
    await focusedIs('Number 600')
    await tab.press('ArrowUp')
    await focusedIs('Number 599')
    expect(
      await tab.evaluate(
        `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`,
      ),
    ).toBe(true)
    expect(Number(await tab.evaluate(`document.querySelectorAll('[data-row]').length`))).toBeLessThan(60)
    expect(
      await tab.evaluate(
        `((row) => row.getAttribute('aria-posinset') + ' of ' + row.getAttribute('aria-setsize'))(
          document.activeElement.parentElement)`,
      ),
    ).toBe('599 of 600')
    await tab.press('Home')
    await focusedIs('Number 1')
    await tab.press('ArrowUp')
    await tab.until(`document.activeElement.matches('${searchField}')`)
    await tab.press('ArrowDown')
    await focusedIs('Number 1')
    await tab.press('Enter')
    await tab.waitFor('main >> text=On Number 1')
  }, 30_000)

  test('renames: F2 and Enter, Escape leaves it, and nothing is not a title', async () => {
    await openWith({ title: 'First' }, { title: 'Second' })
    await enterList()
    await tab.press('F2')
    await tab.waitFor(titleField)
    await tab.type('Better  \u202ename')
    await tab.press('Enter')
    await focusedIs('Better name')
    await tab.press('F2')
    await tab.type('Worse')
    await tab.press('Escape')
    await focusedIs('Better name')
    await tab.press('F2')
    await tab.press('Delete')
    await tab.press('Enter')
    await focusedIs('Better name')
    await tab.reload()
    await tab.waitFor('[data-row]')
    expect(await titles()).toBe('Better name | Second')
  }, 20_000)

  test('renames a conversation when another element gets the focus, which keeps it', async () => {
    await openWith({ title: 'First' })
    await enterList()
    await tab.press('F2')
    await tab.fill(titleField, 'Better name')
    await tab.click('#message')
    await tab.waitFor('[data-row] >> text=Better name')
    await tab.type('Hello')
    expect(await tab.evaluate(`document.querySelector('#message').value`)).toBe('Hello')
  }, 20_000)

  test('renames and pins by its menu', async () => {
    await openWith({ title: 'First' }, { title: 'Second' })
    await choose('Second', 'Rename')
    await tab.fill(titleField, 'Another')
    await tab.click('main')
    await tab.waitFor('[data-row] >> text=Another')
    await choose('Another', 'Pin')
    await tab.waitFor('h2:text-is("Pinned")')
    expect(await titles()).toBe('Another (pinned) | First')
    await choose('Another', 'Unpin')
    await tab.waitForGone('h2:text-is("Pinned")')
    expect(await titles()).toBe('First | Another')
  }, 20_000)

  test('deletes with Delete, and puts back', async () => {
    await openWith({ title: 'First' }, { title: 'Second' }, { title: 'Third' })
    await enterList()
    await tab.press('ArrowDown')
    await focusedIs('Second')
    await tab.press('Delete')
    await focusedIs('Third')
    await tab.press('Delete')
    await focusedIs('First')
    await tab.waitFor('text=Deleted 2 conversations')
    await tab.click('button:text-is("Undo")')
    await tab.waitFor('[data-row] >> text=Third')
    expect(await titles()).toBe('First | Second | Third')
    await tab.waitForGone('text=Undo')
  }, 20_000)

  test('deletes the open conversation and shows a new one; after undo it shows the old one', async () => {
    await openWith({ title: 'First' }, { title: 'Second' })
    await tab.click('[data-row="c2"] a')
    await tab.waitFor('main >> text=On Second')
    await choose('Second', 'Delete')
    await tab.waitFor('text=What would you like to know?')
    await tab.click('button:text-is("Undo")')
    await tab.waitFor('main >> text=On Second')
    expect(await titles()).toBe('First | Second')
  }, 20_000)

  test('deletes all, but asks before', async () => {
    await openWith({ title: 'First' }, { title: 'Second' })
    await tab.click('[aria-label="All conversations"]')
    await tab.click('[role="menuitem"]:visible:has-text("Delete all")')
    await tab.click('dialog >> text=Cancel')
    await tab.waitForGone('dialog')
    expect(await titles()).toBe('First | Second')
    await tab.click('[aria-label="All conversations"]')
    await tab.click('[role="menuitem"]:visible:has-text("Delete all")')
    await tab.click('dialog >> text=Delete 2 conversations')
    await tab.waitFor('text=No conversations yet')
    await tab.reload()
    await tab.waitFor('text=No conversations yet')
  }, 20_000)

  test('is the same in every tab of a person, and in no tab of another', async () => {
    await openWith({ title: 'First' })
    const other = person.tab('other'),
      stranger = chromium.person(wide).tab()
    for (const each of [other, stranger]) await each.goto(`${service.url}/`)
    await other.waitFor('[data-row] >> text=First')
    await stranger.waitFor('text=No conversations yet')
    await choose('First', 'Rename')
    await tab.fill(titleField, 'Renamed')
    await tab.press('Enter')
    await other.waitFor('[data-row] >> text=Renamed')
    await choose('Renamed', 'Delete')
    await other.waitFor('text=No conversations yet')
  }, 20_000)
})

describeInChromium('a search', () => {
  test('searches titles and messages, and marks the hits', async () => {
    await openWith(
      { title: 'Crème brûlée', text: 'How long in the oven?' },
      { title: 'Straßen', text: 'Where is the crème?' },
      { title: 'Else' },
    )
    await tab.press('Control+k')
    await tab.type('CREME')
    await tab.waitFor('text=2 conversations found')
    expect(
      await tab.evaluate(
        `[...document.querySelectorAll('[data-row]')].map((row) =>
          row.dataset.row + ': ' + [...row.querySelectorAll('mark')].map((mark) => mark.textContent)).join(', ')`,
      ),
    ).toBe('c1: Crème, c2: crème')
    await tab.type(' strasse')
    await tab.waitFor('text=1 conversation found')
    await tab.press('ArrowDown')
    await focusedIs('Straßen')
    await tab.press('Enter')
    await tab.waitFor('main >> text=On Straßen')
    await tab.fill(searchField, 'nowhere')
    await tab.waitFor('text=Nothing found')
    await tab.evaluate(`document.querySelector('${searchField}').focus()`)
    await tab.press('Escape')
    await tab.waitFor('h2:text-is("Today")')
    expect(await titles()).toBe('Crème brûlée | Straßen | Else')
  }, 20_000)
})

describeInChromium('a file', () => {
  test('of all conversations goes into another browser, and one is a text', async () => {
    await openWith({ title: 'First' }, { title: 'Second' })
    await tab.click('[aria-label="All conversations"]')
    const all = await tab.download('[role="menuitem"]:visible:has-text("Export all")')
    expect(all.name).toMatch(/^svc-conversations-\d{4}-\d\d-\d\d\.json$/)
    await tab.evaluate(`document.querySelector('[aria-label="More for Second"]').click()`)
    const text = await tab.download('[role="menuitem"]:visible:has-text("Export as Markdown")')
    expect([text.name, text.text.includes('## You\n\nHello\n\n## Assistant\n\nOn Second')]).toEqual(['second.md', true])
    await tab.evaluate(`document.querySelector('[aria-label="More for Second"]').click()`)
    const one = await tab.download('[role="menuitem"]:visible:has-text("Export as JSON")')
    expect([one.name, pick(parseJson(one.text), 'conversations', 0, 'title')]).toEqual(['second.json', 'Second'])

    tab = chromium.person(wide).tab()
    await tab.goto(`${service.url}/`)
    await tab.waitFor('text=No conversations yet')
    const path = join(folder, all.name)
    await writeFile(path, all.text)
    for (const said of ['2 conversations were added.', '0 conversations were added. 2 were here already.']) {
      await tab.setFiles('nav input[type="file"]', [path])
      await tab.waitFor(`dialog >> text=${said}`)
      await tab.press('Escape')
      await tab.waitForGone('dialog')
    }
    expect(await titles()).toBe('First | Second')
  }, 20_000)

  test('goes on when its dialog is closed, which stays closed; the list shows the failures', async () => {
    await tab.goto(`${service.url}/`)
    await tab.waitFor('text=No conversations yet')
    const path = join(folder, 'many.json')
    await writeFile(
      path,
      JSON.stringify({
        format: 'svc-conversations',
        version: 1,
        exported: '',
        conversations: [...conversationsOf(named(600)), 5],
      }),
    )
    await tab.setFiles('nav input[type="file"]', [path])
    await tab.waitFor('dialog')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.evaluate(
      `window.returns = 0
      new MutationObserver(() => { if (document.querySelector('dialog') !== null) window.returns++ })
        .observe(document.body, { childList: true, subtree: true })
      void 0`,
    )
    await tab.waitFor('#sidebar >> text=Import of many.json')
    await tab.waitFor('#sidebar >> text=600 conversations were added. 1 was not imported.')
    expect(await tab.evaluate('window.returns')).toBe(0)
  }, 20_000)

  test('with faults is imported in part, and each fault is shown; another file is refused', async () => {
    await openWith({ title: 'First' })
    await importFile([...conversationsOf([{ title: 'First, changed' }]), { id: 'x', title: 'Broken' }])
    await tab.waitFor('dialog >> text=1 conversation was added.')
    await tab.waitFor('dialog >> text=/Number 2 .“Broken”.: isTitled: expected true or false, found nothing/')
    await tab.press('Escape')
    await tab.waitForGone('dialog')
    await tab.until(`document.querySelectorAll('[data-row]').length === 2`)
    const path = join(folder, 'other.json')
    await writeFile(path, '{"messages":[]}')
    await tab.setFiles('nav input[type="file"]', [path])
    await tab.waitFor('dialog >> text=The file has no conversations of this service')
  }, 20_000)
})

describeInChromium('axe-core finds nothing to mend in the conversations', () => {
  test.each([
    ['light', { ...wide, colorScheme: 'light' }],
    ['dark', { ...wide, colorScheme: 'dark' }],
    ['phone', phone],
  ] as const)(
    '%s',
    async (look, options) => {
      tab = chromium.person(options).tab()
      const showList = async (): Promise<void> => {
        if (look === 'phone') await tab.click('[aria-controls="sidebar"]')
      }
      const found: Record<string, readonly string[]> = {}
      const examine = async (what: string): Promise<void> => {
        const violations = await violationsOf(tab, look === 'dark' ? 'colours' : 'all')
        if (violations.length > 0) found[what] = violations
      }
      await tab.goto(`${service.url}/`)
      await tab.waitFor('#message')
      await showList()
      await tab.waitFor('text=No conversations yet')
      await examine('empty')
      await importFile([...conversationsOf([{ title: 'Crème' }, ...named(12)]), 5])
      await examine('report')
      await tab.press('Escape')
      await tab.waitForGone('dialog')
      await examine('list')
      await tab.evaluate(`document.querySelector('[aria-label="More for Crème"]').click()`)
      await tab.waitFor('[role="menuitem"]:visible')
      await examine('menu')
      await tab.press('Enter')
      await tab.waitFor(titleField)
      await examine('rename')
      await tab.press('Escape')
      await focusedIs('Crème')
      await tab.press('Delete')
      await tab.waitFor('button:text-is("Undo")')
      await examine('deleted')
      await tab.fill(searchField, 'number')
      await tab.waitFor('mark')
      await examine('found')
      expect(found).toEqual({})
    },
    60_000,
  )
})
