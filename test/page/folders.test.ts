import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson, pick } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { violationsOf } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { describeInChromium, useChromium, wide } from './in-chromium.ts'

const chromium = useChromium()
let service: ServiceUnderTest, folder: string
let person: Person, tab: Tab

beforeAll(async () => {
  ;[service, folder] = await Promise.all([
    startService({ providers: [{ id: 'echo' }] }),
    mkdtemp(join(tmpdir(), 'svc-folders-')),
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
afterEach(async () => expect(await complaintsOf(tab)).toEqual([]))

/** Opens the page with conversations of these titles, the newest first, some in folders: `Physics/Quarks`. */
async function openWith(...names: readonly string[]): Promise<void> {
  const conversations = names.map((name, index) => {
    const [title = '', inside] = name.split('/').toReversed()
    const time = Date.now() - index
    return {
      id: `c${index + 1}`,
      title,
      isTitled: true,
      isPinned: false,
      ...(inside === undefined ? {} : { folder: inside }),
      created: time,
      updated: time,
      settings: { system: '', parameters: {} },
      messages: [{ role: 'user', id: 'm1', time, text: 'Hello', images: [] }],
    }
  })
  const path = join(folder, 'some.json')
  await writeFile(path, JSON.stringify({ format: 'svc-conversations', version: 1, exported: '', conversations }))
  await tab.goto(`${service.url}/`)
  await tab.waitFor('text=No conversations yet')
  await tab.setFiles('nav input[type="file"]', [path])
  await tab.waitFor('dialog >> text=/added/')
  await tab.press('Escape')
  await tab.waitForGone('dialog')
  await tab.waitFor('[data-row]')
}

/** The groups of the list, each with its titles: `Physics: Quarks, Strings`. Dates are `-`. */
const listScript = `[...document.querySelectorAll('nav section')].map((section) =>
  (section.dataset.folder || '-') + ': ' +
  [...section.querySelectorAll('[data-row] a')].map((each) => each.textContent).join(', ')).join(' | ')`
const listIs = (groups: string, where: Tab = tab): Promise<void> =>
  where.until(`${listScript} === ${JSON.stringify(groups)}`)
const focusedIs = (start: string): Promise<void> =>
  tab.until(`document.activeElement.closest('[data-row]')?.textContent.startsWith(${JSON.stringify(start)})`)

async function choose(what: string, entry: string): Promise<void> {
  await tab.evaluate(`document.querySelector('[aria-label="More for ${what}"]').click()`)
  await tab.click(`[role="menuitem"]:visible:text-is("${entry}")`)
}

async function enterList(): Promise<void> {
  await tab.evaluate(`document.querySelector('#sidebar a[href="#/compare"]').focus()`)
  await tab.press('Tab')
}

describeInChromium('folders', () => {
  test('are made, filled, renamed and deleted by the mouse, in every tab; conversations stay', async () => {
    await openWith('Quarks', 'Strings', 'Cake')
    const other = person.tab('other')
    await other.goto(`${service.url}/`)
    await choose('Quarks', 'Move to folder…')
    await tab.fill('dialog input', '  Phy\u202esics ')
    await tab.click('dialog >> text=Make folder')
    await listIs('Physics: Quarks | -: Strings, Cake')
    await listIs('Physics: Quarks | -: Strings, Cake', other)
    await tab.drag('[data-row="c2"] a', '[data-folder="Physics"]')
    await listIs('Physics: Quarks, Strings | -: Cake')
    await tab.drag('[data-row="c1"] a', '[data-folder=""]')
    await listIs('Physics: Strings | -: Quarks, Cake')
    await choose('Cake', 'Move to folder…')
    await tab.click('dialog >> text=Physics')
    await choose('the folder Physics', 'Rename')
    await tab.fill('dialog input', 'Science')
    await tab.press('Enter')
    await listIs('Science: Strings, Cake | -: Quarks')
    await tab.click('h2 >> text=Science')
    await listIs('Science:  | -: Quarks')
    await tab.reload()
    await listIs('Science:  | -: Quarks')
    await tab.click('h2 >> text=Science')
    await choose('the folder Science', 'Delete folder')
    await tab.waitFor('dialog >> text=Its 2 conversations stay')
    await tab.click('dialog >> text=Delete folder')
    await listIs('-: Quarks, Strings, Cake')
    await listIs('-: Quarks, Strings, Cake', other)
  }, 40_000)

  test('are made, filled, closed, renamed and deleted by keys', async () => {
    await openWith('Quarks', 'Cake/Brownies')
    await enterList()
    await focusedIs('Cake')
    await tab.press('ArrowLeft')
    await listIs('Cake:  | -: Quarks')
    await tab.press('ArrowDown')
    await focusedIs('Quarks')
    await tab.press('m')
    await tab.until(`document.activeElement.matches('dialog li button')`)
    await tab.press('Enter')
    // The folder is closed, so the focus is at its heading.
    await listIs('Cake: ')
    await focusedIs('Cake')
    await tab.press('ArrowRight')
    await listIs('Cake: Quarks, Brownies')
    await tab.press('F2')
    await tab.until(`document.activeElement.matches('dialog input')`)
    await tab.fill('dialog input', 'Food')
    await tab.press('Enter')
    await listIs('Food: Quarks, Brownies')
    await focusedIs('Food')
    await tab.press('ArrowDown')
    await focusedIs('Quarks')
    await tab.press('m')
    await tab.until(`document.activeElement.matches('dialog li button')`)
    await tab.press('Tab')
    await tab.press('Enter')
    await listIs('Food: Brownies | -: Quarks')
    await focusedIs('Quarks')
    await tab.press('Home')
    await focusedIs('Food')
    await tab.press('Delete')
    await tab.waitFor('dialog >> text=Its conversation stays')
    await tab.press('Tab')
    await tab.press('Tab')
    await tab.press('Enter')
    await listIs('-: Quarks, Brownies')
    await focusedIs('Brownies')
  }, 40_000)

  test('go with exports, and pinned conversations stand above them', async () => {
    await openWith('Physics/Quarks', 'Cake')
    await tab.click('[aria-label="All conversations"]')
    const { text } = await tab.download('[role="menuitem"]:visible:has-text("Export all")')
    const found = [0, 1].map((index) => pick(parseJson(text), 'conversations', index, 'folder'))
    expect(found.toSorted()).toEqual(['Physics', undefined])
    await choose('Quarks', 'Pin')
    await listIs('-: Quarks (pinned) | -: Cake')
    await choose('Quarks', 'Unpin')
    await listIs('Physics: Quarks | -: Cake')
  }, 30_000)

  test('have nothing that axe-core would mend, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      tab = chromium.person({ ...wide, colorScheme }).tab()
      await openWith('Physics/Quarks', 'Cake/Brownies', 'Else')
      await tab.click('h2 >> text=Cake')
      expect(await violationsOf(tab)).toEqual([])
      await choose('Else', 'Move to folder…')
      await tab.waitFor('dialog >> text=Make folder')
      expect(await violationsOf(tab)).toEqual([])
      await tab.press('Escape')
    }
  }, 60_000)
})
